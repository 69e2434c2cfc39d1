package ingest

import "math/bits"

// parseSizeMiB reads a memory size as Slurm prints it, 1024-based, with the
// suffix K M G T P or E; none means MiB. rounded says that the two decimals
// may hide a larger or smaller figure: Slurm's own scaling prints decimals
// only as x.50, and x.50G alone is always exact. ok is false where the text
// is no size or no whole number of MiB.
func parseSizeMiB(s string) (mib int64, rounded, ok bool) {
	shift := 0
	if n := len(s); n > 0 {
		switch s[n-1] {
		case 'K':
			shift, s = -10, s[:n-1]
		case 'M':
			s = s[:n-1]
		case 'G':
			shift, s = 10, s[:n-1]
		case 'T':
			shift, s = 20, s[:n-1]
		case 'P':
			shift, s = 30, s[:n-1]
		case 'E':
			shift, s = 40, s[:n-1]
		}
	}
	whole, fraction := s, ""
	for i := 0; i < len(s); i++ {
		if s[i] == '.' {
			whole, fraction = s[:i], s[i+1:]
			if fraction == "" || len(fraction) > 6 {
				return 0, false, false
			}
			break
		}
	}
	v, ok := parseDigits(whole)
	if !ok || len(whole) > 15 {
		return 0, false, false
	}
	if fraction == "" {
		mib, ok = scaled(uint64(v), 1, shift)
		return mib, false, ok
	}
	f, ok := parseDigits(fraction)
	if !ok {
		return 0, false, false
	}
	divisor := uint64(1)
	for range fraction {
		divisor *= 10
	}
	hi, lo := bits.Mul64(uint64(v), divisor)
	if hi != 0 || lo+uint64(f) < lo {
		return 0, false, false
	}
	mib, ok = scaled(lo+uint64(f), divisor, shift)
	return mib, !(shift == 10 && fraction == "50"), ok
}

// scaled returns v · 2^shift ÷ divisor where that is a whole number of MiB
// that fits.
func scaled(v, divisor uint64, shift int) (int64, bool) {
	hi, lo := v>>(64-max(shift, 0)), v<<max(shift, 0)
	if shift <= 0 {
		hi = 0
		divisor <<= -shift
	}
	if hi >= divisor {
		return 0, false
	}
	q, r := bits.Div64(hi, lo, divisor)
	return int64(q), r == 0 && q < 1<<62
}
