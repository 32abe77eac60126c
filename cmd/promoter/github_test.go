package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"promoter/internal/scm/github/githubtest"
)

// forges are the GitHubs of scripts, by their host.
type forges struct {
	mu  sync.Mutex
	all map[string]*githubtest.Repository
}

// start starts a GitHub with one repository: github OWNER/NAME FOLDER. $GITHUB is its host,
// $BOT_TOKEN is a token of promoter, and $ANN_TOKEN and $BOB_TOKEN are those of users who may
// write.
func (f *forges) start(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: github OWNER/NAME FOLDER")
	}
	t, ok := ts.Value(testKey{}).(testing.TB)
	if !ok {
		ts.Fatalf("no test runs the script")
	}
	server := githubtest.New(t, githubtest.Options{})
	repository := server.NewRepository(args[0], filesIn(ts, args[1]))
	repository.Settings.Permit(githubtest.Self, "write")
	ts.Setenv("BOT_TOKEN", server.Token(githubtest.Self, "repo", "read:org"))
	for variable, login := range map[string]string{"ANN_TOKEN": "ann", "BOB_TOKEN": "bob"} {
		server.AddUser(login)
		repository.Settings.Permit(login, "write")
		ts.Setenv(variable, server.Token(login, "repo", "read:org"))
	}
	ts.Setenv("GITHUB", server.Host())
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all[server.Host()] = repository
}

// act lets a user act on a pull request: pr merge|close|approve USER NUMBER.
func (f *forges) act(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: pr merge|close|approve USER NUMBER")
	}
	f.mu.Lock()
	repository := f.all[ts.Getenv("GITHUB")]
	f.mu.Unlock()
	number, err := strconv.Atoi(args[2])
	ts.Check(err)
	switch args[0] {
	case "merge":
		repository.Pulls.Merge(args[1], number, "merge")
	case "close":
		repository.Pulls.Close(args[1], number)
	case "approve":
		repository.Pulls.Approve(args[1], number)
	default:
		ts.Fatalf("pr %s: want merge, close, or approve", args[0])
	}
}

// testKey is the key of the test that runs a script, among its values.
type testKey struct{}

func filesIn(ts *testscript.TestScript, folder string) map[string]string {
	root := ts.MkAbs(folder)
	files := map[string]string{}
	ts.Check(filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		files[filepath.ToSlash(name)] = string(content)
		return err
	}))
	return files
}
