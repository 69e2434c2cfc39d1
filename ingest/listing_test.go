package ingest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// listed reads a listing and gives its rows as
// "LINE DAY FILESYSTEM KIND NAME QUOTA USED", or its faults with their remedies.
func listed(name string, layout Layout, text string) []string {
	l, err := ReadListing(name, strings.NewReader(text), &layout)
	var got []string
	if err != nil {
		for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
			got = append(got, e.Error()+" | "+e.(*Error).Hint())
		}
		return got
	}
	for _, r := range l.Rows {
		got = append(got, fmt.Sprintf("%d %s %s %s %d %d", r.Line, r.Day, strings.TrimSpace(r.Filesystem+" "+r.Tier), r.holder(), r.QuotaBytes, r.UsedBytes))
	}
	return got
}

const day14 = "quotas-2026-03-14.txt"

func TestLfsQuota(t *testing.T) {
	f := func(layout Layout, text string, want ...string) {
		t.Helper()
		layout.Format = LfsQuota
		require.Equal(t, want, listed(day14, layout, text))
	}
	const header = "     Filesystem  kbytes   quota   limit   grace   files   quota   limit   grace\n"
	soft, hard := Layout{Quota: "soft"}, Layout{Quota: "hard"}
	chem := "Disk quotas for prj 1001 (pid 1001):\n" + header + "        /lustre 1048576 2097152 4194304       -    1000       0       0       -\n"
	// 1 GiB used of 2 soft and 4 hard.
	f(soft, chem, "3 2026-03-14 /lustre project 1001 2147483648 1073741824")
	f(hard, chem, "3 2026-03-14 /lustre project 1001 4294967296 1073741824")
	f(Layout{Quota: NoQuotas, Filesystem: "scratch", Tier: "ssd"}, chem, "3 2026-03-14 scratch ssd project 1001 -1 1073741824")
	// Over the quota, with a grace period, a path on a line of its own, default
	// quotas; 0 is no quota.
	f(hard, chem+"Disk quotas for prj bio (pid 7):\r\n"+header+"/lustre/a/very/long/path/of/a/project\n                 3*       2       0 6d23h59m58s      12*      10      20 none\npid 7 is using default block quota setting\npid 7 is using default file quota setting\n",
		"3 2026-03-14 /lustre project 1001 4294967296 1073741824", "7 2026-03-14 /lustre/a/very/long/path/of/a/project project bio -1 3072")
	// The columns of Lustre 2.16.
	f(hard, "Disk quotas for grp bio (gid 7):\n Filesystem kbytes bquota blimit bgrace files iquota ilimit igrace\n /l 1 0 2 - 1 0 0 -\n", "3 2026-03-14 /l group bio 2048 1024")
	// A user's own answer shows the same bytes by user and by group.
	both := "Disk quotas for usr u1 (uid 9):\n" + header + "/l 1 0 2 - 1 0 0 -\nDisk quotas for grp bio (gid 7):\n" + header + "/l 5 0 9 - 1 0 0 -\n"
	f(hard, both, day14+":6: the listing shows the same bytes by user and by group | say which counts: write  of: user  or  of: group  for this source")
	f(Layout{Quota: "hard", Of: "group"}, both, "6 2026-03-14 /l group bio 9216 5120")
	f(Layout{Quota: "hard", Of: "project"}, both, day14+": the listing has nothing of a project | write under of: a kind that the listing has")

	// What is no listing, or not a whole one.
	f(hard, "", day14+": the listing is empty | "+remedyEmptyListing)
	f(hard, "\n \n", day14+": the listing is empty | "+remedyEmptyListing)
	f(hard, strings.TrimSuffix(chem, "\n"), day14+":3: the last line does not end: the listing is cut | "+remedyCutListing)
	f(hard, "Disk quotas for prj 1001 (pid 1001):\n"+header, day14+":1: project 1001 has no row, or half of one | "+remedyCutListing)
	f(hard, "Disk quotas for prj 1001 (pid 1001):\n"+header+"/a/long/path\n", day14+":1: project 1001 has no row, or half of one | "+remedyCutListing)
	f(hard, chem+"lfs quota: can't find project 'x': No such file\n", day14+`:4: "lfs quota: can't find project 'x': No such file" is no row of lfs quota | `+remedyNotListing)
	f(hard, "Permission denied.\n", day14+`:1: "Permission denied." comes before any quota | `+remedyNotListing)
	f(hard, "Disk quotas for prj 1 (pid 1):\n Filesystem    used   quota   limit   grace   files   quota   limit   grace\n /l 322.5T 327T 327T - 18005642 0 0 -\n",
		day14+":2: the figures are rounded to be read by people | "+remedyLfsHuman,
		day14+`:3: kbytes: "322.5T" is rounded to be read by people | `+remedyLfsHuman,
		day14+`:3: hard limit: "327T" is rounded to be read by people | `+remedyLfsHuman)
	f(hard, "Disk quotas for prj 1 (pid 1):\n"+header+"/l [10200224] 0 0 - 17724 0 0 -\nSome errors happened when getting quota info. Some devices may be not working or deactivated. The data in \"[]\" is inaccurate.\n",
		day14+":3: kbytes: [10200224] is in brackets: lfs could not read all of it | list again when all of the file system's targets answer",
		day14+":4: lfs could not read all of it | list again when all of the file system's targets answer")
	f(hard, "Disk quotas for prj 1 (pid 1):\n"+header+"/l 1 0 2 - 1 0 0 -\nlustre-MDT0000_UUID\n 1 - 0 - 1 - 0 -\n",
		day14+`:4: "lustre-MDT0000_UUID" is a part of the file system, not a quota | list without -v`,
		day14+`:5: "1 - 0 - 1 - 0 -" is no row of lfs quota | `+remedyNotListing)
	f(hard, chem+chem, day14+":6: project 1001 on /lustre stands on line 3 already | list each once")
	f(hard, strings.Replace(chem, "/lustre", ".", 1), day14+`:3: filesystem: "." is a path from where somebody stood | list it by its full path, or write  filesystem: NAME  for this source`)
	f(hard, strings.Replace(chem, "4194304", "99999999999999999", 1), day14+":3: hard limit: 99999999999999999 is more than can be stored | ")
}

func TestXfsReport(t *testing.T) {
	f := func(layout Layout, text string, want ...string) {
		t.Helper()
		layout.Format = XfsReport
		require.Equal(t, want, listed(day14, layout, text))
	}
	hard := Layout{Quota: "hard"}
	const ruler = "---------- -------------------------------------------------- \n"
	const project = "Project quota on /data (/dev/mapper/vg0-data)\n                               Blocks                     \nProject ID       Used       Soft       Hard    Warn/Grace     \n" + ruler
	rows := "#0                  8          0          0     00 [--------]\nchem            15360      10240      20480     00  [6 days]\n\n"
	f(hard, project+rows, "5 2026-03-14 /data project #0 -1 8192", "6 2026-03-14 /data project chem 20971520 15728640")
	f(Layout{Quota: "soft"}, project+rows, "5 2026-03-14 /data project #0 -1 8192", "6 2026-03-14 /data project chem 10485760 15728640")
	// Blocks and inodes.
	f(hard, "Group quota on /h (/dev/sda1)\n                 Blocks              Inodes\nGroup ID Used Soft Hard Warn/Grace Used Soft Hard Warn/ Grace\n"+ruler+"g 4 0 8 00 [-none-] 2 0 0 00 [--------]\n",
		"5 2026-03-14 /h group g 8192 4096")
	user := "User quota on /data (/dev/sdb)\n Blocks\nUser ID Used Soft Hard Warn/Grace\n" + ruler + "root 4 0 0 00 [--------]\n\n"
	f(hard, user+project+rows, day14+":11: the listing shows the same bytes by user and by project | say which counts: write  of: user  or  of: project  for this source")
	f(Layout{Quota: "hard", Of: "user"}, user+project+rows, "5 2026-03-14 /data user root -1 4096")

	f(hard, project, day14+": the listing has no rows | "+remedyEmptyListing)
	f(hard, "Project quota on /data (/dev/sdb)\n", day14+":1: the report of /data ends before its rows | "+remedyCutListing)
	f(hard, project+"chem 1.2G 3.5G 4.0G 00 [--------]\n",
		day14+`:5: Used: "1.2G" is rounded to be read by people | `+remedyXfs, day14+`:5: hard limit: "4.0G" is rounded to be read by people | `+remedyXfs)
	f(hard, "chem 1 2 3 00 [--------]\n", day14+`:1: "chem 1 2 3 00 [--------]" comes before any quota | `+remedyXfs)
	f(hard, "Project quota on /d (/dev/x)\n Inodes\n", day14+":2: the report is of files, not of blocks | "+remedyXfs)
	f(hard, project+"chem 15360 10240\n", day14+`:5: "chem 15360 10240" is no row of xfs_quota's report | `+remedyNotListing)
	f(hard, "xfs_quota: cannot find mount point for path `/data': No such file or directory\n",
		day14+":1: \"xfs_quota: cannot find mount point for path `/data': No such\" comes before any quota | "+remedyXfs)
}

func TestZfsGet(t *testing.T) {
	f := func(layout Layout, text string, want ...string) {
		t.Helper()
		layout.Format = ZfsGet
		require.Equal(t, want, listed(day14, layout, text))
	}
	d := Layout{}
	pool := "tank/projects\tquota\t0\tdefault\ntank/projects\tused\t900\t-\n"
	chem := "tank/projects/chem\tquota\t5497558138880\tlocal\ntank/projects/chem\tused\t500\t-\ntank/projects/chem@daily\tused\t7\t-\n"
	f(d, pool+chem+"tank/projects/bio\tquota\tnone\ntank/projects/bio\tused\t0\n",
		"3 2026-03-14 tank/projects dataset chem 5497558138880 500", "6 2026-03-14 tank/projects dataset bio -1 0")
	f(d, chem, "1 2026-03-14 tank/projects dataset chem 5497558138880 500")
	f(Layout{Quota: "refquota", Used: "referenced"}, "t/a\trefquota\t8\tlocal\nt/a\treferenced\t7\t-\nt/a\tused\t9\t-\n", "1 2026-03-14 t dataset a 8 7")
	f(Layout{Quota: NoQuotas}, "t/a\tused\t9\t-\n", "1 2026-03-14 t dataset a -1 9")

	f(d, "tank/a\tquota\t10T\tlocal\ntank/a\tused\t1\t-\n", day14+`:1: quota: "10T" is rounded to be read by people | `+remedyZfs)
	f(d, "tank/a\tquota\t10\tlocal\n", day14+":1: used: is not listed of tank/a | "+remedyZfs)
	f(d, "tank/a\tused\t10\t-\n", day14+":1: quota: is not listed of tank/a | "+remedyZfs)
	f(d, "tank/a\tquota\t1\ntank/a\tused\t-\n", day14+`:1: used: "-" is not a number | `+remedyNotListing)
	f(d, "NAME PROPERTY VALUE SOURCE\n", day14+`:1: "NAME PROPERTY VALUE SOURCE" is no row of zfs get -H | `+remedyZfs)
	f(d, "cannot open 'tank/x': dataset does not exist\n", day14+`:1: "cannot open 'tank/x': dataset does not exist" is no row of zfs get -H | `+remedyNotListing)
	f(d, pool+chem+"tank/projects/chem/sub\tquota\t1\t-\ntank/projects/chem/sub\tused\t1\t-\n",
		day14+":3: tank/projects/chem lies in tank/projects and has datasets in it: what they use would be counted twice | "+remedyZfs)
	f(d, "t/a\tquota\t1\nt/a\tquota\t1\nt/a\tused\t1\n", day14+":2: quota: quota was given for t/a already | list each once")
}

func TestXdmodJSON(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	f := func(layout Layout, text string, want ...string) {
		t.Helper()
		layout.Format, layout.Zone = XdmodJSON, berlin
		require.Equal(t, want, listed("xdmod.json", layout, text))
	}
	user := Layout{Of: "user", Quota: "soft", Used: "logical"}
	pi := Layout{Of: "pi", Quota: "hard", Used: "physical"}
	const record = `{"resource": "torx", "mountpoint": "/projects", "pi": "p1", "user": "u1", "dt": "2025-12-27T23:12:58Z",
		"soft_threshold": 25000001536000, "hard_threshold": 30000000000000, "logical_usage": 4, "physical_usage": 9, "file_count": 1}`
	other := strings.NewReplacer(`"u1"`, `"u2"`, ": 4", ": 5").Replace(record)
	// 23:12 in Greenwich is the next day in Berlin.
	f(user, "[\n"+record+"\n]", "2 2025-12-28 torx/projects user p1/u1 25000001536000 4")
	f(user, "[\n"+record+",\n"+other+"]\n", "2 2025-12-28 torx/projects user p1/u1 25000001536000 4", "4 2025-12-28 torx/projects user p1/u2 25000001536000 5")
	f(pi, "["+record+","+other+"]", "1 2025-12-28 torx/projects pi p1 30000000000000 18")
	f(pi, "["+record+",\n"+strings.Replace(other, "30000000000000", "7", 1)+"]",
		"xdmod.json:3: hard_threshold: the quota of p1 on torx/projects is not that of line 1 | write  of: user  where each record has a quota of its own")
	f(user, "["+strings.Replace(record, "25000001536000", "0", 1)+"]", "1 2025-12-28 torx/projects user p1/u1 -1 4")
	f(user, "["+strings.Replace(record, "25000001536000", "null", 1)+"]", "1 2025-12-28 torx/projects user p1/u1 -1 4")

	f(user, "", "xdmod.json: the listing is empty | "+remedyEmptyListing)
	f(user, "[]", "xdmod.json: the listing has no rows | "+remedyEmptyListing)
	f(user, "{}", "xdmod.json:1: the listing is no array of records | "+remedyXdmod)
	f(user, "ERROR: no answer", "xdmod.json:1: the listing is no array of records | "+remedyXdmod)
	f(user, "["+record+",", "xdmod.json:2: the records are cut off | "+remedyCutListing)
	f(user, "["+record, "xdmod.json:2: the records are cut off | "+remedyCutListing)
	f(user, "["+record+"] x", "xdmod.json:2: something follows the records | "+remedyNotListing)
	f(user, "["+strings.Replace(record, "soft_threshold", "soft_treshold", 1)+"]",
		"xdmod.json:1: soft_treshold: unknown key | the keys are "+strings.Join(xdmodKeys, ", "))
	f(user, "["+strings.Replace(record, `"logical_usage": 4, `, "", 1)+"]",
		"xdmod.json:1: logical_usage: is missing | name under used: the use that the listing has, logical or physical")
	f(user, "["+strings.Replace(record, "25000001536000", "2.5e13", 1)+"]", `xdmod.json:1: soft_threshold: "2.5e13" is not a number | `+remedyNotListing)
	f(user, "["+strings.Replace(record, "2025-12-27T23:12:58Z", "yesterday", 1)+"]", `xdmod.json:1: dt: "yesterday" is no time | write a time such as 2026-03-14T02:00:00Z`)
	f(user, "["+strings.Replace(record, `"u1"`, `""`, 1)+"]", "xdmod.json:1: user: is missing or no text | "+remedyXdmod)
}

func TestTable(t *testing.T) {
	f := func(layout Layout, text string, want ...string) {
		t.Helper()
		layout.Format = Table
		require.Equal(t, want, listed(day14, layout, text))
	}
	layout := func(c TableColumns) Layout { return Layout{Columns: c} }
	// By number, parted by blanks.
	f(layout(TableColumns{Name: "1", Filesystem: "2", Quota: "3", Used: "4", Unit: "GiB"}), "chem /data 10 2.5\n\nbio /data - 0\n",
		"1 2026-03-14 /data chem 10737418240 2684354560", "3 2026-03-14 /data bio -1 0")
	// By header, CSV with quotes, a day in each row, each size with its unit.
	f(layout(TableColumns{Delimiter: ",", Skip: 1, Name: "Project", Filesystem: "FS", Quota: "Quota", Used: "Used", Day: "When"}),
		"made by hand\nWhen,Project,FS,Used,Quota,Note\n2026-03-02,\"chem, a\",/d,1 TB,2 TiB,\"x \"\"y\"\"\"\n2026-03-03T23:00:00Z,\"chem, a\",/d,500 GB,none,\n",
		"3 2026-03-02 /d chem, a 2199023255552 1000000000000", "4 2026-03-03 /d chem, a -1 500000000000")
	// Spectrum Scale: mmrepquota -Y, in KiB.
	gpfs := "mmrepquota::HEADER:version:reserved:reserved:filesystemName:quotaType:id:name:blockUsage:blockQuota:blockLimit:\n" +
		"mmrepquota::0:1:::gpfs1:USR:0:root:12:0:0:\nmmrepquota::0:1:::gpfs1:FILESET:4:chem:1024:2048:4096:\n"
	scale := layout(TableColumns{Delimiter: ":", Name: "name", Kind: "quotaType", Filesystem: "filesystemName", Quota: "blockQuota", Used: "blockUsage", Unit: "KiB", None: []string{"0"}})
	f(scale, gpfs, day14+":3: the listing shows the same bytes by USR and by FILESET | say which counts: write  of: USR  or  of: FILESET  for this source")
	scale.Of = "FILESET"
	f(scale, gpfs, "3 2026-03-14 gpfs1 FILESET chem 2097152 1048576")
	f(layout(TableColumns{Name: "1", Filesystem: "2", Used: "3", Blocks: 512}), "a /d 3\n", "1 2026-03-14 /d a -1 1536")

	one := layout(TableColumns{Name: "1", Filesystem: "2", Quota: "3", Unit: "TB"})
	f(one, "a /d 0\n", day14+`:1: quota: 0 may be no quota, or a quota of nothing | say what 0 means: write  none: ["0"]  where it is no quota; a quota of nothing belongs into storage.csv`)
	f(one, "a /d 10T\n", day14+`:1: quota: "TTB" is not a unit of storage | write under unit: what the numbers are in`)
	f(one, "a /d\n", day14+":1: quota: there is no column 3 | correct the number under columns:")
	f(one, "a /d 1\nb /d\n", day14+":2: the row has 2 cells where others have 3 | "+remedyNotListing)
	f(one, "a /d 1\nerror: b: timed out\n", day14+":2: the row has 4 cells where others have 3 | "+remedyNotListing)
	f(layout(TableColumns{Name: "1", Quota: "2", Filesystem: "3"}), "a 10 /d\n", day14+`:1: quota: "10" has no unit, and none is declared | write  unit: KiB  or whatever the numbers are in`)
	f(layout(TableColumns{Name: "1", Quota: "2", Unit: "TB"}), "a 10\n", day14+":1: filesystem: the listing does not say which file system this is | write  filesystem: NAME  for this source")
	f(layout(TableColumns{Delimiter: ",", Name: "Project", Used: "Used", Unit: "B"}), "Projects,Used\n", day14+":1: Project: the header has no such column | the columns here are Projects, Used")
	f(layout(TableColumns{Delimiter: ",", Name: "Project", Used: "Used", Unit: "B"}), "Project,Used\n", day14+": the listing has no rows | "+remedyEmptyListing)
	f(layout(TableColumns{Delimiter: ",", Name: "1", Filesystem: "2", Used: "3", Unit: "B"}), "\"a,b\n", day14+`:1: the line is not CSV: "\"a,b" | put a text that holds quotes in quotes, and double them`)
	f(layout(TableColumns{Name: "1", Filesystem: "2", Used: "3", Unit: "PiB"}), "a /d 1100\n", day14+":1: what is used comes to more than an exbibyte | look at the unit that is declared, and at the columns")
}

// The day of a listing is in its name, or declared.
func TestListingDay(t *testing.T) {
	layout := Layout{Format: Table, Columns: TableColumns{Name: "1", Filesystem: "2", Used: "3", Unit: "B"}}
	f := func(name, want string) {
		t.Helper()
		got := listed(name, layout, "a /d 1\n")[0]
		if i := strings.Index(got, " | "); i >= 0 {
			require.Equal(t, remedyDay, got[i+3:])
			got = got[:i]
		}
		require.Equal(t, want, got)
	}
	f("q/2026-03-14.txt", "1 2026-03-14 /d a -1 1")
	f("q/lustre_20260314T0200.gz", "1 2026-03-14 /d a -1 1")
	f("q/20260314020000", "1 2026-03-14 /d a -1 1")
	f("q/2026/03/14/lustre", "1 2026-03-14 /d a -1 1")
	f("2025-01-01/quota-2026-03-14", "1 2026-03-14 /d a -1 1")
	f("q/listing.txt", "q/listing.txt: there is no day in the file's name, and the listing does not say it")
	f("q/2026-13-45.txt", "q/2026-13-45.txt: there is no day in the file's name, and the listing does not say it")
	f("q/2026-03-14_2026-03-15", "q/2026-03-14_2026-03-15: there are several days in the file's name")
	layout.Day = Date{2026, 1, 2}
	f("q/2026-03-14.txt", "1 2026-01-02 /d a -1 1")
}

func TestListingPacked(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte("a /d 1\n"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	layout := Layout{Format: Table, Columns: TableColumns{Name: "1", Filesystem: "2", Used: "3", Unit: "B"}}
	l, err := ReadListing("2026-03-14.gz", &b, &layout)
	require.NoError(t, err)
	require.Len(t, l.Rows, 1)
	_, err = ReadListing("2026-03-14.gz", bytes.NewReader([]byte("\x1f\x8b\x08\x00\x00")), &layout)
	require.ErrorContains(t, err, "2026-03-14.gz: the gzip stream is cut off")
}

func FuzzListing(f *testing.F) {
	for _, seed := range []string{
		"Disk quotas for prj 1 (pid 1):\n Filesystem kbytes quota limit grace files quota limit grace\n/l 1* 0 2 - 1 0 0 -\n",
		"Project quota on /d (/dev/x)\n Blocks\nProject ID Used Soft Hard Warn/Grace\n--- ---\nchem 1 2 3 00 [6 days]\n",
		"t/a\tquota\t1\tlocal\nt/a\tused\t1\t-\n",
		`[{"resource":"r","mountpoint":"/m","pi":"p","user":"u","dt":"2026-03-14T00:00:00Z","hard_threshold":5,"logical_usage":4}]`,
		"chem /data 10 2.5\n",
	} {
		for i := range ListingFormats() {
			f.Add(uint8(i), seed)
		}
	}
	f.Fuzz(func(t *testing.T, format uint8, text string) {
		formats := ListingFormats()
		layout := Layout{Format: formats[int(format)%len(formats)], Quota: "hard", Used: "logical", Of: "",
			Columns: TableColumns{Name: "1", Filesystem: "2", Quota: "3", Used: "4", Unit: "KiB"}}
		switch layout.Format {
		case XdmodJSON:
			layout.Of = "user"
		case ZfsGet:
			layout.Quota, layout.Used = "", ""
		}
		l, err := ReadListing(day14, strings.NewReader(text), &layout)
		if (err == nil) == (l == nil) {
			t.Fatalf("listing %v and error %v", l, err)
		}
		if err != nil {
			return
		}
		if len(l.Rows) == 0 {
			t.Fatal("a listing of nothing")
		}
		for _, r := range l.Rows {
			if r.Name == "" || r.Filesystem == "" || r.Day.IsZero() || r.QuotaBytes < Unknown || r.QuotaBytes == 0 || r.UsedBytes < Unknown ||
				r.Line < 1 || r.Line > int64(strings.Count(text, "\n"))+1 {
				t.Fatalf("%+v", r)
			}
		}
	})
}
