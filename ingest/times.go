package ingest

import "time"

// stampForms are the ways in which times are written in one dump.
type stampForms uint8

const (
	formLocal stampForms = 1 << iota
	formOffset
	formEpoch
)

// stamp is one time as read. later is the second reading of a local time in
// the hour that a clock change repeats, else None.
type stamp struct {
	at, later Instant
	leap      bool
}

const (
	// Times before this are a zero or a sentinel in some zone, not a job.
	firstInstant = 3 * secondsPerDay
	// There was no Slurm before 2000, and its own times end with 32 bits: a
	// number outside is another way to write a time, such as 20250303.
	firstJob, lastJob = 946684800, 4294967293
)

// clock turns the local times of one zone into instants. It is not safe for
// concurrent use.
type clock struct {
	zone     *time.Location
	fixed    bool // the zone is UTC
	days     [256]clockDay
	forms    stampForms
	lastBase int64 // of the last date text
	lastText string
}

// clockDay is what the zone does on one local day.
type clockDay struct {
	day    int64 // since 1970, +1 so that the zero value is no day
	offset int64 // seconds east of UTC
	plain  bool  // one offset holds all day and the days around it
}

func newClock(zone *time.Location) *clock {
	if zone == nil {
		zone = time.UTC
	}
	return &clock{zone: zone, fixed: zone == time.UTC}
}

// parse reads one date cell. Unknown, None, N/A, 0 and the empty cell are the
// absent stamp.
func (c *clock) parse(s string) (stamp, bool) {
	if len(s) == 19 && isStamp(s) {
		return c.local(s)
	}
	return c.other(s)
}

// local reads YYYY-MM-DDTHH:MM:SS; isStamp must hold.
func (c *clock) local(s string) (stamp, bool) {
	base, ok := c.dayOf(s)
	h, m, x := twoDigits(s, 11), twoDigits(s, 14), twoDigits(s, 17)
	if !ok || h > 23 || m > 59 || x > 60 {
		return stamp{}, false
	}
	c.forms |= formLocal
	t := base*secondsPerDay + int64(h*3600+m*60+x)
	if c.fixed {
		return finish(stamp{at: Instant(t), leap: x == 60})
	}
	d := &c.days[uint64(base)%uint64(len(c.days))]
	if d.day != base+1 {
		*d = c.day(base)
	}
	if d.plain {
		return finish(stamp{at: Instant(t - d.offset), leap: x == 60})
	}
	return c.changing(t, x == 60)
}

// The punctuation of YYYY-MM-DDTHH:MM:SS, exclusive-ored so that it becomes
// the digit 0, in the words at 0, 8 and 11.
const (
	stampMask0  = 0x1d00001d << 32
	stampMask8  = 0x0a<<40 | 0x64<<16
	stampMask11 = 0x0a<<40 | 0x0a<<16
)

// isStamp reports whether s begins with YYYY-MM-DDTHH:MM:SS, all places
// digits.
func isStamp(s string) bool {
	return allDigits(load64(s, 0)^stampMask0) && allDigits(load64(s, 8)^stampMask8) && allDigits(load64(s, 11)^stampMask11)
}

// allDigits reports whether the eight bytes are '0' to '9'.
func allDigits(word uint64) bool {
	const high, six, zeros = 0xf0f0f0f0f0f0f0f0, 0x0606060606060606, 0x3030303030303030
	return word&high == zeros && (word+six)&high == zeros
}

// dayOf returns the days since 1970 of the date at the head of s.
func (c *clock) dayOf(s string) (int64, bool) {
	if len(c.lastText) == 10 && c.lastText == s[:10] {
		return c.lastBase, true
	}
	y, mo, da := twoDigits(s, 0)*100+twoDigits(s, 2), twoDigits(s, 5), twoDigits(s, 8)
	if mo < 1 || mo > 12 || da < 1 || da > daysIn(y, mo) {
		return 0, false
	}
	c.lastText, c.lastBase = s[:10], daysFromCivil(y, mo, da)
	return c.lastBase, true
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// daysFromCivil counts the days from 1970-01-01 in the Gregorian calendar,
// with years that begin in March so that the leap day is a year's last.
func daysFromCivil(y, m, d int) int64 {
	if m <= 2 {
		y--
		m += 12
	}
	era := y / 400
	yearOfEra := y - era*400
	dayOfYear := (153*(m-3)+2)/5 + d - 1
	dayOfEra := yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear
	return int64(era)*146097 + int64(dayOfEra) - 719468
}

// day asks the zone for its offset a day before and two days after the start
// of the local day: where they agree, no change of the clocks is near.
func (c *clock) day(day int64) clockDay {
	before, after := c.offset((day-1)*secondsPerDay), c.offset((day+2)*secondsPerDay)
	middle := c.offset(day*secondsPerDay + secondsPerDay/2 - before)
	return clockDay{day: day + 1, offset: before, plain: before == after && before == middle}
}

func (c *clock) offset(unix int64) int64 {
	_, offset := time.Unix(unix, 0).In(c.zone).Zone()
	return int64(offset)
}

// changing reads the local time t, seconds since 1970 as if UTC, near a
// change of the clocks: it may have two readings, or none.
func (c *clock) changing(t int64, leap bool) (stamp, bool) {
	var found [2]int64
	n := 0
	for _, near := range [...]int64{t - secondsPerDay, t, t + secondsPerDay} {
		at := t - c.offset(near)
		if c.offset(at) != t-at || (n > 0 && found[0] == at) || n == 2 {
			continue
		}
		found[n] = at
		n++
	}
	switch n {
	case 0:
		return stamp{}, false
	case 1:
		return finish(stamp{at: Instant(found[0]), leap: leap})
	}
	first, second := min(found[0], found[1]), max(found[0], found[1])
	return stamp{at: Instant(first), later: Instant(second), leap: leap}, true
}

// twoDigits reads the two digits at s[i].
func twoDigits(s string, i int) int { return int(s[i]-'0')*10 + int(s[i+1]-'0') }

// finish takes what is near 1970 for no time, and refuses what cannot be a
// job's.
func finish(s stamp) (stamp, bool) {
	if s.at >= firstJob && s.at <= lastJob {
		return s, true
	}
	return stamp{}, s.at < firstInstant
}

// other reads what is not a plain local time: the words for nothing, seconds
// since 1970, and local times with an offset.
func (c *clock) other(s string) (stamp, bool) {
	switch s {
	case "Unknown", "None", "N/A", "", "0":
		return stamp{}, true
	}
	if v, ok := parseDigits(s); ok {
		c.forms |= formEpoch
		if v == 4294967294 || v == 4294967295 {
			return stamp{}, true
		}
		return finish(stamp{at: Instant(v)})
	}
	if len(s) < 19 || (s[10] != 'T' && s[10] != ' ') {
		return stamp{}, false
	}
	text := s[:10] + "T" + s[11:19]
	if !isStamp(text) {
		return stamp{}, false
	}
	if len(s) == 19 {
		return c.local(text)
	}
	offset, ok := parseOffset(s[19:])
	if !ok {
		return stamp{}, false
	}
	utc := clock{fixed: true}
	at, ok := utc.local(text)
	if !ok || at.at == None {
		return stamp{}, ok
	}
	c.forms |= formOffset
	at.at -= Instant(offset)
	return finish(at)
}

// parseOffset reads Z, +0100, +01:00 and +01 into seconds east of UTC.
func parseOffset(s string) (int64, bool) {
	if s == "Z" {
		return 0, true
	}
	sign := int64(1)
	switch s[0] {
	case '-':
		sign = -1
	case '+':
	default:
		return 0, false
	}
	digits := s[1:]
	if len(digits) == 5 && digits[2] == ':' {
		digits = digits[:2] + digits[3:]
	}
	if len(digits) != 2 && len(digits) != 4 {
		return 0, false
	}
	h, m := two(digits, 0), 0
	if len(digits) == 4 {
		m = two(digits, 2)
	}
	if h < 0 || m < 0 || h > 15 || m > 59 {
		return 0, false
	}
	return sign * int64(h*3600+m*60), true
}
