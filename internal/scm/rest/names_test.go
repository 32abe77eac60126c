package rest

import (
	"strings"
	"testing"

	"promoter/internal/fault"
)

func TestSplitName_refusesUnsafeNames(t *testing.T) {
	t.Parallel()
	owner, short, err := SplitName("acme/web.site-1_a")
	if owner != "acme" || short != "web.site-1_a" || err != nil {
		t.Errorf("%q, %q, %v", owner, short, err)
	}
	for _, name := range []string{"", "acme", "acme/", "/web", "acme/web/x", "acme/..", "./web", "acme/a b", "acme/a?b", "acme/" + strings.Repeat("a", 101)} {
		if _, _, err := SplitName(name); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q is split: %v", name, err)
		}
	}
}
