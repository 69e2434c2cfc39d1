package ingest

import (
	"slices"
	"strings"
)

const remedyZfs = "list with  zfs get -Hp -d 1 -t filesystem quota,used DATASET"

// zfsDataset is what was said of one dataset.
type zfsDataset struct {
	name   string
	line   int64
	values map[string]string
}

// zfs reads what zfs get -Hp prints: name, property, value and perhaps source,
// parted by tabs. The datasets are the holders; the one that they lie in is
// the file system. Snapshots are part of their dataset's use.
func (l *listingReader) zfs(lines []string) {
	quota, used := orElse(l.layout.Quota, "quota"), orElse(l.layout.Used, "used")
	var sets []*zfsDataset
	byName := map[string]*zfsDataset{}
	for i, text := range lines {
		n, f := int64(i+1), strings.Split(text, "\t")
		switch {
		case text == "" || len(f) >= 3 && strings.ContainsAny(f[0], "@#"):
			continue
		case len(f) != 3 && len(f) != 4 || f[0] == "" || strings.ContainsAny(f[0], " "):
			remedy := remedyNotListing
			if strings.HasPrefix(text, "NAME ") {
				remedy = remedyZfs
			}
			l.fault(n, "", remedy, "%.60q is no row of zfs get -H", text)
			return
		}
		d := byName[f[0]]
		if d == nil {
			d = &zfsDataset{f[0], n, map[string]string{}}
			byName[f[0]] = d
			sets = append(sets, d)
		}
		if _, twice := d.values[f[1]]; twice {
			l.fault(n, f[1], "list each once", "%s was given for %s already", f[1], f[0])
		}
		d.values[f[1]] = f[2]
	}
	for _, d := range sets {
		parent := parentOf(d.name)
		isFilesystem := slices.ContainsFunc(sets, func(o *zfsDataset) bool { return parentOf(o.name) == d.name })
		switch {
		case isFilesystem && byName[parent] != nil:
			l.fault(d.line, "", remedyZfs, "%s lies in %s and has datasets in it: what they use would be counted twice", d.name, parent)
		case !isFilesystem:
			l.dataset(d, parent, quota, used)
		}
	}
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// parentOf is the dataset in which another lies, "" of a pool.
func parentOf(name string) string {
	parent, _, _ := cutLast(name, "/")
	return parent
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return "", s, false
}

func (l *listingReader) dataset(d *zfsDataset, parent, quota, used string) {
	r := ListingRow{Filesystem: orElse(parent, d.name), Kind: "dataset", Name: d.name[strings.LastIndex(d.name, "/")+1:], Line: d.line, QuotaBytes: Unknown}
	wanted := []string{used}
	if quota != NoQuotas {
		wanted = append(wanted, quota)
	}
	for _, property := range wanted {
		if _, ok := d.values[property]; !ok {
			l.fault(d.line, property, remedyZfs, "is not listed of %s", d.name)
			return
		}
	}
	r.UsedBytes = l.bytesOf(d.line, used, d.values[used], 1, remedyZfs)
	switch text := d.values[quota]; {
	case quota == NoQuotas || text == "none" || text == "-":
	default:
		// 0 is how zfs says that none is set.
		if n := l.bytesOf(d.line, quota, text, 1, remedyZfs); n > 0 {
			r.QuotaBytes = n
		}
	}
	l.add(r)
}
