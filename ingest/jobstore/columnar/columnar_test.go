package columnar

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var testTable = NewTable("test", 1, PageRows, []Column{
	{Name: "plain", Kind: Int64},
	{Name: "few", Kind: Int64, Nullable: true, Null: -1, Dictionary: true},
	{Name: "many", Kind: Uint64, Dictionary: true},
	{Name: "at", Kind: Timestamp, Nullable: true},
	{Name: "word", Kind: Text, Dictionary: true},
	{Name: "free", Kind: Text},
	{Name: "amount", Kind: Decimal, Scale: 12},
	{Name: "digest", Kind: Text, Dictionary: true, Late: true},
	{Name: "seen", Kind: Timestamp, Dictionary: true, Late: true},
	{Name: "share", Kind: Decimal, Scale: 12, Nullable: true},
})

const (
	plain = iota
	few
	many
	at
	word
	free
	amount
	digest
	seen
	share
)

func TestThisMachineIsLittleEndian(t *testing.T) {
	require.Equal(t, binary.LittleEndian.AppendUint64(nil, 1), bytesOf([]int64{1}))
}

// rows makes n rows whose values depend on their number alone.
func rows(n int) []Vector {
	v := make([]Vector, len(testTable.Columns))
	v[word].Dict = []string{"unused", "", "alpha", "béta", "x=y"}
	v[digest].Dict = []string{strings.Repeat("?", 64)}
	for i := range n {
		v[plain].Ints = append(v[plain].Ints, int64(i*i)-500)
		null := int64(i % 7)
		if i%3 == 0 {
			null = -1
		}
		v[few].Ints = append(v[few].Ints, null)
		v[many].Ints = append(v[many].Ints, int64(uint64(i)*0x9E3779B97F4A7C15))
		v[at].Ints = append(v[at].Ints, int64(i%1000)*86400*36500/1000)
		v[word].Index = append(v[word].Index, uint32(1+i/5%4))
		v[free].Bytes = append(v[free].Bytes, strings.Repeat("z", i%5)...)
		v[free].Ends = append(v[free].Ends, uint32(len(v[free].Bytes)))
		v[amount].Wide = append(v[amount].Wide, Int128{int64(i%3) - 1, uint64(i)})
		v[digest].Index = append(v[digest].Index, 0)
		v[seen].Ints = append(v[seen].Ints, 12345)
		v[share].Wide = append(v[share].Wide, Int128{0, uint64(i)})
		v[share].Ints = append(v[share].Ints, int64(i*i%5)) // 0 is NULL: every fifth
	}
	return v
}

func inOrder(n int) []uint32 {
	order := make([]uint32, n)
	for i := range order {
		order[i] = uint32(i)
	}
	return order
}

// asked are vectors whose decimals are those of the rows in order alone.
func asked(vectors []Vector, order []uint32) []Vector {
	vectors = slices.Clone(vectors)
	for _, c := range []int{amount, share} {
		wide, ints := vectors[c].Wide, vectors[c].Ints
		vectors[c] = Vector{}
		for _, row := range order {
			vectors[c].Wide = append(vectors[c].Wide, wide[row])
			if ints != nil {
				vectors[c].Ints = append(vectors[c].Ints, ints[row])
			}
		}
	}
	return vectors
}

func write(t require.TestingT, name string, vectors []Vector, orders ...[]uint32) *Writer {
	f, err := os.Create(name)
	require.NoError(t, err)
	w := testTable.Create(NewEncoder(), f)
	for _, order := range orders {
		require.NoError(t, w.WriteRowGroup(asked(vectors, order), order))
	}
	require.NoError(t, w.Close())
	info, err := f.Stat()
	require.NoError(t, err)
	require.Equal(t, info.Size(), w.Size())
	require.NoError(t, f.Close())
	return w
}

func open(t require.TestingT, name string) *File {
	f, err := os.Open(name)
	require.NoError(t, err)
	file, err := testTable.Open(f)
	require.NoError(t, err)
	return file
}

// text gives row i of a page's texts.
func text(v Vector, i int) string {
	if v.Index != nil {
		return v.Dict[v.Index[i]]
	}
	return v.Dict[i]
}

func requireSame(t require.TestingT, want []Vector, order []uint32, f *File, group int) {
	pages, err := f.Pages(group, []int{plain, few, many, at, word, free, amount, digest, seen, share})
	require.NoError(t, err)
	done := 0
	var page Page
	for {
		require.NoError(t, pages.Next(&page))
		if page.Rows == 0 {
			break
		}
		requireSamePage(t, want, order[done:done+page.Rows], &page)
		done += page.Rows
	}
	require.Equal(t, len(order), done)
}

// requireSamePage compares a page with the rows that order names.
func requireSamePage(t require.TestingT, want []Vector, order []uint32, page *Page) {
	require.Equal(t, len(order), page.Rows)
	got := page.Vectors
	for i, row := range order {
		for _, c := range []int{plain, few, many, at, seen} {
			require.Equal(t, want[c].Ints[row], got[c].Ints[i], "column %d row %d", c, row)
		}
		require.Equal(t, want[word].Dict[want[word].Index[row]], text(got[word], i))
		start := uint32(0)
		if row > 0 {
			start = want[free].Ends[row-1]
		}
		require.Equal(t, string(want[free].Bytes[start:want[free].Ends[row]]), text(got[free], i))
		require.Equal(t, want[amount].Wide[row], got[amount].Wide[i])
		require.Equal(t, want[digest].Dict[0], text(got[digest], i))
		require.Equal(t, want[share].Ints[row] == 0, got[share].Ints[i] == 0)
		if want[share].Ints[row] != 0 {
			require.Equal(t, want[share].Wide[row], got[share].Wide[i])
		}
	}
}

func TestRoundTrip(t *testing.T) {
	name := filepath.Join(t.TempDir(), "t.parquet")
	vectors := rows(3 * PageRows)
	backward := inOrder(2*PageRows + 77)
	for i, j := 0, len(backward)-1; i < j; i, j = i+1, j-1 {
		backward[i], backward[j] = backward[j], backward[i]
	}
	orders := [][]uint32{inOrder(3*PageRows - 1), {5}, backward}
	write(t, name, vectors, orders...)
	f := open(t, name)
	require.EqualValues(t, 3, f.RowGroups())
	for group, order := range orders {
		require.Equal(t, len(order), f.GroupRows(group))
		requireSame(t, vectors, order, f, group)
	}
	least, greatest, ok, err := f.IntRange(0, plain)
	require.NoError(t, err)
	require.True(t, ok)
	require.EqualValues(t, -500, least)
	require.EqualValues(t, (3*PageRows-2)*(3*PageRows-2)-500, greatest)
	first, last, ok, err := f.TextRange(0, word)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, []string{"", "x=y"}, []string{first, last})
}

func TestSameRowsSameBytes(t *testing.T) {
	dir := t.TempDir()
	vectors := rows(1000)
	write(t, filepath.Join(dir, "a"), vectors, inOrder(1000))
	// The same rows, their texts numbered otherwise.
	vectors[word].Dict = []string{"x=y", "béta", "alpha", "", "never used"}
	for i := range vectors[word].Index {
		vectors[word].Index[i] = 4 - vectors[word].Index[i]
	}
	write(t, filepath.Join(dir, "b"), vectors, inOrder(1000))
	a, err := os.ReadFile(filepath.Join(dir, "a"))
	require.NoError(t, err)
	b, err := os.ReadFile(filepath.Join(dir, "b"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(a, b))
}

func TestLateValues(t *testing.T) {
	name := filepath.Join(t.TempDir(), "t.parquet")
	vectors := rows(2000)
	w := write(t, name, vectors, inOrder(2000), inOrder(100))
	require.Len(t, w.Late(), 4) // two columns, two row groups
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	require.NoError(t, err)
	value := strings.Repeat("ab", 32)
	for _, late := range w.Late() {
		require.NoError(t, late.Set(f, testTable, value, 1764000000))
	}
	require.NoError(t, f.Close())
	vectors[digest].Dict[0] = value
	for i := range vectors[seen].Ints {
		vectors[seen].Ints[i] = 1764000000
	}
	reopened := open(t, name)
	requireSame(t, vectors, inOrder(2000), reopened, 0)
	requireSame(t, vectors, inOrder(100), reopened, 1)
}

func TestDamagedFilesAreErrors(t *testing.T) {
	name := filepath.Join(t.TempDir(), "t.parquet")
	write(t, name, rows(5000), inOrder(5000))
	whole, err := os.ReadFile(name)
	require.NoError(t, err)
	read := func(data []byte) error {
		require.NoError(t, os.WriteFile(name, data, 0o644))
		f, err := os.Open(name)
		require.NoError(t, err)
		defer f.Close()
		file, err := testTable.Open(f)
		if err != nil {
			return err
		}
		pages, err := file.Pages(0, []int{plain, few, many, at, word, free, amount, digest, seen, share})
		for page := (Page{Rows: 1}); err == nil && page.Rows > 0; {
			err = pages.Next(&page)
		}
		return err
	}
	require.NoError(t, read(whole))
	for _, size := range []int{0, 1, 4, 11, len(whole) / 2, len(whole) - 9, len(whole) - 1} {
		require.Error(t, read(whole[:size]), "cut at %d", size)
	}
	// A byte of a page: its checksum tells, wherever it is.
	require.NoError(t, read(whole))
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	file, err := testTable.Open(f)
	require.NoError(t, err)
	for position, column := range testTable.Columns {
		pages, err := file.columnPages(0, position)
		require.NoError(t, err)
		h, err := pages.header()
		require.NoError(t, err)
		damaged := bytes.Clone(whole)
		damaged[int(pages.offset)+h.size+h.compressed/2] ^= 1
		if column.Late { // it may be changed where it stands
			require.NoError(t, read(damaged))
			continue
		}
		require.ErrorContains(t, read(damaged), "column "+column.Name+": damaged page: its checksum is another")
		require.NoError(t, read(whole))
	}
}

// What a header says of a page's size is not believed beyond what the footer
// says of its column.
func TestPagesAreNoLargerThanTheirColumn(t *testing.T) {
	name := filepath.Join(t.TempDir(), "t.parquet")
	write(t, name, rows(5000), inOrder(5000))
	file := open(t, name)
	for position, column := range testTable.Columns {
		pages, err := file.columnPages(0, position)
		require.NoError(t, err)
		h, err := pages.header()
		require.NoError(t, err)
		meta, err := file.reader.MetaData().RowGroup(0).ColumnChunk(position)
		require.NoError(t, err)
		f := func(uncompressed int64, want error) {
			t.Helper()
			said := appendDataPageHeader(nil, h.values, int(uncompressed), nil, h.encoding)
			pages.ahead = append(said, make([]byte, maxPageHeader)...)
			_, err := pages.header()
			require.Equal(t, want, err, column.Name)
		}
		f(meta.TotalUncompressedSize(), nil)
		f(meta.TotalUncompressedSize()+1, errPage)
		f(1<<30, errPage)
	}
}

func TestForeignFilesAreRefused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "t.parquet")
	other := NewTable("other", 1, PageRows, []Column{{Name: "a", Kind: Int64}})
	f, err := os.Create(name)
	require.NoError(t, err)
	w := other.Create(NewEncoder(), f)
	require.NoError(t, w.WriteRowGroup([]Vector{{Ints: []int64{1}}}, []uint32{0}))
	require.NoError(t, w.Close())
	_, err = testTable.Open(f)
	require.ErrorIs(t, err, ErrForeign)
	require.ErrorContains(t, err, "holds other version 1, not test version 1")
}

type failingWriter struct{ after int }

func (f *failingWriter) Write(p []byte) (int, error) {
	if f.after -= len(p); f.after < 0 {
		return 0, os.ErrClosed
	}
	return len(p), nil
}

func TestWriteErrorsAreTold(t *testing.T) {
	whole := write(t, filepath.Join(t.TempDir(), "t.parquet"), rows(50000), inOrder(50000)).Size()
	for _, after := range []int{0, 100, int(whole) / 2, int(whole) - 1} {
		w := testTable.Create(NewEncoder(), &failingWriter{after})
		err := w.WriteRowGroup(rows(50000), inOrder(50000))
		if err == nil {
			err = w.Close()
		}
		require.ErrorIs(t, err, os.ErrClosed)
	}
}

func TestHybrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 20).Draw(t, "width")
		var values []uint32
		for range rapid.IntRange(1, 30).Draw(t, "runs") {
			v := rapid.Uint32Range(0, 1<<width-1).Draw(t, "value")
			for range rapid.IntRange(1, 20).Draw(t, "length") {
				values = append(values, v)
			}
		}
		data := appendHybrid(nil, values, width)
		got := make([]uint32, len(values))
		rest, err := decodeHybrid(got, data, width)
		require.NoError(t, err)
		require.Empty(t, rest)
		require.Equal(t, values, got)
		for cut := range len(data) {
			_, err := decodeHybrid(got, data[:cut], width)
			require.Error(t, err)
		}
	})
}

func FuzzDecodeHybrid(f *testing.F) {
	f.Add([]byte{2, 1}, 1, 8)
	f.Add([]byte{3, 0xff}, 1, 8)
	f.Fuzz(func(t *testing.T, data []byte, width, n int) {
		if width < 0 || n < 0 || n > 1<<16 {
			return
		}
		_, _ = decodeHybrid(make([]uint32, n), data, width)
	})
}

// Texts that share one Index make the same file as those that stand for
// themselves.
func TestSharedIndex(t *testing.T) {
	const n = 70_000
	vectors := rows(n)
	var order []uint32
	for row := uint32(0); row < n; row += 1 + row%5 { // few enough of those in memory, too
		order = append(order, row)
	}
	for _, order := range [][]uint32{order, fewRows} {
		shared := slices.Clone(vectors)
		shared[word] = Vector{Dict: vectors[word].Dict}
		v, together := &shared[word], map[[2]uint32]uint32{} // with another column, here of two texts
		for _, row := range order {
			entry := vectors[word].Index[row]
			at, known := together[[2]uint32{entry, row % 2}]
			if !known {
				at, v.Through = uint32(len(v.Through)), append(v.Through, entry)
				together[[2]uint32{entry, row % 2}] = at
			}
			v.Index = append(v.Index, at)
		}
		requireSameFile(t, vectors, shared, order)
	}
	// All of one text, though the dictionary has others.
	one := slices.Clone(vectors)
	one[word].Index = make([]uint32, n)
	shared := slices.Clone(one)
	shared[word] = Vector{Dict: one[word].Dict, Index: []uint32{0, 1, 0, 1, 1}, Through: []uint32{0, 0}}
	requireSameFile(t, one, shared, fewRows)
}

// fewRows are so few of many that not all of them are looked at.
var fewRows = []uint32{3, 5, 8, 70, 71}

func requireSameFile(t *testing.T, plainly, otherwise []Vector, order []uint32) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), plainly, order)
	write(t, filepath.Join(dir, "b"), otherwise, order)
	want, err := os.ReadFile(filepath.Join(dir, "a"))
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(dir, "b"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got))
	requireSame(t, plainly, order, open(t, filepath.Join(dir, "b")), 0)
}

// Equal texts of several files become one string; a pool that holds much begins
// anew.
func TestTextPool(t *testing.T) {
	name := filepath.Join(t.TempDir(), "t.parquet")
	write(t, name, rows(100), inOrder(100))
	var pool TextPool
	read := func() []string {
		pages, err := open(t, name).Pages(0, []int{word})
		require.NoError(t, err)
		pages.Pool(&pool)
		var page Page
		require.NoError(t, pages.Next(&page))
		return page.Vectors[word].Dict
	}
	first, second := read(), read()
	require.Equal(t, []string{"", "alpha", "béta", "x=y"}, first)
	require.Equal(t, first, second)
	require.Same(t, unsafe.StringData(first[1]), unsafe.StringData(second[1]))
	pool.bytes = pooledBytes + 1
	third := read()
	require.Equal(t, first, third)
	require.NotSame(t, unsafe.StringData(first[1]), unsafe.StringData(third[1]))
}

func TestExtremeNumbers(t *testing.T) {
	name := filepath.Join(t.TempDir(), "t.parquet")
	vectors := rows(3)
	vectors[plain].Ints = []int64{math.MinInt64, math.MaxInt64, 0}
	vectors[many].Ints = []int64{-1, 0, 1} // 2^64 − 1 is the greatest
	vectors[amount].Wide = []Int128{{math.MinInt64, 0}, {-1, math.MaxUint64}, {math.MaxInt64, math.MaxUint64}}
	write(t, name, vectors, inOrder(3))
	f := open(t, name)
	requireSame(t, vectors, inOrder(3), f, 0)
	least, greatest, ok, err := f.IntRange(0, many)
	require.NoError(t, err)
	require.True(t, ok)
	require.EqualValues(t, []int64{0, -1}, []int64{least, greatest})
}

func TestWithout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "columnar")
		require.NoError(t, err)
		defer os.RemoveAll(dir)
		n := rapid.SampledFrom([]int{2, 2, 100, 100, 100, 100, PageRows + 50, 2*PageRows + 1}).Draw(t, "rows")
		vectors := rows(n)
		write(t, filepath.Join(dir, "a"), vectors, inOrder(n))
		a := open(t, filepath.Join(dir, "a"))
		if rapid.Bool().Draw(t, "of an earlier version") {
			writeEarlier(t, a, filepath.Join(dir, "earlier"))
			a = open(t, filepath.Join(dir, "earlier"))
		}
		drop := map[uint32]bool{}
		for range rapid.IntRange(1, 5).Draw(t, "gone") {
			drop[uint32(rapid.SampledFrom([]int{0, 1, n / 2, n - 1, rapid.IntRange(0, n-1).Draw(t, "row")}).Draw(t, "which"))] = true
		}
		if rapid.Bool().Draw(t, "a whole page") {
			for i := 0; i < n-1 && i < PageRows; i++ {
				drop[uint32(i)] = true
			}
		}
		var gone, kept []uint32
		for _, row := range inOrder(n) {
			if drop[row] {
				gone = append(gone, row)
			} else {
				kept = append(kept, row)
			}
		}
		if len(kept) == 0 {
			t.Skip("nothing stays")
		}
		f, err := os.Create(filepath.Join(dir, "b"))
		require.NoError(t, err)
		var taken Page
		out, err := a.Without(gone, NewEncoder(), f, &taken)
		require.NoError(t, err)
		require.NoError(t, out.Close())
		require.NoError(t, f.Close())
		b := open(t, filepath.Join(dir, "b"))
		require.EqualValues(t, len(kept), b.Rows())
		requireSame(t, vectors, kept, b, 0)
		requireSamePage(t, vectors, gone, &taken)
		var numbers []int64
		for _, row := range kept {
			numbers = append(numbers, vectors[plain].Ints[row])
		}
		require.Equal(t, numbers, arrowInts(t, filepath.Join(dir, "b"), len(kept)), "another reader")

		// The statistics are those of the rows written afresh.
		write(t, filepath.Join(dir, "c"), vectors, kept)
		c := open(t, filepath.Join(dir, "c"))
		for position := range testTable.Columns {
			least, greatest, known, err := b.statistics(0, position)
			require.NoError(t, err)
			wantLeast, wantGreatest, wanted, err := c.statistics(0, position)
			require.NoError(t, err)
			if testTable.Columns[position].Kind == Text && known != wanted {
				continue // a dictionary was given up, and the statistics with it
			}
			require.Equal(t, []any{wanted, wantLeast, wantGreatest}, []any{known, least, greatest}, testTable.Columns[position].Name)
		}
	})
}

func FuzzParsePageHeader(f *testing.F) {
	f.Add(appendDataPageHeader(nil, 100, 2000, []byte("page"), 0))
	f.Add(appendDictionaryPageHeader(nil, 3, 24, []byte("page"), false))
	f.Add(appendDictionaryPageHeader(nil, 3, 24, []byte("page"), true))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := parsePageHeader(data)
		if err == nil {
			require.LessOrEqual(t, h.size, len(data))
			require.GreaterOrEqual(t, min(h.values, h.compressed, h.uncompressed), 0)
		}
	})
}

func TestPagesCanBePassedOver(t *testing.T) {
	name := filepath.Join(t.TempDir(), "t.parquet")
	vectors := rows(3*PageRows + 7)
	write(t, name, vectors, inOrder(3*PageRows+7))
	pages, err := open(t, name).Pages(0, []int{plain, word, few})
	require.NoError(t, err)
	require.NoError(t, pages.Skip())
	n, err := pages.Upcoming()
	require.NoError(t, err)
	require.Equal(t, PageRows, n)
	require.NoError(t, pages.Skip())
	var page Page
	require.NoError(t, pages.Next(&page))
	require.Equal(t, vectors[plain].Ints[2*PageRows:3*PageRows], page.Vectors[plain].Ints)
	require.Equal(t, vectors[word].Dict[vectors[word].Index[2*PageRows]], text(page.Vectors[word], 0))
	require.NoError(t, pages.Skip())
	n, err = pages.Upcoming()
	require.NoError(t, err)
	require.Zero(t, n)
	require.NoError(t, pages.Next(&page))
	require.Zero(t, page.Rows)
}
