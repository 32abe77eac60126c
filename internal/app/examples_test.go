package app_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/scm/github/githubtest"
)

// TestExamples_firstReconciliations reconciles each repository of config/examples at once and on
// each of three days. What is pushed and opened is in pull-requests.md beside it.
func TestExamples_firstReconciliations(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("../../config/examples/*/repository")
	if err != nil || len(folders) < 10 {
		t.Fatalf("%d examples, %v", len(folders), err)
	}
	for _, folder := range folders {
		folder := filepath.Dir(folder)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			e := newExample(t, folder)
			var text strings.Builder
			fmt.Fprintf(&text, "# What promoter does in %s\n", filepath.Base(folder))
			text.WriteString("\nThe registry has " + strings.Join(e.versions, ", ") + ".\n")
			text.WriteString(e.reconcile("At once"))
			for day := 1; day <= 3; day++ {
				e.wait(25 * time.Hour)
				text.WriteString(e.reconcile(fmt.Sprintf("Day %d", day)))
			}
			e.calm()
			golden := filepath.Join(folder, "pull-requests.md")
			if *update {
				if err := os.WriteFile(golden, []byte(text.String()), 0o644); err != nil { //nolint:gosec // as the other files
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden) //nolint:gosec // of the example
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), text.String()); diff != "" {
				t.Errorf("-want +got; if it is right, run with -update:\n%s", diff)
			}
		})
	}
}

// example is the repository of an example on a fake GitHub, and its images in a registry.
type example struct {
	*story
	versions []string
	heads    map[string]string // of the branches at the end of the last reconciliation
	pulls    int               // shown
}

// hostsOfExamples match the registries that the examples name. In the test, one registry has all
// of them, with the host as the first part of the name.
var hostsOfExamples = regexp.MustCompile(`\b(?:quay\.io|ghcr\.io|docker\.io|registry\.example\.com)\b`)

func newExample(t *testing.T, folder string) *example {
	t.Helper()
	e := &example{story: &story{world: newWorld(t, nil), clock: &clock{}, kind: "github"}}
	e.clock.set(workday().AddDate(0, -3, 0)) // its last commit is old
	e.forge = githubtest.New(t, githubtest.Options{Now: e.clock.Now})
	e.repo = e.forge.NewRepository("acme/gitops", e.filesIn(filepath.Join(folder, "repository")))
	e.addBranches(filepath.Join(folder, "branches"))
	e.clock.set(workday())
	e.repo.Settings.Permit("promoter-bot", "write")
	e.versions = versionsIn(t, filepath.Join(folder, "versions.txt"))
	for _, version := range e.versions {
		if strings.Contains(version, "/charts/") {
			e.registry.PushChart(t, version, version)
			continue
		}
		e.push(version, version)
	}
	e.server = e.open(e.kind)
	e.cache = filepath.Join(e.dir, "cache")
	e.heads = e.branches()
	return e
}

// addBranches commits each folder that has files of its own: branches/env/dev/... is the branch env/dev.
func (e *example) addBranches(folder string) {
	e.t.Helper()
	environments, err := filepath.Glob(filepath.Join(folder, "*", "*"))
	if err != nil {
		e.t.Fatal(err)
	}
	for _, environment := range environments {
		name, err := filepath.Rel(folder, environment)
		if err != nil {
			e.t.Fatal(err)
		}
		e.repo.Git.Commit("ada", filepath.ToSlash(name), "Begin", e.filesIn(environment))
	}
}

// filesIn reads the files of a folder, with the registry of the test.
func (e *example) filesIn(folder string) map[string]string {
	e.t.Helper()
	files := map[string]string{}
	root := os.DirFS(folder)
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(root, name)
		files[name] = hostsOfExamples.ReplaceAllString(string(content), e.host+"/$0")
		return err
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return files
}

func versionsIn(t *testing.T, file string) []string {
	t.Helper()
	content, err := os.ReadFile(file) //nolint:gosec // of the example
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(content))
}

// branches returns the heads of the branches that environments are on.
func (e *example) branches() map[string]string {
	heads := map[string]string{}
	for line := range strings.Lines(e.repo.Git.Run("for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads")) {
		if name, head, _ := strings.Cut(strings.TrimSpace(line), " "); !strings.HasPrefix(name, "promoter/") {
			heads[name] = head
		}
	}
	return heads
}

// reconcile runs once and describes what it wrote.
func (e *example) reconcile(heading string) string {
	e.t.Helper()
	e.run()
	text := &strings.Builder{}
	fmt.Fprintf(text, "\n## %s\n", heading)
	before, written := text.Len(), e.branches()
	for _, branch := range slices.Sorted(maps.Keys(written)) {
		for commit := range strings.FieldsSeq(e.repo.Git.Run("rev-list", "--reverse", "--first-parent", written[branch], "^"+e.heads[branch])) {
			subject := e.repo.Git.Run("show", "-s", "--format=%s", commit)
			fmt.Fprintf(text, "\nOn `%s`: %s\n\n%s", branch, e.plain(subject), e.diff(commit+"^1", commit))
		}
	}
	e.heads = written
	for _, pull := range e.repo.Pulls.All()[e.pulls:] {
		e.pulls++
		state := ""
		if pull.Merged {
			state = ", merged"
		}
		fmt.Fprintf(text, "\nPull request #%d%s, `%s` into `%s`: %s\n", pull.Number, state, pull.Head, pull.Base, e.plain(pull.Title))
		if !pull.Merged {
			base := e.repo.Git.Run("merge-base", pull.HeadCommit, written[pull.Base])
			fmt.Fprintf(text, "\n%s\n%s", e.quoted(pull.Body), e.diff(base, pull.HeadCommit))
		}
	}
	if text.Len() == before {
		return "" // nothing was due
	}
	return text.String()
}

func (e *example) diff(from, to string) string {
	changed := e.repo.Git.Run("diff", "--no-color", "--unified=1", from, to)
	var kept []string
	for line := range strings.Lines(changed) {
		if !strings.HasPrefix(line, "index ") && !strings.HasPrefix(line, "diff --git ") {
			kept = append(kept, strings.TrimRight(line, "\n"))
		}
	}
	return "```diff\n" + e.plain(strings.Join(kept, "\n")) + "\n```\n"
}

// plain removes the address of the registry, which differs in each run of the test.
func (e *example) plain(text string) string { return strings.ReplaceAll(text, e.host+"/", "") }

// quoted is what the body of a pull request shows above its details: the versions, and why.
func (e *example) quoted(body string) string {
	var shown strings.Builder
	table, _, _ := strings.Cut(body, "<details>")
	for line := range strings.Lines(e.plain(table)) {
		if strings.HasPrefix(line, "|") {
			shown.WriteString("> " + line)
		}
	}
	for line := range strings.Lines(e.plain(body)) {
		if strings.HasPrefix(line, "Why: ") {
			shown.WriteString(">\n> " + line)
		}
	}
	return shown.String()
}
