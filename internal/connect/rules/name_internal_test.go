package rules

import (
	"strings"
	"testing"
	"unicode/utf8"

	"promoter/internal/scm"
)

func TestQualified_fits(t *testing.T) {
	t.Parallel()
	forge := NameOf(scm.Info{URL: "https://GitHub.com/Acme/Gitops", Name: "Acme/Gitops"})
	plain := NameOf(scm.Info{CloneURL: "ssh://git@git.example.com:2222/team/sub/gitops.git", Name: "gitops"})
	for _, test := range []struct {
		of   Name
		glob string
		want bool
	}{
		{forge, "github.com/acme/*", true},
		{forge, "github.com/acme/gitops", true},
		{forge, "github.com/**", true},
		{forge, "*/acme/*", true},
		{forge, "github.com/acm*/git*", true},
		{forge, "github.com/*", false},
		{forge, "github.com/acme", false},
		{forge, "github.com/acme/gitops/*", false},
		{forge, "xgithub.com/acme/*", false},
		{forge, "github.com/acme/gitops-private", false},
		{forge, "githubXcom/acme/*", false},
		{forge, "", false},
		{plain, "git.example.com:2222/team/**", true},
		{plain, "git.example.com:2222/team/sub/gitops", true},
		{plain, "git.example.com:2222/Team/**", false},
		{plain, "git.example.com/team/**", false},
		{plain, "git.example.com:2222/team/*", false},
		{Name{}, "**", false},
	} {
		if got := test.of.matches(test.glob); got != test.want {
			t.Errorf("%q fits %q: %v", test.of.Text, test.glob, got)
		}
	}
}

func FuzzQualified_fits(f *testing.F) {
	f.Add("github.com/acme/*", "github.com/acme/gitops")
	f.Add("**/(?i)[", "a\nb")
	f.Add("\x80", "\x80")
	f.Add("\ufffd", "\x80")
	f.Fuzz(func(t *testing.T, glob, name string) {
		literal := !strings.Contains(glob, "*")
		readable := utf8.ValidString(glob) && utf8.ValidString(name)
		if got := (Name{Text: name}).matches(glob); literal && name != "" && got != (glob == name && readable) {
			t.Errorf("%q fits %q: %v", name, glob, got)
		}
	})
}
