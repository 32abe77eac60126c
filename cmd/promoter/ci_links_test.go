package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"promoter/internal/git/gittest"
)

// clonedLinks is a folder with symbolic links that a repository contains, and what they lead to.
type clonedLinks struct {
	t            *testing.T
	dir, outside string
}

const untouched = "a file of the runner"

// newLinks makes a clone with links to a file, to a file that does not exist, and to folders of
// the runner.
func newLinks(t *testing.T) clonedLinks {
	t.Helper()
	images := newImages(t)
	l := clonedLinks{t: t, outside: t.TempDir()}
	write(t, filepath.Join(l.outside, "secret"), untouched)
	write(t, filepath.Join(l.outside, "folder", "promoter"), untouched)
	repository := filepath.Join(t.TempDir(), "gitops")
	for name, text := range pipelineFiles(images.Host) {
		write(t, filepath.Join(repository, name), text)
	}
	l.dir = filepath.Join(t.TempDir(), "clone")
	gittest.Exec(t, repository, "init", "-q", "-b", "main")
	gittest.Exec(t, repository, "add", ".")
	gittest.Exec(t, repository, "commit", "-q", "-m", "Begin")
	gittest.Exec(t, repository, "clone", "-q", repository, l.dir)
	gittest.Exec(t, repository, "clone", "-q", repository, filepath.Join(l.outside, "folder", "other"))
	for name, to := range map[string]string{
		"promoter-plan.md": "secret", "promoter-plan.md.messages": "secret", "promoter-plan.md.json": "secret",
		"new.md": "new", "new.md.messages": "new", "new.md.json": "new",
		"folder": "folder", "other": "folder/other",
		"bin/promoter": "secret", "bin/promoter.tar.gz": "secret", "newbin/promoter": "new", "newbin/promoter.tar.gz": "new",
		"intofolder/promoter": "folder", "intofolder.md": "folder",
	} {
		link := filepath.Join(l.dir, name)
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(l.outside, to), link); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// outsideNow lists the files of the runner with their content, and the branches of the other
// clone.
func (l clonedLinks) outsideNow() string {
	l.t.Helper()
	var all []string
	err := filepath.WalkDir(l.outside, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		all = append(all, path+": "+string(content))
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return strings.Join(all, "\n")
}

// run runs a script in the clone, with the shell of most pipelines.
func (l clonedLinks) run(script string, variables ...string) (string, error) {
	l.t.Helper()
	file, err := filepath.Abs(filepath.Join(root, "config", "ci", script))
	if err != nil {
		l.t.Fatal(err)
	}
	command := exec.CommandContext(l.t.Context(), "sh", file)
	command.Dir, command.Env = l.dir, slices.Concat(gittest.Environ(), []string{"DOCKER_CONFIG=" + l.t.TempDir()}, variables)
	out, err := command.CombinedOutput()
	return string(out), err
}

// No script writes to what a link of the repository leads to: it replaces the link, or refuses.
func TestCI_scriptsWriteThroughNoLinks(t *testing.T) {
	t.Parallel()
	needs(t, "git", "sh", "curl", "jq", "tar")
	releases, checksum := newRelease(t)
	install := []string{"PROMOTER_VERSION=0.1.0", "PROMOTER_SHA256=" + checksum, "PROMOTER_URL=" + releases + "/acme/promoter/releases/download"}
	plan := []string{"PROMOTER_BASE=main"}
	const replaced, refused = "", "symbolic link"
	for name, test := range map[string]struct {
		script string
		env    []string
		want   string // in the error; empty: none
	}{
		"plan":                              {"plan.sh", append(plan, "PROMOTER_DIR=.", "PROMOTER_PLAN=promoter-plan.md"), replaced},
		"plan to a new file":                {"plan.sh", append(plan, "PROMOTER_DIR=.", "PROMOTER_PLAN=new.md"), replaced},
		"plan to a link to a folder":        {"plan.sh", append(plan, "PROMOTER_DIR=.", "PROMOTER_PLAN=intofolder.md"), replaced},
		"plan into a folder":                {"plan.sh", append(plan, "PROMOTER_DIR=.", "PROMOTER_PLAN=folder/plan.md"), refused},
		"plan below a folder":               {"plan.sh", append(plan, "PROMOTER_DIR=.", "PROMOTER_PLAN=./folder//other/plan.md"), refused},
		"plan of another clone":             {"plan.sh", append(plan, "PROMOTER_DIR=other", "PROMOTER_PLAN=new.md"), refused},
		"plan of another clone with a /":    {"plan.sh", append(plan, "PROMOTER_DIR=./other//", "PROMOTER_PLAN=new.md"), refused},
		"plan of a folder of another clone": {"plan.sh", append(plan, "PROMOTER_DIR=other/apps/..", "PROMOTER_PLAN=new.md"), refused},
		"install":                           {"install.sh", append(install, "PROMOTER_BIN=bin"), replaced},
		"install a new file":                {"install.sh", append(install, "PROMOTER_BIN=newbin"), replaced},
		"install over a folder":             {"install.sh", append(install, "PROMOTER_BIN=intofolder"), replaced},
		"install into a folder":             {"install.sh", append(install, "PROMOTER_BIN=folder/"), refused},
		"install into a new folder":         {"install.sh", append(install, "PROMOTER_BIN=folder/bin"), refused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLinks(t)
			before := l.outsideNow()
			out, err := l.run(test.script, test.env...)
			if test.want == replaced && err != nil || test.want != replaced && (err == nil || !strings.Contains(out, test.want)) {
				t.Errorf("%v\n%s", err, out)
			}
			if after := l.outsideNow(); after != before {
				t.Errorf("outside of the clone was\n%s\nand is\n%s", before, after)
			}
		})
		t.Run(name+" by an absolute path", func(t *testing.T) {
			t.Parallel()
			l := newLinks(t)
			before := l.outsideNow()
			var env []string
			for _, variable := range test.env {
				key, value, _ := strings.Cut(variable, "=")
				if key == "PROMOTER_PLAN" || key == "PROMOTER_BIN" || key == "PROMOTER_DIR" && value != "." {
					value = l.dir + "/" + value
				}
				env = append(env, key+"="+value)
			}
			out, err := l.run(test.script, env...)
			if (err != nil) != (test.want != replaced) {
				t.Errorf("%v\n%s", err, out)
			}
			if after := l.outsideNow(); after != before {
				t.Errorf("outside of the clone was\n%s\nand is\n%s", before, after)
			}
		})
	}
}

// A comment is a file that the plan wrote, and nothing that a link leads to: the job has a token.
func TestCI_commentsFollowNoLinks(t *testing.T) {
	t.Parallel()
	needs(t, "git", "sh", "curl", "jq")
	for _, script := range []string{"github/comment.sh", "gitlab/comment.sh"} {
		for plan, want := range map[string]string{"plan.md": "", "promoter-plan.md": "not a file", "new.md": "not a file", "apps": "not a file"} {
			t.Run(script+" "+plan, func(t *testing.T) {
				t.Parallel()
				l := newLinks(t)
				write(t, filepath.Join(l.dir, "plan.md"), "the plan")
				if err := os.Symlink(filepath.Join(l.outside, "secret"), filepath.Join(l.dir, "plan.md.json")); err != nil {
					t.Fatal(err)
				}
				bodies := make(chan string, 10)
				forge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodPost {
						body, err := io.ReadAll(r.Body)
						if err != nil {
							t.Error(err)
						}
						bodies <- string(body)
					}
					answer := "[]"
					if strings.HasSuffix(r.URL.Path, "/user") {
						answer = `{"id": 1}`
					}
					_, _ = io.WriteString(w, answer)
				}))
				t.Cleanup(forge.Close)
				before := l.outsideNow()
				out, err := l.run(script, "PROMOTER_PLAN="+plan, "PROMOTER_DIR=.",
					"GITHUB_API_URL="+forge.URL, "GITHUB_REPOSITORY=acme/gitops", "PROMOTER_PULL_REQUEST=1", "PROMOTER_TOKEN=t", "PROMOTER_AUTHOR=bot",
					"CI_API_V4_URL="+forge.URL, "CI_MERGE_REQUEST_PROJECT_ID=1", "CI_MERGE_REQUEST_IID=1", "PROMOTER_COMMENT_TOKEN=t")
				close(bodies)
				var posted []string
				for body := range bodies {
					posted = append(posted, body)
				}
				switch {
				case want == "" && (err != nil || len(posted) != 1 || !strings.Contains(posted[0], "the plan")):
					t.Errorf("%v\n%s\n%q", err, out, posted)
				case want != "" && (err == nil || !strings.Contains(out, want) || len(posted) != 0):
					t.Errorf("%v\n%s\n%q", err, out, posted)
				}
				if after := l.outsideNow(); after != before {
					t.Errorf("outside of the clone was\n%s\nand is\n%s", before, after)
				}
			})
		}
	}
}

// The action refuses folders that are links of the repository: promoter follows them.
func TestCI_githubRefusesLinkedFolders(t *testing.T) {
	t.Parallel()
	needs(t, "git", "bash")
	for name, inputs := range map[string]map[string]string{
		"apply":                     {"command": "apply", "dir": "other", "with": "quay.io/acme/web:1.5.0"},
		"apply with a /":            {"command": "apply", "dir": "./other//", "with": "quay.io/acme/web:1.5.0"},
		"apply below":               {"command": "apply", "dir": "folder/other", "with": "quay.io/acme/web:1.5.0"},
		"apply by an absolute path": {"command": "apply", "dir": "$PWD/other", "with": "quay.io/acme/web:1.5.0"},
		"validate":                  {"command": "validate", "dir": "other"},
		"run":                       {"command": "run", "cache": "folder/cache"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLinks(t)
			inputs["dir"] = strings.ReplaceAll(inputs["dir"], "$PWD", l.dir)
			before := l.outsideNow()
			j := newJob(t, l.dir, inputs, map[string]string{
				"github.event_name": "push", "github.server_url": "", "github.action_repository": "", "github.sha": "0",
			})
			if out, failed := j.run(); !failed || !strings.Contains(out, "symbolic link of the repository") {
				t.Errorf("failed: %t\n%s", failed, out)
			}
			if after := l.outsideNow(); after != before {
				t.Errorf("outside of the clone was\n%s\nand is\n%s", before, after)
			}
		})
	}
}

// Scripts write to a folder that they made outside of the clone. Only plan.sh then writes to the
// clone, to a file that must not exist (set -C).
func TestCI_scriptsWriteToFoldersOfTheirOwn(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(root, "config", "ci", "*.sh"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(filepath.Join(root, "config", "ci", "*", "*.sh"))
	if err != nil || len(files)+len(more) < 4 {
		t.Fatalf("%d scripts: %v", len(files)+len(more), err)
	}
	target := regexp.MustCompile(`(?:[^<>&0-9-]|^|\s[012])>>?\s*("[^"]*"|[^\s;)]+)|--output\s+("[^"]*"|\S+)|-C\s+("[^"]*"|\S+)`)
	own := []string{`"$work/plan"`, `"$work/messages"`, `"$work/body"`, `"$work"`, `"$archive"`, `"$PROMOTER_DIR"`, "/dev/null", "&1", "&2"}
	count := 0
	for _, file := range append(files, more...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "(set -C && ") {
				continue
			}
			line, _, _ = strings.Cut(line, " # ")
			for _, found := range target.FindAllStringSubmatch(line, -1) {
				count++
				if to := found[1] + found[2] + found[3]; !slices.Contains(own, to) {
					t.Errorf("%s writes to %s:\n%s", file, to, line)
				}
			}
		}
	}
	if count < 10 {
		t.Errorf("only %d places were found", count)
	}
}
