package config

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func compiled(t *testing.T, text string) pathGlob {
	t.Helper()
	glob, err := compileGlob(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return glob
}

func TestPathGlob_meets(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"a", "a", true},
		{"a", "b", false},
		{"a", "a/b", true},
		{"a/b", "a/c", false},
		{"a/*", "a/c", true},
		{"a/*/c", "a/b/d", false},
		{"a/x*", "a/*y", true},
		{"a/x*", "a/y*", false},
		{"a/x*b", "a/*xc", false},
		{"a/{application}/dev", "a/{application}/prod", false},
		{"a/{application}/dev", "a/shop", true},
		{"a/web{application}", "a/web", false},
		{"**", "a/b", true},
		{"**/dev", "a/b", true},
		{"**/dev", "dev/x", true},
		{"**/dev", "**/prod", false},
		{"**/dev", "**/dev", true},
		{"a/**/dev", "a/**/prod", false},
		{"a/**/dev", "b/**/dev", false},
		{"a/**/dev", "**/c/dev", true},
		{"a/**", "**/dev", true},
		{"a/**", "b/**", false},
	} {
		a, b := compiled(t, test.a), compiled(t, test.b)
		if got := a.meets(&b); got != test.want {
			t.Errorf("%s meets %s = %t", test.a, test.b, got)
		}
		if got := b.meets(&a); got != test.want {
			t.Errorf("%s meets %s = %t", test.b, test.a, got)
		}
	}
}

func TestPathGlob_covers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		exclude, path string
		want          bool
	}{
		{"a", "a", true},
		{"a", "a/b", true},
		{"a/b", "a", false},
		{"a/**", "a", true},
		{"a/**", "a/b/c", true},
		{"**/dev", "a/b/dev/c", true},
		{"**/dev", "a/*/dev", true},
		{"**/dev", "a/**", false},
		{"**/dev", "**/dev", true},
		{"a/*", "a/x*", true},
		{"a/x*", "a/*", false},
		{"a/x*", "a/xyz", true},
		{"a/*/dev", "a/{application}/dev", true},
		{"**", "a", true},
	} {
		x, p := compiled(t, test.exclude), compiled(t, test.path)
		if got := x.covers(&p); got != test.want {
			t.Errorf("%s covers %s = %t", test.exclude, test.path, got)
		}
	}
}

// TestPathGlob_agree compares what globs say about each other with what they
// match, on globs and paths made by chance.
func TestPathGlob_agree(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	word := func(words ...string) string {
		parts := make([]string, 1+random.IntN(4))
		for i := range parts {
			parts[i] = words[random.IntN(len(words))]
		}
		return strings.Join(parts, "/")
	}
	for range 30_000 {
		a, b := compiled(t, word("a", "b", "ab", "*", "a*", "*b", "**")), compiled(t, word("a", "b", "ab", "*", "a*", "*b", "**"))
		path := word("a", "b", "ab", "c")
		_, inA := a.match(path)
		_, inB := b.match(path)
		if inA && inB && !a.meets(&b) && (!a.innerAny() || !b.innerAny()) {
			t.Fatalf("%s and %s both match %s, but do not meet", a.text, b.text, path)
		}
		if inB && !inA && a.covers(&b) && !strings.HasSuffix(a.text, "/**") {
			t.Fatalf("%s covers %s, but does not match %s", a.text, b.text, path)
		}
		if want := naive(strings.Split(a.text, "/"), strings.Split(path, "/")); inA != want {
			t.Fatalf("%s matches %s = %t", a.text, path, inA)
		}
	}
}

// naive is the definition of a match, tried in every way.
func naive(glob, path []string) bool {
	switch {
	case len(glob) == 0:
		return true
	case glob[0] == "**" && len(glob) == 1:
		return len(path) > 0
	case glob[0] == "**":
		return naive(glob[1:], path) || len(path) > 0 && naive(glob, path[1:])
	case len(path) == 0:
		return false
	}
	return globMatch(glob[0], path[0]) && naive(glob[1:], path[1:])
}

func TestGlobMatch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		glob, text string
		want       bool
	}{
		{"a", "a", true},
		{"a", "b", false},
		{"*", "", true},
		{"*", "abc", true},
		{"a*", "abc", true},
		{"*c", "abc", true},
		{"a*c", "abc", true},
		{"a*c", "ac", true},
		{"a*a", "a", false},
		{"a*b*c", "a-b-c", true},
		{"a*b*c", "acb", false},
		{"*b*", "abc", true},
		{"pay-*", "pay", false},
	} {
		if got := globMatch(test.glob, test.text); got != test.want {
			t.Errorf("globMatch(%q, %q) = %t", test.glob, test.text, got)
		}
	}
}

func TestGlobsMeet(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"a", "a", true},
		{"a", "b", false},
		{"a*", "ab", true},
		{"a*", "*b", true},
		{"a*", "b*", false},
		{"*a", "*b", false},
		{"a*", "ab*", true},
		{"*-eu", "pay-*", true},
		{"*", "x", true},
		{"a*z", "ab*yz", true},
	} {
		if got := globsMeet(test.a, test.b) && globsMeet(test.b, test.a); got != test.want {
			t.Errorf("globsMeet(%q, %q) = %t", test.a, test.b, got)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	t.Parallel()
	candidates := []string{"components", "environments", "pullRequest", "land"}
	for written, want := range map[string]string{
		"component":                   "did you mean components?",
		"enviroments":                 "did you mean environments?",
		"pull-request":                "did you mean pullRequest?",
		"pull_request":                "did you mean pullRequest?",
		"lnad":                        "did you mean land?",
		"something":                   "known here: components, environments, land, pullRequest",
		strings.Repeat("x", 1000):     "known here: components, environments, land, pullRequest",
		strings.Repeat("landland", 9): "known here: components, environments, land, pullRequest",
	} {
		if got := didYouMean(written, candidates); got != want {
			t.Errorf("didYouMean(%.20s) = %s; want %s", written, got, want)
		}
	}
	if got := nearest("x", []string{strings.Repeat("y", 100)}); got != "" {
		t.Errorf("nearest = %q", got)
	}
}

func TestFormatDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0s", 90 * time.Second: "1m30s", time.Hour: "1h", 90 * time.Minute: "1h30m", day: "1d", 36 * time.Hour: "1d12h", 14 * day: "14d",
	} {
		if got := formatDuration(d); got != want {
			t.Errorf("formatDuration(%v) = %s; want %s", d, got, want)
		}
	}
}
