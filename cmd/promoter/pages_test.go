package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/cli"
	"promoter/internal/cli/console"
)

// TestDemoPageShowsWhatTheDemoPrints runs the demo through the whole command line, and
// compares its output from step 2 with docs/demo.md.
func TestDemoPageShowsWhatTheDemoPrints(t *testing.T) {
	t.Parallel()
	var out, words strings.Builder
	code := cli.Main(t.Context(), []string{"demo", "--once"}, console.System{
		In: strings.NewReader(""), Out: &out, Err: &words,
		Env: func(string) (string, bool) { return "", false },
	}, showDemo)
	if code != 0 {
		t.Fatalf("the demo ended with %d\n%s%s", code, words.String(), out.String())
	}
	_, printed, _ := strings.Cut(out.String(), "\n\n2. ")
	printed, _, _ = strings.Cut(printed, "\nWithout --once")
	if diff := cmp.Diff(everyTime(excerpt(t)), everyTime("2. "+printed)); diff != "" {
		t.Errorf("the excerpt (-page +demo):\n%s", diff)
	}
}

// TestDemoPageNamesCommandsThatExist finds a target of make, or a test, for each command of
// docs/demo.md. Other tests run them, see the reasons.
func TestDemoPageNamesCommandsThatExist(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs", "demo.md"))
	if err != nil {
		t.Fatal(err)
	}
	runBy := map[string]string{
		"make demo":         "TestDemoPageShowsWhatTheDemoPrints runs demo --once",
		"make build":        "TestGetStarted runs it",
		"bin/promoter demo": "the tests of the demo run it until it is interrupted",
	}
	for _, block := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSpace(line)
			if runBy[line] == "" {
				t.Errorf("no test runs %q", line)
			}
			delete(runBy, line)
		}
	}
	for line := range runBy {
		t.Errorf("the page does not have %q", line)
	}
	out, err := exec.CommandContext(t.Context(), "make", "-C", root, "-n", "demo").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "go run ./cmd/promoter demo --once") {
		t.Errorf("make demo: %v\n%s", err, out)
	}
}

// everyTime puts in fixed words what differs with each run of the demo.
func everyTime(printed string) string {
	for pattern, fixed := range map[string]string{
		`127\.0\.0\.1:\d+`:                   "127.0.0.1:5000",
		`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`:    "2026-11-23T14:00:00Z",
		`(pushed  |commit )[0-9a-f]{7,12}\b`: "${1}58b5d4a",
		`was pushed [0-9.]+m?s after`:        "was pushed 120ms after",
		`promoter on \d{4}-\d\d-\d\d`:        "promoter on 2026-11-23",
	} {
		printed = regexp.MustCompile(pattern).ReplaceAllString(printed, fixed)
	}
	return printed
}

// excerpt returns the block of docs/demo.md that begins with step 2 of the demo.
func excerpt(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "demo.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```diff\n(2\\. .*?)```").FindSubmatch(text)
	if found == nil {
		t.Fatal("docs/demo.md has no excerpt of the demo")
	}
	return string(found[1])
}

// TestReadmeShowsAPullRequest compares the pull request of the README with the body that
// promoter writes.
func TestReadmeShowsAPullRequest(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	golden, err := os.ReadFile(filepath.Join(root, "internal", "pullrequest", "testdata", "body", "full.md"))
	if err != nil {
		t.Fatal(err)
	}
	written := map[string]bool{}
	visible := strings.ReplaceAll(string(golden), "\u200b", "") // which breaks references, and is not shown
	for line := range strings.Lines(visible) {
		written[strings.TrimSpace(line)] = true
	}
	shown := 0
	for line := range strings.Lines(string(page)) {
		line, quoted := strings.CutPrefix(strings.TrimSpace(line), "> ")
		if !quoted {
			continue
		}
		shown++
		if !written[strings.TrimPrefix(line, "### ")] {
			t.Errorf("no pull request contains %q", line)
		}
	}
	if shown < 5 {
		t.Errorf("the README shows %d lines of a pull request", shown)
	}
}
