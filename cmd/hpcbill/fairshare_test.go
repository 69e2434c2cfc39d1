package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHalfLife(t *testing.T) {
	f := func(text string, want int64) {
		t.Helper()
		got, err := halfLifeSeconds(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	f("7d", 604800)
	f("12h", 43200)
	f("7-0", 604800)
	f("14-0", 1209600)
	f("1-12:30:15", 86400+12*3600+30*60+15)
	f("168:00:00", 604800)
	bad := func(text string) {
		t.Helper()
		_, err := halfLifeSeconds(text)
		require.Error(t, err)
	}
	for _, text := range []string{"", "0", "0d", "7", "d", "-7d", "1-", "12:00", "1:2:3:4", "7 d", "99999999999d", "4000000000d", "1-1:1:1:1"} {
		bad(text)
	}
}
