package github

import (
	"slices"
	"strings"
	"testing"

	"promoter/internal/scm"
)

// A merge commit contains our own commits, so it satisfies a rule about signatures only if they
// are signed. GitHub never signs what it rebases.
func TestAsked_signedCommits(t *testing.T) {
	t.Parallel()
	all := []string{"merge", "rebase", "squash"}
	for signs, want := range map[bool][]string{false: {"squash"}, true: {"merge", "squash"}} {
		of := asked{Rules: scm.Rules{Signed: true}, signs: signs}
		if got := of.leaves(all); !slices.Equal(got, want) {
			t.Errorf("signs %t: %v, want %v", signs, got, want)
		}
		if why := of.stuck("main", []string{"rebase"}); !strings.Contains(why, "main wants signed commits") || strings.Contains(why, "signs none") == signs {
			t.Errorf("signs %t: %q", signs, why)
		}
	}
}
