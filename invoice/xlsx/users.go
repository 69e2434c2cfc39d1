package xlsx

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"hpcbill/invoice"
	"hpcbill/rates/money"
)

// user is whose charges are summed.
type user struct{ group, cluster, account, name, meter, unit string }

type userSum struct {
	charges                  int64
	quantity, amount, waived money.Exact
}

type userSums map[user]*userSum

// byUser sums the charges of jobs.
func byUser(jobs iter.Seq2[JobRow, error]) (userSums, error) {
	sums := userSums{}
	for r, err := range jobs {
		if err != nil {
			return nil, err
		}
		key := user{r.Group, r.Cluster, r.Account, r.User, r.Meter, r.Unit}
		sum := sums[key]
		if sum == nil {
			// The row's texts may share memory with a whole batch.
			key = user{
				strings.Clone(r.Group), strings.Clone(r.Cluster), strings.Clone(r.Account),
				strings.Clone(r.User), strings.Clone(r.Meter), strings.Clone(r.Unit),
			}
			sum = &userSum{}
			sums[key] = sum
		}
		sum.charges++
		sum.quantity, sum.amount = sum.quantity.Add(r.Quantity), sum.amount.Add(r.Amount)
		if r.Waived != "" {
			sum.waived = sum.waived.Add(r.Amount)
		}
	}
	return sums, nil
}

// sorted gives the keys in the order in which they are listed.
func (s userSums) sorted() []user {
	keys := make([]user, 0, len(s))
	for key := range s {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b user) int {
		return slices.Compare(
			[]string{a.group, a.cluster, a.account, a.name, a.meter, a.unit},
			[]string{b.group, b.cluster, b.account, b.name, b.meter, b.unit})
	})
	return keys
}

// agree compares the sums with the usage lines of each group, exactly.
func (s userSums) agree(invoices []invoice.Invoice) error {
	left := map[string]money.Exact{}
	keys := s.sorted()
	for _, key := range keys {
		left[key.group] = left[key.group].Add(s[key].amount)
	}
	for i := range invoices {
		var lines money.Exact
		for _, l := range invoices[i].Lines {
			if l.Kind == invoice.Usage {
				lines = lines.Add(l.Exact)
			}
		}
		id := invoices[i].Group.ID
		if !left[id].Equal(lines) {
			return fmt.Errorf("the jobs of %q sum to %s, its usage lines to %s before rounding", id, left[id], lines)
		}
		delete(left, id)
	}
	for _, key := range keys {
		if sum := left[key.group]; sum.Sign() != 0 {
			return fmt.Errorf("the jobs of %q sum to %s, but it has no invoice", key.group, sum)
		}
	}
	return nil
}

// writeUsers writes the sheet Usage by user, for pivot tables.
func (b *book) writeUsers(period string, invoices []invoice.Invoice, users userSums) {
	byID := map[string]*invoice.Invoice{}
	for i := range invoices {
		byID[invoices[i].Group.ID] = &invoices[i]
	}
	s := b.newSheet("Usage by user", landscape, []column{
		{"Period", 9, plain}, {"Group", 16, plain}, {"Group name", 28, plain}, {"Department", 26, plain},
		{"Cluster", 14, plain}, {"Account", 16, plain}, {"User", 14, plain}, {"Meter", 14, plain}, {"Unit", 12, plain},
		{"Charges", 10, integer}, {"Quantity", 18, quantity}, {amountTitle, 18, unround}, {"Of it waived", 18, unround}, {"Currency", 11, plain},
	})
	s.heading()
	for _, key := range users.sorted() {
		sum, inv := users[key], byID[key.group]
		if inv == nil {
			inv = &invoice.Invoice{} // nothing was charged, so nothing is lost
		}
		s.add(period, text(key.group), text(inv.Group.Name), text(inv.Group.Department),
			text(key.cluster), text(key.account), text(key.name), text(key.meter), text(key.unit),
			sum.charges, number(sum.quantity), number(sum.amount), number(sum.waived), inv.Currency.Code)
	}
	s.table("Usage_by_user")
	s.close()
}
