package scm_test

import (
	"strings"
	"testing"

	"promoter/internal/scm"
)

func TestParseSource(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://github.com/acme/web":                      "github.com/acme/web",
		"https://github.com/acme/web.git":                  "github.com/acme/web",
		"https://github.com/acme/web/":                     "github.com/acme/web",
		"https://GitHub.com/acme/web/tree/main/cmd#readme": "github.com/acme/web",
		"https://gitlab.com/a/b/web/-/tree/main":           "gitlab.com/a/b/web",
		"https://user:secret@git.example:8443/acme/web":    "git.example:8443/acme/web",
		"git@github.com:acme/web.git":                      "github.com/acme/web",
		"ssh://git@github.com:22/acme/web.git":             "github.com/acme/web",
		"git+https://github.com/acme/web":                  "github.com/acme/web",
		"github.com/acme/web":                              "github.com/acme/web",
		"https://codeberg.org/acme/tree":                   "codeberg.org/acme/tree",

		"":                                    "",
		"web":                                 "",
		"github.com/web":                      "",
		"https://github.com/acme/..":          "",
		"https://github.com/acme/../x":        "",
		"https://github.com/acme/a b":         "",
		"https://github.com/acme/w%2fb":       "github.com/acme/w/b", // no forge has it
		"javascript:alert(1)":                 "",
		"file:///etc/passwd":                  "",
		"https://" + strings.Repeat("x", 600): "",
	} {
		source, ok := scm.ParseSource(text)
		if got := source.String(); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %s, %t", text, got, ok)
		}
	}
}

func TestSource_CompareURL(t *testing.T) {
	t.Parallel()
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	for text, want := range map[string]string{
		"github.com/acme/web":  "https://github.com/acme/web/compare/" + a + "..." + b,
		"gitlab.com/acme/web":  "https://gitlab.com/acme/web/-/compare/" + a + "..." + b,
		"git.example/acme/web": "",
	} {
		source, _ := scm.ParseSource(text)
		if got := source.CompareURL(a, b); got != want {
			t.Errorf("%s: %q", text, got)
		}
		if got := source.CompareURL("main", b); got != "" {
			t.Errorf("%s: a branch: %q", text, got)
		}
	}
}

func TestIsRevision(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"1234567": true, strings.Repeat("A", 64): true,
		"": false, "123456": false, "main123": false, strings.Repeat("a", 65): false,
	} {
		if scm.IsRevision(text) != want {
			t.Errorf("%q: want %t", text, want)
		}
	}
}
