package xlsx

import (
	"archive/zip"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"
)

// contentTypes is the one part of a workbook that the library writes in an
// order of its own each time.
const contentTypes = "[Content_Types].xml"

// save writes the workbook, the same bytes for the same cells: the parts in
// the order of their names, the list of content types sorted, no time but the
// ones in the properties. The parts go through a temporary file, so that
// memory does not grow with the jobs.
func (b *book) save(w io.Writer, properties *excelize.DocProperties) error {
	b.keep(b.file.SetDocProps(properties))
	b.keep(b.file.SetAppProps(&excelize.AppProperties{Application: "hpcbill"}))
	if b.err != nil {
		return b.err
	}
	spool, err := os.CreateTemp("", "hpcbill-*.xlsx")
	if err != nil {
		return err
	}
	defer os.Remove(spool.Name())
	defer spool.Close()
	b.file.SetZipWriter(func(io.Writer) excelize.ZipWriter { return dated{zip.NewWriter(spool)} })
	if _, err := b.file.WriteToBuffer(); err != nil {
		return err
	}
	size, err := spool.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	parts, err := zip.NewReader(spool, size)
	if err != nil {
		return err
	}
	return repack(w, parts.File)
}

// repack copies the parts in order. All but one are copied as they are,
// without being compressed again.
func repack(w io.Writer, parts []*zip.File) error {
	slices.SortFunc(parts, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	out := dated{zip.NewWriter(w)}
	for _, part := range parts {
		if part.Name != contentTypes {
			if err := out.Copy(part); err != nil {
				return err
			}
			continue
		}
		sorted, err := sortedTypes(part)
		if err != nil {
			return fmt.Errorf("%s: %w", contentTypes, err)
		}
		to, err := out.Create(contentTypes)
		if err != nil {
			return err
		}
		if _, err := to.Write(sorted); err != nil {
			return err
		}
	}
	return out.Close()
}

// sortedTypes reads the list of content types and gives it sorted.
func sortedTypes(part *zip.File) ([]byte, error) {
	in, err := part.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	type item struct {
		Extension   string `xml:",attr,omitempty"`
		PartName    string `xml:",attr,omitempty"`
		ContentType string `xml:",attr"`
	}
	var types struct {
		XMLName  xml.Name `xml:"http://schemas.openxmlformats.org/package/2006/content-types Types"`
		Default  []item
		Override []item
	}
	if err := xml.NewDecoder(in).Decode(&types); err != nil {
		return nil, err
	}
	slices.SortFunc(types.Default, func(a, b item) int { return strings.Compare(a.Extension, b.Extension) })
	slices.SortFunc(types.Override, func(a, b item) int { return strings.Compare(a.PartName, b.PartName) })
	out, err := xml.Marshal(types)
	return append([]byte(xml.Header), out...), err
}

// dated is a zip.Writer whose parts all bear one fixed time, the earliest that
// the format knows.
type dated struct{ *zip.Writer }

func (d dated) Create(name string) (io.Writer, error) {
	return d.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)})
}
