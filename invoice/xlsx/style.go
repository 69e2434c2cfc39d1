package xlsx

import (
	"strings"

	"github.com/xuri/excelize/v2"
)

// The colours of the documents, as in the pages of package templates.
const (
	accent = "1F4E79"
	soft   = "5D6B79"
	alarm  = "A3311F"
	line   = "D9DFE5"
	wash   = "F4F6F8"
)

// style is how a cell looks. Equal styles are one style of the workbook.
type style struct {
	format string // of a number; "" is general
	align  string // "left", "right"
	size   float64
	color  string
	fill   string
	bold   bool
	wrap   bool
	indent int
	under  string // colour of the line under the cell
	over   string // colour of the line over it
}

const portrait, landscape = "portrait", "landscape"

// The styles of columns.
var (
	plain    = style{align: "left", indent: 1, under: line}
	wrapped  = style{align: "left", indent: 1, under: line, wrap: true}
	muted    = style{align: "left", indent: 1, under: line, color: soft}
	integer  = numeric("#,##0")
	quantity = numeric("#,##0.00????;-#,##0.00????")
	balance  = numeric("#,##0.00####;-#,##0.00####")
	price    = numeric("#,##0.00###########")
	hours    = numeric("#,##0.0000")
	memory   = numeric("#,##0.00")
	unround  = numeric("#,##0.000000;-#,##0.000000")
	money2   = numeric(moneyFormat(2)) // of an amount; a cash cell puts in its own digits
	date     = style{format: "yyyy-mm-dd", align: "left", indent: 1, under: line}
	datetime = style{format: "yyyy-mm-dd hh:mm:ss", align: "left", indent: 1, under: line}

	headLeft  = style{align: "left", indent: 1, color: "FFFFFF", fill: accent, bold: true, wrap: true}
	headRight = style{align: "right", color: "FFFFFF", fill: accent, bold: true, wrap: true}
)

func numeric(format string) style { return style{format: format, align: "right", under: line} }

func moneyFormat(digits int) string {
	format := "#,##0"
	if digits > 0 {
		format += "." + strings.Repeat("0", digits)
	}
	return format + ";-" + format
}

// total makes a style that of a sum under a column.
func (s style) total() style {
	s.bold, s.under, s.over, s.color = true, "", accent, accent
	return s
}

func (s style) right() bool { return s.align == "right" }

// style gives the workbook's number of a style.
func (b *book) style(s style) int {
	if id, ok := b.styles[s]; ok {
		return id
	}
	x := &excelize.Style{
		Font:      &excelize.Font{Family: font, Size: 10, Color: s.color, Bold: s.bold},
		Alignment: &excelize.Alignment{Horizontal: s.align, Vertical: "center", WrapText: s.wrap, Indent: s.indent},
	}
	if s.size != 0 {
		x.Font.Size = s.size
	}
	if s.format != "" {
		x.CustomNumFmt = &s.format
	}
	if s.fill != "" {
		x.Fill = excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{s.fill}}
	}
	if s.under != "" {
		x.Border = append(x.Border, excelize.Border{Type: "bottom", Color: s.under, Style: 1})
	}
	if s.over != "" {
		x.Border = append(x.Border, excelize.Border{Type: "top", Color: s.over, Style: 2})
	}
	id, err := b.file.NewStyle(x)
	b.keep(err)
	b.styles[s] = id
	return id
}

// difference is the style of a cell that should be 0, and then says so.
func difference(digits int, agrees string) style {
	s := numeric(`[=0]"` + agrees + `";[Red]` + strings.ReplaceAll(moneyFormat(digits), ";", ";[Red]"))
	s.color = accent
	return s
}
