package config_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"promoter/internal/config"
)

// repeat writes a line many times, each with its number.
func repeat(count int, format string) string {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestLoad_hostile loads files that were made to be slow. Each ends with a problem
// after bounded work; a test that hangs is the failure.
func TestLoad_hostile(t *testing.T) {
	t.Parallel()
	for what, test := range map[string]struct{ text, want string }{
		"alias bomb in a list": {
			"x-a: &a [x,x,x,x,x,x,x,x,x,x]\n" + bomb() + head + "environments: {dev: {paths: *h}}\n", "must be a string, not a list",
		},
		"merge keys of merge keys": {
			"x-a: &a {k: 1}\n" + mergeBomb() + "version: 1\ncomponents: *h\n", "expands to more than",
		},
		"merge keys in a long chain": {
			"x-0: &a0 {k: 1}\n" + repeat(200, "x-b%[1]d: &b%[1]d {<<: *a0}\n") + chain(200) + "version: 1\ncomponents: *c199\n", "merge keys are nested",
		},
		"too many environments": {
			head + "environments:\n" + repeat(501, "  e%d: {}\n"), "more than 500",
		},
		"too many components": {
			"version: 1\ncomponents:\n" + repeat(2001, "  c%d: {image: a/b, select: {tag: x}}\n") + "environments: {dev: {}}\n", "more than 2000",
		},
		"every environment after every other one": {
			head + "environments:\n" + afterAll(500), "h.yaml:105:289: the environments and applications have more than 5000 parents", // in e100
		},
		"every environment after every other one, in an application": {
			head + "environments:\n" + repeat(200, "  e%[1]d: {paths: ['e%[1]d/{application}']}\n") + "applications:\n  a:\n    environments:\n" +
				regexp.MustCompile(`(?m)^  (e.*)paths: \[.*?\], `).ReplaceAllString(afterAll(200), "      $1"), "more than 5000 parents",
		},
		"every pattern with every pattern": {
			"version: 1\ncomponents:\n" + repeat(2000, "  c%[1]d: {image: 'quay.io/*-%[1]d/*', select: {tag: x}}\n") + "environments: {dev: {}}\n", "comparisons",
		},
		"every path with every path": {
			head + "environments:\n" + repeat(500, "  e%[1]d: {paths: [a/*/%[1]d, b/*/%[1]d, c/*/%[1]d, d/*/%[1]d, e/*/%[1]d]}\n"), "comparisons",
		},
		"every glob with every glob": {
			head + "x-o: &o {dev: {newer: queue}}\nenvironments: {dev: {paths: ['{application}']}}\napplications:\n" +
				repeat(2000, "  '*a%d*': {environments: *o}\n"), "comparisons",
		},
		"names under only": {
			"version: 1\nx-a: &a [" + repeat(3000, "a%d, ") + "z]\nx-b: &b [" + repeat(3000, "b%d, ") + "y]\ncomponents:\n" +
				"  a: {image: q/a, select: {tag: x}, only: {applications: *a}}\n  b: {image: q/a, select: {tag: x}, only: {applications: *b}}\n" +
				"environments: {dev: {paths: ['{application}']}}\n", "comparisons",
		},
		"flow lists": {"version: 1\nx: " + strings.Repeat("[", 100_000) + "\n", "nested too deeply"},
		"block maps": {"version: 1\n" + nested(5000), "unknown key"},
		"too large":  {head + strings.Repeat("# comment\n", 110_000), "larger than"},
		"problems":   {head + repeat(5000, "k%d: 1\n"), "unknown key"},
		"a long text": {
			head + "environments: {dev: {land: " + strings.Repeat("x", 500_000) + "}}\n", "xxx…",
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c, problems := config.Load("h.yaml", []byte(test.text))
			if c != nil || !strings.Contains(problems.String(), test.want) {
				t.Errorf("problems = %.300s; want %s", problems, test.want)
			}
			checkProblems(t, c != nil, problems)
		})
	}
}

// afterAll returns environments, each after all earlier ones.
func afterAll(count int) string {
	var b strings.Builder
	var earlier []string
	for i := range count {
		fmt.Fprintf(&b, "  e%[1]d: {paths: ['e%[1]d/{application}'], after: [%[2]s]}\n", i, strings.Join(earlier, ", "))
		earlier = append(earlier, fmt.Sprint("e", i))
	}
	return b.String()
}

// bomb doubles its way to ten million entries.
func bomb() string {
	var b strings.Builder
	for _, pair := range []string{"ab", "bc", "cd", "de", "ef", "fg", "gh"} {
		fmt.Fprintf(&b, "x-%[2]c: &%[2]c [%[1]s]\n", strings.TrimSuffix(strings.Repeat("*"+pair[:1]+",", 10), ","), pair[1])
	}
	return b.String()
}

func mergeBomb() string {
	var b strings.Builder
	for _, pair := range []string{"ab", "bc", "cd", "de", "ef", "fg", "gh"} {
		fmt.Fprintf(&b, "x-%[2]c: &%[2]c {<<: [%[1]s]}\n", strings.TrimSuffix(strings.Repeat("*"+pair[:1]+",", 10), ","), pair[1])
	}
	return b.String()
}

// chain is anchors of which each merges the one before.
func chain(count int) string {
	text := "x-c0: &c0 {<<: *a0}\n"
	for i := 1; i < count; i++ {
		text += fmt.Sprintf("x-c%[1]d: &c%[1]d {<<: *c%[2]d}\n", i, i-1)
	}
	return text
}

// nested is mappings in mappings, each on its own line.
func nested(depth int) string {
	var b strings.Builder
	for i := range min(depth, 700) {
		fmt.Fprintf(&b, "%sx:\n", strings.Repeat(" ", i))
	}
	return b.String()
}

func TestLoad_encodings(t *testing.T) {
	t.Parallel()
	good := []byte(head + "environments: {dev: {title: \"Größe 🎉\", land: nowhere}}\n")
	for what, test := range map[string]struct {
		data []byte
		want string
	}{
		"a byte order mark is no column": {append([]byte("\xef\xbb\xbf"), "vershun: 1\n"...), `f.yaml:1:1: unknown key "vershun"`},
		"CRLF":                           {bytes.ReplaceAll(good, []byte("\n"), []byte("\r\n")), `f.yaml:4:46: "nowhere"`},
		"characters":                     {good, `f.yaml:4:46: "nowhere"`},
		"Latin-1":                        {[]byte("version: 1\nx-a: gr\xfcn\n"), "f.yaml:2:8: the file is not UTF-8"},
		"UTF-16":                         {[]byte("\xff\xfev\x00:\x00"), "f.yaml:1:1: the file is not UTF-8"},
		"no file at all":                 {nil, "f.yaml:1:1: the file is empty"},
		"only comments":                  {[]byte("# a\n"), "f.yaml:1:1: the file is empty"},
		"only a document start":          {[]byte("---\n"), "the file must be a mapping, not empty"},
		"a byte order mark before a syntax error": {append([]byte("\xef\xbb\xbf"), "a: @foo\nb: 1\n"...), "f.yaml:1:4: the value starts"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			if _, problems := config.Load("f.yaml", test.data); !strings.Contains(problems.String(), test.want) {
				t.Errorf("problems = %s; want %s", problems, test.want)
			}
		})
	}
}
