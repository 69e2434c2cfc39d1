package ingest

import "strings"

// field is one of the columns that a Job is made from.
type field uint8

const (
	fieldNone field = iota
	fieldJobID
	fieldJobIDRaw
	fieldDBIndex
	fieldSLUID
	fieldCluster
	fieldAccount
	fieldUser
	fieldUID
	fieldPartition
	fieldQoS
	fieldWCKey
	fieldReservation
	fieldState
	fieldSubmit
	fieldEligible
	fieldStart
	fieldEnd
	fieldElapsed
	fieldElapsedRaw
	fieldSuspended
	fieldPlanned
	fieldTimelimit
	fieldTimelimitRaw
	fieldNNodes
	fieldAllocCPUs
	fieldReqCPUs
	fieldReqMem
	fieldReqTRES
	fieldAllocTRES
	fieldCPUTimeRaw
	fieldNodeList
	fieldJobName
	fieldCount
)

// shape is what the text of a column's cells can look like. It serves to tell
// whether the cells of a line are in their columns.
type shape uint8

const (
	shapeKey      shape = iota // a name or a list of names: one line, no more is known
	shapeFree                  // a user's text: anything, delimiters and new lines too
	shapeJobID                 // 812, 903_7, 600+1, 812.batch
	shapeInteger               // digits, or empty
	shapeDate                  // §3.2 of sacct's formats
	shapeDuration              // [D-]HH:MM:SS, or empty
	shapeLimit                 // a duration, minutes, or a word
	shapeState                 // words in capitals
	shapeTRES                  // key=value,…, or empty
	shapeSize                  // 16G, 4000Mc, or empty
	shapeExit                  // 0:0, or empty
	shapeEmpty                 // the cell after the last delimiter of -p
)

// column is one column of a dump.
type column struct {
	name  string // as the header spells it
	field field
	shape shape
}

// sacctColumns are the columns of sacct from 15.08 to 26.05 by their names in
// lower case.
var sacctColumns = makeSacctColumns()

func makeSacctColumns() map[string]column {
	all := map[string]column{}
	put := func(s shape, names string) {
		for _, name := range strings.Fields(names) {
			all[strings.ToLower(name)] = column{name: name, shape: s}
		}
	}
	put(shapeKey, `Account AllocGRES AllocNodes AveCPU AveCPUFreq AveDiskRead AveDiskWrite AvePages AveRSS
		AveVMSize BlockID Cluster ConsumedEnergy Exclusive FailedNode Flags Group Layout MaxDiskRead MaxDiskReadNode
		MaxDiskWrite MaxDiskWriteNode MaxPages MaxPagesNode MaxRSS MaxRSSNode MaxVMSize MaxVMSizeNode McsLabel
		MinCPU MinCPUNode NodeList OriginalSLUID OverSubscribe Partition QOS QOSREQ Reason ReqCPUFreq ReqCPUFreqGov
		ReqCPUFreqMax ReqCPUFreqMin ReqGRES ReqNodes ReqReservation Reservation SLUID SystemCPU TotalCPU
		TRESUsageInAve TRESUsageInMax TRESUsageInMaxNode TRESUsageInMaxTask TRESUsageInMin TRESUsageInMinNode
		TRESUsageInMinTask TRESUsageInTot TRESUsageOutAve TRESUsageOutMax TRESUsageOutMaxNode TRESUsageOutMaxTask
		TRESUsageOutMin TRESUsageOutMinNode TRESUsageOutMinTask TRESUsageOutTot User UserCPU`)
	put(shapeFree, `AdminComment Comment Constraints Container Extra JobName Licenses StdErr StdIn StdOut
		SubmitLine SystemComment WCKey WorkDir`)
	put(shapeInteger, `AllocCPUS AssocID ConsumedEnergyRaw CPUTimeRAW DBIndex ElapsedRaw GID MaxDiskReadTask
		MaxDiskWriteTask MaxPagesTask MaxRSSTask MaxVMSizeTask MinCPUTask NCPUS NNodes NTasks PlannedCPURAW
		Priority QOSRAW ReqCPUS ReservationId Restarts ResvCPURAW SegmentSize UID WCKeyID`)
	put(shapeDuration, `CPUTime Elapsed Planned PlannedCPU Reserved ResvCPU Suspended`)
	put(shapeDate, `Eligible End Start Submit`)
	put(shapeLimit, `Timelimit TimelimitRaw`)
	put(shapeJobID, `JobID JobIDRaw`)
	put(shapeTRES, `AllocTRES ReqTRES`)
	put(shapeSize, `ReqMem`)
	put(shapeExit, `DerivedExitCode ExitCode`)
	put(shapeState, `State`)
	for name, f := range map[string]field{
		"jobid": fieldJobID, "jobidraw": fieldJobIDRaw, "dbindex": fieldDBIndex, "sluid": fieldSLUID,
		"cluster": fieldCluster, "account": fieldAccount, "user": fieldUser, "uid": fieldUID,
		"partition": fieldPartition, "qos": fieldQoS, "wckey": fieldWCKey, "reservation": fieldReservation,
		"state": fieldState, "submit": fieldSubmit, "eligible": fieldEligible, "start": fieldStart, "end": fieldEnd,
		"elapsed": fieldElapsed, "elapsedraw": fieldElapsedRaw, "suspended": fieldSuspended, "planned": fieldPlanned, "reserved": fieldPlanned,
		"timelimit": fieldTimelimit, "timelimitraw": fieldTimelimitRaw, "nnodes": fieldNNodes,
		"alloccpus": fieldAllocCPUs, "ncpus": fieldAllocCPUs, "reqcpus": fieldReqCPUs, "reqmem": fieldReqMem,
		"reqtres": fieldReqTRES, "alloctres": fieldAllocTRES, "cputimeraw": fieldCPUTimeRaw,
		"nodelist": fieldNodeList, "jobname": fieldJobName,
	} {
		c := all[name]
		c.field = f
		all[name] = c
	}
	return all
}

// namedLayouts are the columns of well-known exports without a header.
var namedLayouts = map[string]string{
	"xdmod": `JobID JobIDRaw Cluster Partition QOS Account Group GID User UID Submit Eligible Start End Elapsed
		ExitCode State NNodes NCPUS ReqCPUS ReqMem ReqTRES AllocTRES Timelimit NodeList JobName`,
	"xdmod-no-qos": `JobID JobIDRaw Cluster Partition Account Group GID User UID Submit Eligible Start End Elapsed
		ExitCode State NNodes NCPUS ReqCPUS ReqMem ReqTRES AllocTRES Timelimit NodeList JobName`,
	"xdmod-reqgres": `JobID JobIDRaw Cluster Partition QOS Account Group GID User UID Submit Eligible Start End Elapsed
		ExitCode State NNodes NCPUS ReqCPUS ReqMem ReqGRES ReqTRES Timelimit NodeList JobName`,
}

// fits reports whether a cell can stand in a column of this shape. It is
// loose: what it lets through may still be no value.
func (s shape) fits(cell string) bool {
	switch s {
	case shapeFree:
		return true
	case shapeKey:
		return strings.IndexByte(cell, '\n') < 0
	case shapeEmpty:
		return cell == ""
	case shapeJobID:
		return jobIDFormOf(cell) != notJobID
	case shapeState:
		return cell != "" && strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZ?", cell[0]) >= 0 &&
			madeOf(cell, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_+?- by0123456789")
	case shapeInteger:
		return madeOf(cell, "0123456789?-")
	case shapeDate:
		return isDateLike(cell)
	case shapeDuration:
		return madeOf(cell, "0123456789:-.")
	case shapeLimit:
		return cell == "UNLIMITED" || cell == "Partition_Limit" || cell == "INVALID" || madeOf(cell, "0123456789:-.")
	case shapeTRES:
		return isTRESLike(cell)
	case shapeSize:
		return madeOf(cell, "0123456789.KMGTPEcn?")
	case shapeExit:
		return madeOf(cell, "0123456789:")
	}
	panic("BUG: shape without a rule")
}

func madeOf(s, chars string) bool {
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(chars, s[i]) < 0 {
			return false
		}
	}
	return true
}

func isDateLike(s string) bool {
	switch s {
	case "Unknown", "None", "N/A", "":
		return true
	}
	if len(s) >= 19 {
		return s[4] == '-' && madeOf(s, "0123456789-:+TZ ")
	}
	return madeOf(s, "0123456789")
}

func isTRESLike(s string) bool {
	for rest := s; rest != ""; {
		var item string
		item, rest = cutComma(rest)
		key, value, ok := strings.Cut(item, "=")
		if !ok || key == "" || value == "" || strings.ContainsAny(key, " \t\n") || strings.ContainsAny(value, " \t\n") {
			return false
		}
	}
	return true
}
