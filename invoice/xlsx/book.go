package xlsx

import (
	"fmt"

	"hpcbill/rates/money"

	"github.com/xuri/excelize/v2"
)

// font is one that every office program has, or has a font of the same widths
// for.
const font = "Arial"

// book is a workbook under way. Its first error stays: everything after it
// does nothing.
type book struct {
	file   *excelize.File
	styles map[style]int
	err    error
}

func newBook() *book {
	b := &book{file: excelize.NewFile(), styles: map[style]int{}}
	b.keep(b.file.SetDefaultFont(font))
	full := true
	b.keep(b.file.SetCalcProps(&excelize.CalcPropsOptions{FullCalcOnLoad: &full}))
	return b
}

func (b *book) keep(err error) {
	if b.err == nil {
		b.err = err
	}
}

// column is one column of a sheet: its heading, its width in characters and
// the style of its cells.
type column struct {
	title string
	width float64
	style style
}

// sheet is one sheet under way, row after row.
type sheet struct {
	book    *book
	name    string
	stream  *excelize.StreamWriter
	columns []column
	ids     []int // of the columns' styles
	rows    int   // written so far, the heading included
	cells   []excelize.Cell
	values  []any
}

// formula is a cell's formula with the value that it gives, as we computed it.
type formula struct {
	text  string
	value any
}

// cash is an amount of money. Its cell shows the currency's digits, whatever
// the column's style.
type cash struct {
	currency money.Currency
	amount   money.Amount
}

// newSheet opens a sheet. The first one of a book takes the place of the one
// that the library begins with.
func (b *book) newSheet(name, orientation string, columns []column) *sheet {
	s := &sheet{book: b, name: name, columns: columns, cells: make([]excelize.Cell, len(columns)), values: make([]any, len(columns))}
	for i, c := range columns {
		s.values[i] = &s.cells[i]
		s.ids = append(s.ids, b.style(c.style))
	}
	if b.err != nil {
		return s
	}
	if first := b.file.GetSheetName(0); first == "Sheet1" {
		b.keep(b.file.SetSheetName(first, name))
	} else {
		_, err := b.file.NewSheet(name)
		b.keep(err)
	}
	fit, hide := true, false
	b.keep(b.file.SetSheetProps(name, &excelize.SheetPropsOptions{FitToPage: &fit}))
	stream, err := b.file.NewStreamWriter(name)
	b.keep(err)
	if b.err != nil {
		return s
	}
	s.stream = stream
	b.keep(b.file.SetSheetView(name, 0, &excelize.ViewOptions{ShowGridLines: &hide}))
	wide, tall := pagesAcross(columns), 0
	b.keep(b.file.SetPageLayout(name, &excelize.PageLayoutOptions{Orientation: &orientation, FitToWidth: &wide, FitToHeight: &tall}))
	b.keep(b.file.SetPageMargins(name, margins()))
	b.keep(b.file.SetHeaderFooter(name, &excelize.HeaderFooterOptions{OddFooter: "&L&8&A&R&8&P / &N"}))
	for i, c := range columns {
		b.keep(stream.SetColWidth(i+1, i+1, c.width))
	}
	return s
}

// pagesAcross is how many printed pages the columns take, at a size that can
// still be read.
func pagesAcross(columns []column) int {
	const charactersPerPage = 280
	width := 0.0
	for _, c := range columns {
		width += c.width
	}
	return 1 + int(width)/charactersPerPage
}

// margins are in inches.
func margins() *excelize.PageLayoutMarginsOptions {
	side, top, bottom, edge := 0.5, 0.5, 0.65, 0.3
	return &excelize.PageLayoutMarginsOptions{Left: &side, Right: &side, Top: &top, Bottom: &bottom, Header: &edge, Footer: &edge}
}

// heading writes the columns' titles in the first row and keeps it in sight, on
// the screen and on every printed page.
func (s *sheet) heading() {
	b := s.book
	if b.err != nil {
		return
	}
	b.keep(s.stream.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}))
	b.keep(b.file.SetDefinedName(&excelize.DefinedName{
		Name: "_xlnm.Print_Titles", Scope: s.name, RefersTo: fmt.Sprintf("'%s'!$1:$1", s.name),
	}))
	for i, c := range s.columns {
		style := headLeft
		if c.style.right() {
			style = headRight
		}
		s.cells[i] = excelize.Cell{StyleID: b.style(style), Value: c.title}
	}
	s.write(excelize.RowOpts{Height: 30})
}

// add writes a row, each value in the style of its column. A nil is an empty
// cell.
func (s *sheet) add(values ...any) { s.fill(values); s.write() }

// addHigh is add of a row of so many points.
func (s *sheet) addHigh(points float64, values ...any) { s.fill(values); s.write(height(points)) }

func (s *sheet) fill(values []any) {
	for i, value := range values {
		switch value.(type) {
		case cash, formula:
			s.put(i, s.columns[i].style, value)
		default:
			s.cells[i] = excelize.Cell{StyleID: s.ids[i], Value: filled(value)}
		}
	}
}

// put sets a cell of the row to be written next.
func (s *sheet) put(i int, style style, value any) {
	c := &s.cells[i]
	*c = excelize.Cell{}
	if f, ok := value.(formula); ok {
		c.Formula, value = f.text, f.value
	}
	if v, ok := value.(cash); ok {
		style.format, style.align = moneyFormat(v.currency.Digits), "right"
		float, err := amount(v.currency, v.amount)
		s.book.keep(err)
		value = float
	}
	c.StyleID, c.Value = s.book.style(style), filled(value)
}

// filled makes an empty text an empty cell.
func filled(value any) any {
	if value == "" {
		return nil
	}
	return value
}

// write writes the row that put has filled and empties it.
func (s *sheet) write(options ...excelize.RowOpts) {
	s.rows++
	if s.book.err == nil {
		s.book.keep(s.stream.SetRow(cellName(1, s.rows), s.values, options...))
	}
	clear(s.cells)
}

// skip leaves n rows empty.
func (s *sheet) skip(n int) { s.rows += n }

// table makes a table, with its filters, of the rows from the heading to the
// last one. A heading alone is no table.
func (s *sheet) table(name string) {
	if s.book.err != nil || s.rows < 2 {
		return
	}
	plain := false
	s.book.keep(s.stream.AddTable(&excelize.Table{
		Range: cellName(1, 1) + ":" + cellName(len(s.columns), s.rows), Name: name, StyleName: "TableStyleLight1", ShowRowStripes: &plain,
	}))
}

// close ends a sheet: it takes no more rows.
func (s *sheet) close() {
	if s.book.err == nil {
		s.book.keep(s.stream.Flush())
	}
}
