package app_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/scm"
	"promoter/internal/scm/gitea"
	"promoter/internal/scm/gitea/giteatest"
	"promoter/internal/scm/github"
	"promoter/internal/scm/github/githubtest"
	"promoter/internal/scm/gitlab"
	"promoter/internal/scm/gitlab/gitlabtest"
	"promoter/internal/scm/plain"
	"promoter/internal/secret"
)

var update = flag.Bool("update", false, "rewrite the table of docs/forges.md")

// featureWords are the lines of the table, by the field of scm.Features.
var featureWords = map[string]string{
	"PullRequests": "Pull requests", "Closers": "Who closed a pull request", "Approvals": "Reviews and approvals",
	"Statuses": "Commit statuses and checks", "Comments": "Comments", "Teams": "Team members", "Compare": "Commits between two versions",
	"Releases": "Releases", "GuardedMerge": "Merge only of the evaluated commit",
	"Rules": "Branch rules as gates", "Deployments": "Deployments as a source of health",
}

// TestForgesPage compares the table of the page with the features of the forges.
func TestForgesPage(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "docs", "forges.md")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- features -->\n\n", "\n<!-- /features -->"
	before, rest, found := strings.Cut(string(page), begin)
	table, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the table", file)
	}
	want := featureTable(t, []string{"GitHub", "GitLab", "Gitea, Forgejo", "plain Git"},
		features(t, gitHub(t), "acme/deploy"), features(t, gitLab(t), "acme/deploy"), features(t, giteaForge(t), "acme/deploy"),
		features(t, plain.New(plain.Options{}), "https://git.example.com/acme/deploy"))
	if *update {
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, table); diff != "" {
		t.Errorf("run go test ./internal/app -run Forges -update:\n%s", diff)
	}
}

func gitHub(t *testing.T) scm.Forge {
	t.Helper()
	server := githubtest.New(t, githubtest.Options{})
	server.NewRepository("acme/deploy", map[string]string{"a.yaml": "a: 1\n"})
	token := server.Token("acme", "repo")
	forge, err := github.New(github.Options{
		URL: server.URL(), HTTP: server.Client(), Now: time.Now,
		Token: func(context.Context) (secret.String, error) { return secret.New(token), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return forge
}

func giteaForge(t *testing.T) scm.Forge {
	t.Helper()
	server := giteatest.New(t, giteatest.Options{})
	server.NewRepository("acme/deploy", map[string]string{"a.yaml": "a: 1\n"})
	token := server.Token("acme", giteatest.Scopes()...)
	forge, err := gitea.New(gitea.Options{
		URL: server.URL(), HTTP: server.Client(), Now: time.Now,
		Token: func(context.Context) (secret.String, error) { return secret.New(token), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return forge
}

func gitLab(t *testing.T) scm.Forge {
	t.Helper()
	server := gitlabtest.New(t, gitlabtest.Options{})
	server.NewProject("acme/deploy", map[string]string{"a.yaml": "a: 1\n"})
	token := server.Token("root", "api")
	forge, err := gitlab.New(gitlab.Options{
		URL: server.URL(), HTTP: server.Client(), Now: time.Now,
		Token: func(context.Context) (secret.String, error) { return secret.New(token), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return forge
}

func features(t *testing.T, forge scm.Forge, name string) scm.Features {
	t.Helper()
	repo, err := forge.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return repo.Features()
}

// featureTable has a line per field of scm.Features and a column per forge.
func featureTable(t *testing.T, names []string, all ...scm.Features) string {
	t.Helper()
	var table strings.Builder
	fmt.Fprintf(&table, "| | %s |\n|---|%s\n", strings.Join(names, " | "), strings.Repeat("---|", len(names)))
	for i := range reflect.TypeFor[scm.Features]().NumField() {
		field := reflect.TypeFor[scm.Features]().Field(i).Name
		if reflect.TypeFor[scm.Features]().Field(i).Type.Kind() != reflect.Bool {
			continue // how something is written, and no feature
		}
		if featureWords[field] == "" {
			t.Fatalf("the table has no words for %s", field)
		}
		fmt.Fprintf(&table, "| %s |", featureWords[field])
		for _, one := range all {
			word := " no |"
			if reflect.ValueOf(one).Field(i).Bool() {
				word = " yes |"
			}
			table.WriteString(word)
		}
		table.WriteString("\n")
	}
	return table.String()
}
