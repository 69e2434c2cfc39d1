package ingest

// The largest number of seconds that Slurm's 32-bit counters hold; the two
// above it mean "no value" and "infinite", and a text beyond is a no-value
// printed as a time.
const maxElapsedSeconds = 4294967293

const secondsPerDay = 86400

// parseDuration reads a span of time as sacct prints it: [D-]HH:MM:SS,
// MM:SS and MM:SS.mmm, D-HH and D-HH:MM. It is not for time limits, where a
// bare number is minutes. The result is seconds and thousandths; ok is false
// for anything else, negative spans and out-of-range parts included.
func parseDuration(s string) (seconds int64, milli int, ok bool) {
	if len(s) == 8 && s[2] == ':' && s[5] == ':' { // HH:MM:SS, by far the most
		h, m, x := two(s, 0), two(s, 3), two(s, 6)
		if h < 0 || m < 0 || x < 0 || m > 59 || x > 59 {
			return 0, 0, false
		}
		return int64(h*3600 + m*60 + x), 0, true
	}
	return parseLongDuration(s)
}

func parseLongDuration(s string) (seconds int64, milli int, ok bool) {
	days, rest, hasDays := int64(0), s, false
	for i := 0; i < len(s); i++ {
		if s[i] == '-' {
			if days, ok = parseDigits(s[:i]); !ok {
				return 0, 0, false
			}
			rest, hasDays = s[i+1:], true
			break
		}
	}
	parts, n, fraction, ok := clockParts(rest)
	if !ok {
		return 0, 0, false
	}
	var h, m, x int64
	switch {
	case n == 3:
		h, m, x = parts[0], parts[1], parts[2]
	case hasDays && fraction == "":
		h, m = parts[0], parts[1] // D-HH, D-HH:MM
	case n == 2:
		m, x = parts[0], parts[1]
	default:
		return 0, 0, false
	}
	if m > 59 || x > 59 || (hasDays && h > 23) || days > maxElapsedSeconds || h > maxElapsedSeconds {
		return 0, 0, false
	}
	if milli, ok = thousandths(fraction); !ok {
		return 0, 0, false
	}
	seconds = days*secondsPerDay + h*3600 + m*60 + x
	return seconds, milli, seconds <= maxElapsedSeconds
}

// clockParts splits "1:02:03.456" into its numbers and the digits after the
// point. The minutes and seconds have two digits each, the first part any.
func clockParts(s string) (parts [3]int64, n int, fraction string, ok bool) {
	for i := 0; i < len(s); i++ {
		if s[i] == '.' {
			s, fraction = s[:i], s[i+1:]
			if fraction == "" {
				return parts, 0, "", false
			}
			break
		}
	}
	for start, i := 0, 0; i <= len(s); i++ {
		if i < len(s) && s[i] != ':' {
			continue
		}
		if n == 3 || (n > 0 && i-start != 2) {
			return parts, 0, "", false
		}
		if parts[n], ok = parseDigits(s[start:i]); !ok {
			return parts, 0, "", false
		}
		n++
		start = i + 1
	}
	return parts, n, fraction, true
}

func thousandths(digits string) (int, bool) {
	if digits == "" {
		return 0, true
	}
	if len(digits) > 3 {
		return 0, false
	}
	v, ok := parseDigits(digits)
	for i := len(digits); i < 3; i++ {
		v *= 10
	}
	return int(v), ok
}

// parseDigits reads 1 to 18 decimal digits and nothing else.
func parseDigits(s string) (int64, bool) {
	if len(s) == 0 || len(s) > 18 {
		return 0, false
	}
	v := int64(0)
	for i := 0; i < len(s); i++ {
		d := s[i] - '0'
		if d > 9 {
			return 0, false
		}
		v = v*10 + int64(d)
	}
	return v, true
}

// parseUint64 reads the decimal digits of a 64-bit number.
func parseUint64(s string) (uint64, bool) {
	if len(s) <= 18 {
		v, ok := parseDigits(s)
		return uint64(v), ok
	}
	if len(s) > 20 {
		return 0, false
	}
	v := uint64(0)
	for i := 0; i < len(s); i++ {
		d := uint64(s[i] - '0')
		if d > 9 || v > (1<<64-1-d)/10 {
			return 0, false
		}
		v = v*10 + d
	}
	return v, true
}

// two reads two digits at s[i], or returns -1.
func two(s string, i int) int {
	a, b := s[i]-'0', s[i+1]-'0'
	if a > 9 || b > 9 {
		return -1
	}
	return int(a)*10 + int(b)
}

// parseTimelimit reads Timelimit into seconds. What is no number is Unknown,
// never a fault: a limit is not billed.
func parseTimelimit(s string) int64 {
	switch s {
	case "", "Partition_Limit", "INVALID":
		return Unknown
	case "UNLIMITED":
		return NoLimit
	}
	seconds, milli, ok := parseDuration(s)
	if !ok || milli != 0 {
		return Unknown
	}
	return seconds
}

// parseTimelimitRaw reads TimelimitRaw, whole minutes, into seconds.
func parseTimelimitRaw(s string) int64 {
	if s == "UNLIMITED" {
		return NoLimit
	}
	minutes, ok := parseDigits(s)
	if !ok || minutes == 0 || minutes > maxElapsedSeconds {
		return Unknown // sacct leaves the cell empty for 0
	}
	return minutes * 60
}
