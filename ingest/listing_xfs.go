package ingest

import (
	"regexp"
	"strings"
)

const xfsBlockBytes = 1 << 10 // xfs_quota(8): report prints blocks of 1 KiB

var (
	xfsSection = regexp.MustCompile(`^(User|Group|Project) quota on (.+?) \(.*\)$`)
	xfsTitle   = regexp.MustCompile(`^(Blocks)?\s*(Inodes)?$`)
	xfsHeader  = regexp.MustCompile(`^(User|Group|Project) ID\s+Used\s+Soft\s+Hard\s+Warn/ ?Grace(\s+Used\s+Soft\s+Hard\s+Warn/ ?Grace)?$`)
	xfsRule    = regexp.MustCompile(`^[- ]*-[- ]*$`)
	xfsRow     = regexp.MustCompile(`^(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+\d+\s+\[[^\]]*\](\s+\S+\s+\S+\s+\S+\s+\d+\s+\[[^\]]*\])?$`)
)

const remedyXfs = "list with  xfs_quota -x -c 'report -p' /PATH , without -h and -N"

// xfs reads what xfs_quota's report prints, of one or several kinds and file
// systems:
//
//	Project quota on /data (/dev/sdb1)
//	                               Blocks
//	Project ID       Used       Soft       Hard    Warn/Grace
//	---------- --------------------------------------------------
//	chem            15360      10240      15360     00  [6 days]
func (l *listingReader) xfs(lines []string) {
	var path, kind string
	var blocks, inodes, header bool
	for i, text := range lines {
		n, text := int64(i+1), strings.TrimSpace(text)
		row := xfsRow.FindStringSubmatch(text)
		switch m := xfsSection.FindStringSubmatch(text); {
		case text == "" || xfsRule.MatchString(text):
		case m != nil:
			kind, path, blocks, inodes, header = strings.ToLower(m[1]), m[2], false, false, false
		case path == "":
			l.fault(n, "", remedyXfs, "%.60q comes before any quota", text)
			return
		case !header && xfsTitle.MatchString(text):
			t := xfsTitle.FindStringSubmatch(text)
			if blocks, inodes = t[1] != "", t[2] != ""; !blocks {
				l.fault(n, "", remedyXfs, "the report is of files, not of blocks")
				return
			}
		case blocks && !header && xfsHeader.MatchString(text):
			header = true
		case header && row != nil && (row[5] != "") == inodes:
			l.add(ListingRow{Filesystem: path, Kind: kind, Name: row[1], Line: n,
				UsedBytes:  l.bytesOf(n, "Used", row[2], xfsBlockBytes, remedyXfs),
				QuotaBytes: l.limitOf(n, row[3], row[4], xfsBlockBytes, remedyXfs)})
		default:
			l.fault(n, "", remedyNotListing, "%.60q is no row of xfs_quota's report", text)
		}
	}
	if !header {
		l.fault(int64(len(lines)), "", remedyCutListing, "the report of %s ends before its rows", path)
	}
}
