package field_test

import (
	"strings"
	"testing"

	"promoter/internal/config/field"
)

func TestValidName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"a": true, "0": true, "a-b": true, "web-2": true, strings.Repeat("a", 40): true,
		"": false, "-": false, "-a": false, "a-": false, "A": false, "a_b": false, "a.b": false, "ä": false,
		strings.Repeat("a", 41): false,
	} {
		if got := field.ValidName(name); got != want {
			t.Errorf("ValidName(%q) = %t", name, got)
		}
	}
}
