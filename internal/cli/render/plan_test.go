package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/checkout"
	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/scan"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// everything is a preview with every state, condition, gate, note and refusal.
func everything(t *testing.T) *checkout.Preview {
	t.Helper()
	until := time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
	proposed := change(placeOf("dev/shop", promotion.Proposed, "newer: web 1 -> 2"), "apps/shop/a.yaml",
		"image: a:1\r\nkeep: \tthis\r\n", "image: a:2\r\nkeep: \tthis\r\n")
	proposed.Snapshot = promotion.Snapshot{"web": {
		Repository: repository(t, "quay.io/acme/web"), Version: image.Version{Tag: "2"},
	}}
	proposed.OnDisk = true
	proposed.Notes = []edit.Note{{Position: edit.Position{File: "apps/shop/a.yaml", Line: 3, Column: 4}, Text: "the alias *t changes too"}}
	proposed.Conditions = []promotion.Condition{
		{Name: "staging soak", State: promotion.Passed},
		{Name: "staging soak", State: promotion.Unknown, Reason: "not evaluated", Value: "1d"},
		{Name: "web 3", State: promotion.Pending, Reason: "too young", Until: &until},
		{Name: "check e2e", State: promotion.Failed, Reason: "it failed"},
	}
	proposed.Gates = []promotion.Condition{{Name: "windows office", State: promotion.Pending, Reason: "outside of window office", Until: &until}}

	waiting := change(placeOf("staging/shop", promotion.Waiting, "propose is manual: waiting for a request"), "s.yaml", "image: a:1\n", "image: a:2\n")
	waiting.Moves, waiting.OnDisk = []promotion.Move{{Component: "web"}}, true

	away := placeOf("far/shop", promotion.NotCheckedOut, "origin/env/far is not in this clone: fetch it to see it")
	away.Branch = "env/far"
	refused := placeOf("prod/shop", promotion.Refused, "apps/shop/b.yaml:3: does not parse (and 1 more)")
	refused.Refusals = []edit.Refusal{
		{File: "apps/shop/b.yaml", Line: 3, Reason: "does not parse"},
		{File: "apps/shop/c.yaml", Component: "web", Reason: "over the limit"},
	}
	other := change(placeOf("live/default", promotion.Proposed, "dev has: web 1 -> 2"), "b.yaml", "image: a:1", "image: a:2")
	other.Branch = "env/live"
	return &checkout.Preview{
		Targets: []checkout.TargetPreview{
			proposed,
			placeOf("dev/default", promotion.Same, "already up to date"),
			placeOf("dev/gone", promotion.Absent, "gone has no files in dev"),
			placeOf("dev/empty", promotion.NoReference, "no reference to a followed component"),
			waiting,
			placeOf("staging/down", promotion.Unanswered, "web: the registry does not answer"),
			refused, away, other,
		},
		Errors: []checkout.ComponentError{{Component: "web", Err: fault.New(fault.Temporary, "the registry does not answer")}},
		Unused: []image.Repository{repository(t, "docker.io/library/nginx")},
	}
}

// golden compares with a file of testdata; -update writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestRenderers_golden(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]Plan{
		"plan.txt":       textRenderer{}.render,
		"plan.color.txt": textRenderer{paint: true}.render,
		"plan.diff":      diffRenderer{}.render,
		"plan.json":      renderJSON,
		"plan.md":        renderMarkdown,
		"summary.txt":    summaryRenderer{}.render,
		"summary.json":   renderSummaryJSON,
	} {
		var out bytes.Buffer
		if err := r(&out, everything(t)); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if name == "plan.color.txt" {
			text = strings.ReplaceAll(text, "\x1b", "^")
		}
		golden(t, name, text)
	}
	var words bytes.Buffer
	preview := everything(t)
	PrintPreviewErrors(&words, preview, "diff")
	PrintPlanSummary(&words, preview)
	PrintApplySummary(&words, preview, checkout.Applied{Files: []string{"apps/shop/a.yaml"}})
	golden(t, "words.txt", words.String())
}

// documented is plan -o json as docs/reference/json.md has it.
type documented struct {
	Schema int `json:"schema"`
	Errors []struct {
		Component, Kind, Message string
	} `json:"errors"`
	Environments []struct {
		Name, Application, Branch, Snapshot, State, Reason string
		Changes                                            []struct {
			Component, Kind, File string
			Line, Column          int
			From, To              string
		}
		Refused []struct {
			File      string
			Line      int
			Component string
			Reason    string
		}
		Conditions, Gates []struct {
			Name, State, Reason, Value string
			Until                      time.Time
		}
	} `json:"environments"`
}

func TestJSON_isTheDocumentedForm(t *testing.T) {
	t.Parallel()
	for name, preview := range map[string]*checkout.Preview{"everything": everything(t), "nothing": {}} {
		var out bytes.Buffer
		if err := renderJSON(&out, preview); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "null") {
			t.Errorf("%s: a list is null:\n%s", name, out.String())
		}
		var read documented
		decoder := json.NewDecoder(&out)
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&read); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if read.Schema != 1 || len(read.Environments) != len(preview.Targets) || len(read.Errors) != len(preview.Errors) {
			t.Errorf("%s: %+v", name, read)
		}
	}
}

// What a file name, a tag or a registry says must not steer the terminal.
func TestText_controlCharacters(t *testing.T) {
	t.Parallel()
	const odd = "a\x1b]0;t\x07\n::set-env\r\u202e\xff\u0085.yaml"
	target := change(placeOf("dev/"+odd, promotion.Refused, odd), odd, "x: \x1b[2J\told\x9b\n", "x: \x1b[2J\tnew\x9b\n")
	target.Branch = odd
	target.Refusals = []edit.Refusal{{File: odd, Reason: odd}}
	target.Notes = []edit.Note{{Position: edit.Position{File: odd}, Text: odd}}
	target.Conditions = []promotion.Condition{{Name: odd, Reason: odd, State: promotion.Pending}}
	preview := &checkout.Preview{Targets: []checkout.TargetPreview{target}, Errors: []checkout.ComponentError{{Component: odd, Err: errors.New(odd)}}}

	var out bytes.Buffer
	for _, r := range []Plan{textRenderer{}.render, diffRenderer{visible: true}.render} {
		if err := r(&out, preview); err != nil {
			t.Fatal(err)
		}
	}
	PrintPreviewErrors(&out, preview, "diff")
	PrintPlanSummary(&out, preview)
	PrintApplySummary(&out, preview, checkout.Applied{})
	PrintError(&out, errors.New(odd))
	PrintError(&out, &config.Error{Problems: config.Problems{{Message: odd}}})
	for i, r := range out.String() {
		if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' || r == '\uFFFD') {
			t.Errorf("%q at %d reaches the terminal", r, i)
		}
	}
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			t.Errorf("a name begins a line of its own: %q", line)
		}
	}
}

func TestVisible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                        "",
		"plain, Grüße, 日本, 🚀":     "plain, Grüße, 日本, 🚀",
		"it's \"quoted\" \\ this": "it's \"quoted\" \\ this",
		"\x1b[31m\t\r\n":          `\x1b[31m\t\r\n`,
		"\xff\x80\xc3\xa4":        `\xff\x80ä`,
		"\uFFFD":                  "\uFFFD",
		"\u200e\u2028\u00a0":      `\u200e\u2028\u00a0`,
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	for line, want := range map[string]string{
		"+a:\tb\r\n": "+a:\tb\r\n",
		"+a\rb\n":    "+a\\rb\n",
		"+a\r\r\n":   "+a\\r\r\n",
		"+a\r":       "+a\\r",
		" \n":        " \n",
		"\n":         "\n",
	} {
		if got := visibleLine(line); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\x1b\xff\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, shown := range []string{Visible(text), strings.TrimRight(visibleLine(text), "\r\n")} {
			if strings.ContainsAny(shown, "\x1b\r\n\x00\x7f\u009b") || strings.ContainsRune(shown, '\u202e') {
				t.Fatalf("%q is shown as %q", text, shown)
			}
		}
		if again := Visible(Visible(text)); again != Visible(text) {
			t.Fatalf("%q: %q", text, again)
		}
	})
}

func repository(t *testing.T, name string) image.Repository {
	t.Helper()
	r, err := image.ParseRepository(name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// placeOf makes a place in a state.
func placeOf(name string, state promotion.State, reason string) checkout.TargetPreview {
	environment, application, _ := strings.Cut(name, "/")
	return checkout.TargetPreview{Decision: promotion.Decision{
		Target: promotion.Target{Environment: environment, Application: application},
		State:  state, Reason: promotion.Reason{Message: reason}, Snapshot: promotion.Snapshot{},
	}}
}

// change gives a place a file that changes.
func change(target checkout.TargetPreview, file, before, after string) checkout.TargetPreview {
	target.Files = append(target.Files, scan.FileChange{Path: file, Before: []byte(before), After: []byte(after)})
	target.Changes = append(target.Changes, edit.Change{
		Component: "web", Shape: "reference", Position: edit.Position{File: file, Line: 1, Column: 8}, From: "a:1", To: "a:2",
	})
	return target
}
