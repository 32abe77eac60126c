package forgetest_test

import (
	"strings"
	"testing"

	"promoter/internal/scm/forgetest"
)

func TestFront_Read(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, body string
		words      string // substring of the reported failure; empty: none
		refused    bool
	}{
		{"as it should be", `{"body":"hä?"}`, "", false},
		{"a key that is none", `{"body":"x","boby":"y"}`, "unknown field", true},
		{"more than one value", `{"body":"x"}{}`, "more than one value", true},
		{"no JSON", `body`, "invalid character", true},
		{"cut in a character", "{\"body\":\"h\xc3\"}", "no whole text", false},
		{"a stand-in for half a character", `{"body":"h\ufffd"}`, "no whole text", false},
	} {
		watched := &failing{TB: t}
		var into struct {
			Body string `json:"body"`
		}
		err := forgetest.New(watched, forgetest.Fake{Name: "shop"}).Read(route, []byte(test.body), &into)
		said := strings.Join(watched.said, "\n")
		if (err != nil) != test.refused || (said == "") != (test.words == "") || !strings.Contains(said, test.words) {
			t.Errorf("%s: error %v, said %q, want %q", test.name, err, said, test.words)
		}
	}
}
