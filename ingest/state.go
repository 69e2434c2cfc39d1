package ingest

import "strings"

// parseState reads the State cell: the word, and the uid of who cancelled
// the job in "CANCELLED by 1042". Up to 21.08 that uid was printed signed.
// A word that was cut by a column's width ("CANCELLED+") is made whole where
// only one word can be meant.
func parseState(s string) (word State, by string, ok bool) {
	if s == "COMPLETED" {
		return Completed, "", true
	}
	text, uid, cancelled := strings.Cut(s, " by ")
	if cancelled {
		if by, ok = unsignedUID(uid); !ok {
			return "", "", false
		}
	}
	if head, cut := strings.CutSuffix(text, "+"); cut {
		word, ok = completeState(head)
		return word, by, ok
	}
	return State(text), by, isStateWord(text)
}

func isStateWord(s string) bool {
	if s == "" || len(s) > 32 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; c != '_' && (c < 'A' || c > 'Z') {
			return s == "?"
		}
	}
	return true
}

func unsignedUID(s string) (string, bool) {
	digits, negative := strings.CutPrefix(s, "-")
	v, ok := parseDigits(digits)
	if !ok || v > 1<<32-1 {
		return "", false
	}
	if !negative {
		return s, true
	}
	return decimal(uint64(1<<32 - v)), true
}

// knownStates are the words that Slurm's accounting can print.
func knownState(s State) bool {
	switch s {
	case Pending, Running, Suspended, Completed, Cancelled, Failed, Timeout, NodeFail, Preempted,
		BootFail, Deadline, OutOfMemory, Requeued, Resizing, Revoked,
		"COMPLETING", "CONFIGURING", "STAGE_OUT", "EXPEDITING", "REQUEUE_FED", "REQUEUE_HOLD",
		"SPECIAL_EXIT", "STOPPED", "RESV_DEL_HOLD", "SIGNALING":
		return true
	}
	return false
}

func completeState(head string) (State, bool) {
	var found State
	for _, s := range [...]State{Pending, Running, Suspended, Completed, Cancelled, Failed, Timeout, NodeFail,
		Preempted, BootFail, Deadline, OutOfMemory, Requeued, Resizing, Revoked} {
		if head != "" && strings.HasPrefix(string(s), head) {
			if found != "" {
				return "", false
			}
			found = s
		}
	}
	return found, found != ""
}

// waiting reports whether a job in this state has not been given its nodes
// for good or still holds them: its End is rightly unknown.
func (s State) waiting() bool {
	switch s {
	case Pending, Running, Suspended, "COMPLETING", "CONFIGURING", "STAGE_OUT", "STOPPED", "SIGNALING",
		"EXPEDITING", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD":
		return true
	}
	return false
}
