// Package templates holds the words and the look of the documents: one file
// of messages a language, and the pages that they are set in.
//
// It owns no rule of billing and formats no money of its own: numbers come to
// it as plain decimals and leave it in the manner of the language.
package templates

import "embed"

//go:embed *.txt *.html.tmpl *.css
var files embed.FS

// Page gives the text of the html/template of that name, such as
// "invoice.html.tmpl".
func Page(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return string(text)
}
