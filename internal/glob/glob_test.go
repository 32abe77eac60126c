package glob

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern, name string
		want          bool
	}{
		{"github.com/acme/*", "github.com/acme/web", true},
		{"github.com/acme/*", "github.com/acme/a/b", false},
		{"github.com/acme/**", "github.com/acme/a/b", true},
		{"github.com/acme/**", "github.com/acme-b/a", false},
		{"**/web", "quay.io/a/b/web", true},
		{"**", "anything/at:all", true},
		{"*/1*", "a/12", true},
		{"git:https://git.example/acme/*", "git:https://git.example/acme/shop", true},
		{"\xff", "\xfe", false},
		{"*", "\xfe", false},
		{"", "a", false},
		{"a", "", false},
		{"a?c", "abc", false},
		{"a?c", "a?c", true},
		{"[ab]", "a", false},
		{"{a,b}", "a", false},
		{"{a,b}", "{a,b}", true},
		{`a\*`, `a\x`, true},
	} {
		if got := Match(test.pattern, test.name); got != test.want {
			t.Errorf("Match(%q, %q) = %t", test.pattern, test.name, got)
		}
	}
}

func TestMatchName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern, name string
		want          bool
	}{
		{"a", "a", true},
		{"a", "b", false},
		{"*", "", true},
		{"*", "abc", true},
		{"*", "ci/test", true},
		{"ci/*", "ci/e2e/prod", true},
		{"a*", "abc", true},
		{"*c", "abc", true},
		{"a*c", "abc", true},
		{"a*c", "ac", true},
		{"a*a", "a", false},
		{"a*b*c", "a-b-c", true},
		{"a*b*c", "acb", false},
		{"*b*", "abc", true},
		{"pay-*", "pay", false},
		{"build (x) [1]", "build (x) [1]", true},
		{"build [1]*", "build 1", false},
	} {
		if got := MatchName(test.pattern, test.name); got != test.want {
			t.Errorf("MatchName(%q, %q) = %t", test.pattern, test.name, got)
		}
		if got := MatchAnyName([]string{"no", test.pattern}, test.name); got != test.want {
			t.Errorf("MatchAnyName(%q, %q) = %t", test.pattern, test.name, got)
		}
	}
}

func TestNamesOverlap(t *testing.T) {
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
		if got := NamesOverlap(test.a, test.b) && NamesOverlap(test.b, test.a); got != test.want {
			t.Errorf("NamesOverlap(%q, %q) = %t", test.a, test.b, got)
		}
	}
}

func parse(t *testing.T, text string) *Path {
	t.Helper()
	p, err := ParsePath(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

// TestPath_Match_agreesWithDefinition compares matches of random patterns with a
// definition that tries every way.
func TestPath_Match_agreesWithDefinition(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	join := func(words ...string) string {
		parts := make([]string, 1+random.IntN(4))
		for i := range parts {
			parts[i] = words[random.IntN(len(words))]
		}
		return strings.Join(parts, "/")
	}
	for range 30_000 {
		pattern := parse(t, join("a", "b", "ab", "*", "a*", "*b", "**"))
		path := join("a", "b", "ab", "c")
		_, got := pattern.Match(path)
		if want := matches(strings.Split(pattern.text, "/"), strings.Split(path, "/")); got != want {
			t.Fatalf("%s matches %s = %t", pattern, path, got)
		}
		for _, sample := range pattern.Samples() {
			if _, ok := pattern.Match(sample); !ok {
				t.Fatalf("%s does not match its sample %q", pattern, sample)
			}
		}
	}
}

// matches is the definition of a match.
func matches(pattern, path []string) bool {
	switch {
	case len(pattern) == 0:
		return true
	case pattern[0] == "**" && len(pattern) == 1:
		return len(path) > 0
	case pattern[0] == "**":
		return matches(pattern[1:], path) || len(path) > 0 && matches(pattern, path[1:])
	case len(path) == 0:
		return false
	}
	return MatchName(pattern[0], path[0]) && matches(pattern[1:], path[1:])
}

func TestPath_Samples(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		exclude, path string
		want          bool // the exclude matches all samples of the path
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
		{"a/x", "a/*", false},
		{"a/dev", "a/**/dev", false},
		{"*/*", "**", false},
		{"a/*/dev", "a/{application}/dev", true},
		{"**", "a", true},
	} {
		exclude, got := parse(t, test.exclude), true
		for _, sample := range parse(t, test.path).Samples() {
			_, ok := exclude.Match(sample)
			got = got && ok
		}
		if got != test.want {
			t.Errorf("%s matches the samples of %s = %t", test.exclude, test.path, got)
		}
	}
}

func TestParsePath_refuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                    "empty",
		"/a":                                  "starts with a slash",
		"a//b":                                "empty segment",
		"a/../b":                              ". or ..",
		"a**":                                 "stand alone",
		"{environment}":                       "only placeholder",
		"a?":                                  "only * and **",
		"{application}/{application}":         "twice",
		"x-{application}-*":                   "ambiguous",
		strings.Repeat("a/", maxSegments):     "too long",
		strings.Repeat("a", maxLength+1) + "": "too long",
	} {
		if _, err := ParsePath(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParsePath(%.40q) = %v; want %q", text, err, want)
		}
	}
}
