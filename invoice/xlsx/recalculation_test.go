package xlsx

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"
)

var cached = regexp.MustCompile(`(</f>)<v>[^<]*</v>`)

// withoutValues takes the values from beside the formulas, so that whatever
// shows one has computed it.
func withoutValues(t *testing.T, workbook []byte) []byte {
	t.Helper()
	in, err := zip.NewReader(bytes.NewReader(workbook), int64(len(workbook)))
	require.NoError(t, err)
	var b bytes.Buffer
	out := zip.NewWriter(&b)
	taken := 0
	for _, part := range in.File {
		r, err := part.Open()
		require.NoError(t, err)
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		if strings.HasPrefix(part.Name, "xl/worksheets/sheet") {
			taken += len(cached.FindAll(text, -1))
			text = cached.ReplaceAll(text, []byte("$1"))
		}
		w, err := out.Create(part.Name)
		require.NoError(t, err)
		_, err = w.Write(text)
		require.NoError(t, err)
	}
	require.NoError(t, out.Close())
	require.NotZero(t, taken)
	return b.Bytes()
}

// TestLibreOfficeAgrees has LibreOffice open each workbook, without the values
// beside the formulas, compute it and save it, and compares every cell with
// what was written.
func TestLibreOfficeAgrees(t *testing.T) {
	soffice, err := exec.LookPath("soffice")
	if err != nil {
		t.Skip("LibreOffice (soffice) is not installed: formulas are not computed by a second program")
	}
	if testing.Short() {
		t.Skip("starting LibreOffice takes seconds")
	}
	in, out := t.TempDir(), t.TempDir()
	inv, jobs, storage := reduced(t)
	workbooks := map[string][]byte{"group.xlsx": drawSample(t), "department.xlsx": drawPeriod(t), "limits.xlsx": draw(t, inv, jobs, storage)}
	arguments := []string{"-env:UserInstallation=file://" + t.TempDir(), "--headless", "--convert-to", "xlsx", "--outdir", out}
	for name, workbook := range workbooks {
		path := filepath.Join(in, name)
		require.NoError(t, os.WriteFile(path, withoutValues(t, workbook), 0o600))
		arguments = append(arguments, path)
	}
	said, err := exec.Command(soffice, arguments...).CombinedOutput()
	require.NoError(t, err, "%s", said)
	for name, workbook := range workbooks {
		theirs, err := excelize.OpenFile(filepath.Join(out, name))
		require.NoError(t, err, "%s", said)
		requireSameCells(t, open(t, workbook), theirs)
		require.NoError(t, theirs.Close())
	}
}

// requireSameCells compares values; numbers may differ by the float's last
// digits.
func requireSameCells(t *testing.T, ours, theirs *excelize.File) {
	t.Helper()
	raw := excelize.Options{RawCellValue: true}
	require.Equal(t, ours.GetSheetList(), theirs.GetSheetList())
	for _, sheet := range ours.GetSheetList() {
		rows, err := ours.GetRows(sheet, raw)
		require.NoError(t, err)
		for i, row := range rows {
			for j, want := range row {
				cell := cellName(j+1, i+1)
				got, err := theirs.GetCellValue(sheet, cell, raw)
				require.NoError(t, err)
				if kind, _ := ours.GetCellType(sheet, cell); kind == excelize.CellTypeUnset && want != "" {
					number, err := strconv.ParseFloat(got, 64)
					require.NoError(t, err, "%s!%s", sheet, cell)
					wanted, err := strconv.ParseFloat(want, 64)
					require.NoError(t, err)
					require.InDelta(t, wanted, number, 1e-9, "%s!%s", sheet, cell)
					continue
				}
				require.Equal(t, want, got, "%s!%s", sheet, cell)
			}
		}
	}
}
