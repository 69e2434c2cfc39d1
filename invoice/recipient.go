package invoice

import (
	"slices"

	"hpcbill/rates"
)

// recipient copies what an invoice prints of a group, so that a later edit of
// the roster changes no old paper.
func recipient(g *rates.Group) Recipient {
	language := g.Language
	if language == "" {
		language = "en"
	}
	return Recipient{
		ID: g.ID, Name: g.Name, PI: g.PI, Department: g.Department, Class: g.Class, Address: g.Address,
		PO: g.PO, Fund: g.Fund, TaxID: g.TaxID, Language: language, Contacts: slices.Clone(g.Contacts),
	}
}
