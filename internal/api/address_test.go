package api_test

import (
	"testing"

	"promoter/internal/api"
)

// A client counts once, whichever of its addresses it uses.
func TestSourceOf(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.7":                 "192.0.2.7",
		"::ffff:192.0.2.7":          "192.0.2.7",
		"2001:db8:1:2:3:4:5:6":      "2001:db8:1:2::",
		"2001:db8:1:2:9:9:9:9%eth0": "2001:db8:1:2::",
		"2001:db8:1:3::1":           "2001:db8:1:3::",
		"pipe":                      "invalid IP",
	} {
		if got := api.SourceOf(address).String(); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
