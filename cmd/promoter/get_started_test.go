package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/git/gittest"
	"promoter/internal/registry/registrytest"
	"promoter/internal/scm/github/githubtest"
)

var update = flag.Bool("update", false, "write the output of the commands into docs/get-started.md")

var getStarted = filepath.Join("..", "..", "docs", "get-started.md")

// TestGetStarted runs docs/get-started.md from the top to the bottom: it builds and installs
// promoter, writes the files of the page, runs its commands in a clone, and compares their output
// with the page. A registry and a GitHub on loopback take the place of quay.io and github.com.
//
// Every command of the page is run. What differs from a reader: promoter is installed into a folder
// of the test, without sudo; and the user merges pull requests by the API instead of gh.
func TestGetStarted(t *testing.T) {
	t.Parallel()
	g := newGuide(t)
	blocks := regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$").FindAllStringSubmatch(g.page, -1)
	commands, rewritten, rest := 0, "", g.page // the page with today's output, and what follows
	for _, block := range blocks {
		switch block[1] {
		case "yaml":
			g.writeFile(block[2])
			continue
		case "sh":
			for line := range strings.Lines(block[2]) {
				g.install(strings.TrimSpace(line))
			}
			continue
		case "console":
		default:
			t.Fatalf("the test does not know blocks of %q", block[1])
		}
		for _, part := range strings.Split("\n"+block[2], "\n$ ")[1:] {
			line, want, _ := strings.Cut(strings.TrimSuffix(part, "\n")+"\n", "\n")
			got := g.run(line)
			if diff := cmp.Diff(want, got); diff != "" && !*update {
				t.Errorf("%s (-page +got):\n%s", line, diff)
			}
			before, after, _ := strings.Cut(rest, "$ "+line+"\n"+want)
			rewritten, rest = rewritten+before+"$ "+line+"\n"+got, after
			commands++
		}
	}
	if *update {
		if err := os.WriteFile(getStarted, []byte(rewritten+rest), 0o600); err != nil { //nolint:gosec // the page of this repository
			t.Fatal(err)
		}
	}
	if commands < 8 {
		t.Errorf("only %d commands were found", commands)
	}
	if g.token != "" {
		t.Error("the page never sets the token")
	}
	for _, pull := range g.repository.Pulls.All() {
		if !strings.Contains(g.page, pull.Title) {
			t.Errorf("the page does not mention pull request #%d: %s", pull.Number, pull.Title)
		}
	}
}

// TestPlainGitPage runs the commands of docs/git.md with a repository in a folder that has
// the files of the page, and compares their output with the page.
func TestPlainGitPage(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing")
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "git.md"))
	if err != nil {
		t.Fatal(err)
	}
	registry, root := registrytest.New(t), t.TempDir()
	for _, tag := range []string{"1.4.2", "1.5.0", "2.0.0"} {
		registry.Push(t, "acme/web:"+tag, tag)
	}
	g := &guide{t: t, page: string(page), host: registry.Host, env: append(gittest.Environ(), "DOCKER_CONFIG="+root)}
	files := g.example()
	files["apps/shop/prod/app.yaml"] = files["apps/shop/dev/app.yaml"]
	config := regexp.MustCompile("(?ms)^```yaml\n(# \\.promoter\\.yaml\n.*?)^```$").FindStringSubmatch(g.page)
	if config == nil {
		t.Fatal("the page has no config file")
	}
	files[".promoter.yaml"] = g.local(config[1])
	for name, text := range files {
		file := filepath.Join(root, "clone", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out := g.shell(root, "git init -q --bare -b main gitops.git && git init -q -b main clone && cd clone && git add . && "+
		"git commit -q -m Begin && git push -q ../gitops.git main"); out != "" {
		t.Fatal(out)
	}
	const repository = "file:///srv/git/gitops.git"
	local := "file://" + filepath.Join(root, "gitops.git")
	for _, block := range regexp.MustCompile("(?ms)^```console\n(.*?)^```$").FindAllStringSubmatch(g.page, -1) {
		for _, part := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			line, want, _ := strings.Cut(strings.TrimSuffix(part, "\n")+"\n", "\n")
			got := g.shell(root, strings.ReplaceAll(line, repository, local))
			got = strings.NewReplacer(g.host, "quay.io", local, repository).Replace(got)
			got = regexp.MustCompile(`pushed  [0-9a-f]{7}`).ReplaceAllString(got, "pushed  58b5d4a")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-page +got):\n%s", line, diff)
			}
		}
	}
}

// guide is the page with what its commands need.
type guide struct {
	t          *testing.T
	page       string
	dir        string // of the clone
	host       string // of the registry
	github     *githubtest.Server
	repository *githubtest.Repository
	server     string // server file that maps the URL of the page to the GitHub of the test
	env        []string
	token      string // that the reader sets; empty: is set
	bin        string // where the page installs promoter
}

func newGuide(t *testing.T) *guide {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing")
	}
	page, err := os.ReadFile(getStarted)
	if err != nil {
		t.Fatal(err)
	}
	registry, hub := registrytest.New(t), githubtest.New(t, githubtest.Options{})
	for _, tag := range []string{"1.4.2", "1.5.0", "2.0.0"} {
		registry.Push(t, "acme/web:"+tag, tag)
	}
	root := t.TempDir()
	g := &guide{t: t, page: string(page), dir: filepath.Join(root, "gitops"), host: registry.Host, github: hub, server: filepath.Join(root, "server.yaml")}
	hub.AddUser("promoter-bot")
	g.repository = hub.NewRepository("acme/gitops", g.example())
	g.repository.Settings.Permit("promoter-bot", "write")
	g.repository.Settings.Permit("ann", "write")
	token := hub.Token("promoter-bot", "repo", "read:org")
	// The page has no server file, so that its token is that of the user.
	g.token, g.bin = token, filepath.Join(root, "bin")
	g.env = append(gittest.Environ(), "PROMOTER_GITHUB_TOKEN=", "PROMOTER_USER_TOKEN="+token, "DOCKER_CONFIG="+root)
	if err := os.Mkdir(g.bin, 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`version: 1
forges:
  github: {kind: github, url: "%s", insecure: true, token: "env:PROMOTER_GITHUB_TOKEN"}
repositories:
  - {forge: github, name: acme/gitops}
registries:
  - {host: "%s", insecure: true}
networks: [127.0.0.0/8]
`, hub.URL(), g.host)
	if err := os.WriteFile(g.server, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	clone := strings.Replace(g.repository.Settings.CloneURL(), "://", "://ann:"+hub.Token("ann", "repo")+"@", 1)
	if out := g.shell(root, "git clone -q "+clone+" gitops"); out != "" {
		t.Fatal(out)
	}
	return g
}

// example returns the files with which the repository of the page begins.
func (g *guide) example() map[string]string {
	files := map[string]string{}
	for _, found := range regexp.MustCompile("(?ms)^```yaml\n# file: (\\S+)\n(.*?)^```$").FindAllStringSubmatch(g.page, -1) {
		files[found[1]] = g.local(found[2])
	}
	if len(files) == 0 {
		g.t.Fatal("the page shows no files")
	}
	return files
}

// writeFile writes the config file where the page shows it. The other files are in the
// repository already.
func (g *guide) writeFile(text string) {
	g.t.Helper()
	name := ".promoter.yaml"
	if !strings.HasPrefix(text, "# "+name+"\n") {
		return
	}
	file := filepath.Join(g.dir, name)
	generated, err := os.ReadFile(file)
	if err != nil {
		g.t.Fatal(err)
	}
	want := strings.NewReplacer("    pin: tag+digest\n", "", "    propose: never\n", "    land: pr\n").Replace(withoutComments(g.local(text)))
	if diff := cmp.Diff(want, withoutComments(string(generated))); diff != "" {
		g.t.Errorf("the config file without comments and without what the user changes (-page +init):\n%s", diff)
	}
	if err := os.WriteFile(file, []byte(g.local(text)), 0o600); err != nil {
		g.t.Fatal(err)
	}
}

// withoutComments removes comments, empty lines, and the quotes that an image with a port
// has.
func withoutComments(text string) string {
	text = regexp.MustCompile(`(?m)(^| )[ ]*#.*$`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`image: '(.*)'`).ReplaceAllString(text, "image: $1")
	return regexp.MustCompile(`(?m)^\n`).ReplaceAllString(text, "")
}

// local replaces the registry of the page by that of the test.
func (g *guide) local(text string) string { return strings.ReplaceAll(text, "quay.io", g.host) }

// install runs a command of the page that shows no output: it builds or installs promoter, or sets
// the token.
func (g *guide) install(line string) {
	g.t.Helper()
	dir := root // a checkout of promoter
	switch name, isToken := strings.CutSuffix(strings.TrimPrefix(line, "export "), "=..."); {
	case isToken:
		g.env, g.token = append(g.env, name+"="+g.token), ""
		return
	case strings.HasPrefix(line, "make "):
		if testing.Short() {
			return // it links the whole program; then the test is promoter
		}
	case strings.HasPrefix(line, "sudo install "):
		if testing.Short() {
			return
		}
		line = strings.Replace(strings.TrimPrefix(line, "sudo "), "/usr/local/bin/", g.bin+"/", 1)
		g.env = append(g.env, "PATH="+g.bin+":"+os.Getenv("PATH"))
	default:
		g.t.Fatalf("the test does not know how to run %q", line)
	}
	if out := g.shell(dir, line); strings.Contains(out, "exit ") {
		g.t.Fatalf("%s: %s", line, out)
	}
}

// run runs a command of the page and returns its output as the page shows it.
func (g *guide) run(line string) string {
	g.t.Helper()
	const repository = "https://github.com/acme/gitops"
	if number, ok := strings.CutPrefix(line, "gh pr merge --merge "); ok {
		merged, err := strconv.Atoi(number)
		if err != nil {
			g.t.Fatal(err)
		}
		g.repository.Pulls.Merge("ann", merged, "merge")
		return ""
	}
	out := g.shell(g.dir, strings.Replace(line, "--repo "+repository, "--repo acme/gitops --config "+g.server, 1))
	out = strings.ReplaceAll(out, g.host, "quay.io")
	out = strings.ReplaceAll(out, g.github.URL()+"/acme/gitops", repository)
	out = strings.ReplaceAll(out, "promoter-bot ("+g.github.Host()+")", "ann (github.com)") // the user of the token
	return regexp.MustCompile(`(?m)^acme/gitops( |$)`).ReplaceAllString(out, repository+"$1")
}

// shell runs a command line and returns what a terminal would show.
func (g *guide) shell(dir, line string) string {
	g.t.Helper()
	command := exec.CommandContext(g.t.Context(), "sh", "-c", line)
	command.Dir, command.Env = dir, g.env
	out, err := command.CombinedOutput()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return fmt.Sprintf("%sexit %d\n", out, failed.ExitCode())
	}
	if err != nil {
		g.t.Fatal(err)
	}
	return string(out)
}
