package jobstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hpcbill/ingest"
)

// The names beneath the store's directory that are not partitions. Readers of
// Hive datasets pass over names that begin with '_'.
const (
	catalogName    = "_catalog.json"
	journalName    = "_journal.json"
	lockName       = "_lock"
	ingestsDir     = "_ingests"
	sightingsDir   = "_sightings"
	supersededDir  = "_superseded"
	temporaryDir   = "_tmp"
	catalogVersion = 1
)

// catalog is the list of the files that are the dataset. It is replaced as a
// whole by each commit.
type catalog struct {
	Version    int         `json:"version"`
	Generation int         `json:"generation"` // counts the commits
	Ingests    int         `json:"ingests"`    // counts the ingests
	Parts      []*part     `json:"parts"`
	Sightings  []*sighting `json:"sightings,omitempty"`
}

// part is one Parquet file: rows of one cluster, and of one month or
// superseded, sorted by End, JobIDRaw, Submit.
type part struct {
	Path    string `json:"path"` // beneath the store's directory, with slashes
	Cluster string `json:"cluster"`
	Month   string `json:"month"` // "2026-03", openMonth or supersededMonth
	Rows    int    `json:"rows"`
	Bytes   int64  `json:"bytes"`

	// Of the rows that have one; None where none has.
	MinStart ingest.Instant `json:"min_start,omitempty"`
	MinEnd   ingest.Instant `json:"min_end,omitempty"`
	MaxEnd   ingest.Instant `json:"max_end,omitempty"`

	Index     indexShape `json:"index"`
	Compacted bool       `json:"compacted,omitempty"`

	temporary string // its name beneath _tmp, until it is committed
}

// The values of part.Month that are no month.
const (
	openMonth       = "open"       // records that have no End yet
	supersededMonth = "superseded" // records that a later one of the same job replaced
)

// sighting is a list of records that a dump had and the store knew already:
// a file of keys whose at is the line in the dump.
type sighting struct {
	Path     string         `json:"path"`
	Cluster  string         `json:"cluster"`
	File     string         `json:"file"`
	Digest   string         `json:"digest"`
	DumpTime ingest.Instant `json:"dump_time"`
	Index    indexShape     `json:"index"`
}

func readCatalog(dir string) (*catalog, error) {
	data, err := os.ReadFile(filepath.Join(dir, catalogName))
	if errors.Is(err, fs.ErrNotExist) {
		return &catalog{Version: catalogVersion}, nil
	}
	if err != nil {
		return nil, err
	}
	c := &catalog{}
	if err := json.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, catalogName), err)
	}
	if c.Version != catalogVersion {
		return nil, fmt.Errorf("%s: version %d is not %d: written by another version of hpcbill", filepath.Join(dir, catalogName), c.Version, catalogVersion)
	}
	return c, nil
}

// visible reports whether the part is in the dataset that engines see.
func (p *part) visible() bool { return p.Month != supersededMonth }

// dir gives the directory of a part, with slashes.
func partDir(cluster, month string) string {
	if month == supersededMonth {
		return supersededDir + "/cluster=" + escapeHive(cluster)
	}
	return "cluster=" + escapeHive(cluster) + "/month=" + month
}

// hiveNothing is Hive's partition of rows without a value.
const hiveNothing = "__HIVE_DEFAULT_PARTITION__"

// escapeHive makes any text the value of a Hive partition: one path element,
// as Hive and Spark write it, which their readers undo.
func escapeHive(value string) string {
	switch value {
	case "":
		return hiveNothing
	case hiveNothing:
		return "%5F" + value[1:]
	}
	dots := strings.Trim(value, ".") == ""
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.' && !dots:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// monthOf gives the partition of an End.
func monthOf(end ingest.Instant) string {
	if end == ingest.None {
		return openMonth
	}
	return utc(end).Format("2006-01")
}
