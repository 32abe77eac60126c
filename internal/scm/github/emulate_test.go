package github_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"promoter/internal/scm"
	"promoter/internal/scm/github"
	"promoter/internal/scm/scmtest"
	"promoter/internal/secret"
)

// emulateVariable is the environment variable with the directory of packages that
// `hack/tools emulate` downloads.
const emulateVariable = "PROMOTER_EMULATE"

// known lists the tests that fail because of the emulator, with the reason. The
// emulator is an independent implementation of GitHub's documentation, which makes
// the other tests valuable.
var known = map[string]string{
	"a user's closing is distinguished from ours":                               noIssue,
	"a close before the deletion of the branch is distinguished from one by it": noIssue,
	"a deleted branch closes, and what it held is still told":                   "pull requests do not follow their branches",
	"the head is where the branch stands":                                       "pull requests do not follow their branches",
	"a head that moved is a conflict":                                           "pull requests do not follow their branches; a stale head is 422 instead of 409",
	"merged by hand: fast-forward":                                              "pull requests do not follow their branches",
	"merged by hand: merge":                                                     noMerges,
	"merged by hand: rebase":                                                    noMerges,
	"merged by hand: squash":                                                    noMerges,
	"merged by hand: queue":                                                     "there is no merge queue: any method is taken",
	"Reviews returns the reviewer, the state, and the commit":                   "pull requests do not follow their branches, and no account is a bot",
	"a conflict with the base is temporary":                                     "it never finds conflicts",
	"a second pull request is a conflict":                                       "it opens a second one",
	"Create of a branch that is not there is refused":                           "it opens pull requests from nothing",
	"Merge uses the method that is left":                                        "a method that is not allowed is 422 instead of 405",
	"Merge without an allowed method is unauthorized":                           "a method that is not allowed is 422 instead of 405",
	"SetStatus sets the one status of its context":                              noStatuses,
	"SetStatus with the current status writes nothing":                          noStatuses,
	"a description that is too long is cut":                                     noStatuses,
	"Merge without the right to push is unauthorized":                           noRights,
	"an account that may not push is reported":                                  noRights,
	"an archived repository is reported and refuses with a message":             "archived repositories take writes",
	"Open follows a rename, and the key stays":                                  "the old name is gone at once",
	"MayWrite is asked live":                                                    "the permission of a collaborator cannot be changed",
	"Member knows who is in a team":                                             "names of teams differ by case",
	"Comments lists them all, oldest first":                                     fractions,
	"Say says it once":                                                          fractions,
	"Recent lists the comments of all pull requests":                            noRecent,
	"Recent begins with since itself":                                           noRecent,
	"Recent ends at the limit, and the next call goes on":                       noRecent,
	"Recent reads more than 100":                                                noRecent,
	"a comment of a bot is reported as one":                                     noRecent,
	"a long comment is cut":                                                     noRecent,
	"Pushed lists how a branch moved, newest first":                             noActivity,
	"Pushed shows that a branch was deleted":                                    noActivity,
	"Pushed of a branch that never was is empty":                                noActivity,
	"Releases lists the published ones, newest first":                           "the time of publishing cannot be given, and equal ones are in any order",
}

// Reasons that several tests share.
const (
	noIssue    = "a pull request is no issue, which alone tells who closed it"
	noMerges   = "it does not list the pull requests of a commit"
	noStatuses = "it has no commit statuses"
	fractions  = "times have fractions, and a new comment can be older than its last change"
	noRecent   = "it does not list the comments of a repository, and has no reactions"
	noActivity = "it does not list the activity of a repository"
	noRights   = "whoever has a token may write"
)

func TestConformance_emulator(t *testing.T) {
	t.Parallel()
	names := scmtest.Names()
	for name := range known {
		if !slices.Contains(names, name) {
			t.Errorf("the suite has no case %q", name)
		}
	}
	scmtest.Run(t, startEmulator(t).bench)
}

// emulator is one running emulator; every test gets a repository of its own.
type emulator struct {
	url   string
	repos atomic.Int64
}

// seed contains the users of the suite.
const seed = `{
	"users": [{"login": "promoter-bot"}, {"login": "ann"}, {"login": "bob"}, {"login": "eve"}, {"login": "robot-ci"}, {"login": "owner"}],
	"orgs": [{"login": "acme", "members": [{"login": "owner", "role": "admin"}, {"login": "ann", "role": "member"}]}]
}`

func startEmulator(t *testing.T) *emulator {
	t.Helper()
	return seedEmulator(t, seed)
}

func seedEmulator(t *testing.T, seed string) *emulator {
	t.Helper()
	folder := os.Getenv(emulateVariable)
	if folder == "" {
		t.Skipf("%s is not set", emulateVariable)
	}
	node, script := filepath.Join(folder, "node", "bin", "node"), filepath.Join("..", "..", "..", "hack", "emulate.mjs")
	command := exec.CommandContext(t.Context(), node, script, folder, seed)
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	command.Stderr = &said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	lines := bufio.NewScanner(output)
	if !lines.Scan() {
		t.Fatalf("the emulator did not start: %s", said.String())
	}
	e := &emulator{url: strings.TrimSpace(lines.Text())}
	team := place{e: e, t: t}
	team.must("owner", "POST", "/orgs/acme/teams", object{"name": "sre"}, nil)
	team.must("owner", "PUT", "/orgs/acme/teams/sre/memberships/ann", object{"role": "member"}, nil)
	return e
}

type object = map[string]any

// place is one repository of the emulator.
type place struct {
	e    *emulator
	t    *testing.T
	path string // /repos/OWNER/NAME
	name string // OWNER/NAME
}

// ask sends a request as a user and returns the status.
func (p place) ask(who, method, path string, body, into any) int {
	p.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, p.e.url+path, bytes.NewReader(text))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer token-"+who)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if ends := resp.Header.Get("Keep-Alive"); ends != "" {
		p.t.Errorf("the emulator closes a connection that waits, and with it what is on its way: %s", ends)
	}
	answer, err := io.ReadAll(resp.Body)
	if err == nil && into != nil && resp.StatusCode < 300 {
		err = json.Unmarshal(answer, into)
	}
	if err != nil {
		p.t.Fatalf("%s %s: %v: %s", method, path, err, answer)
	}
	if resp.StatusCode >= 300 && resp.StatusCode != http.StatusNotFound {
		p.t.Logf("the emulator answers %s %s with %d: %s", method, path, resp.StatusCode, answer)
	}
	return resp.StatusCode
}

func (p place) must(who, method, path string, body, into any) {
	p.t.Helper()
	if status := p.ask(who, method, path, body, into); status >= 300 {
		p.t.Fatalf("%s %s: %d", method, path, status)
	}
}

func (e *emulator) bench(t *testing.T) scmtest.Bench {
	t.Helper()
	return e.benchOf(t, func(_ string, client *http.Client) scm.Forge {
		forge, err := github.New(github.Options{
			URL: e.url, API: e.url + "/", HTTP: client, Now: time.Now,
			Token: func(context.Context) (secret.String, error) { return secret.New("token-" + self), nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		return forge
	})
}

// benchOf returns a new repository with a forge that the given function creates.
func (e *emulator) benchOf(t *testing.T, forge func(name string, client *http.Client) scm.Forge) scmtest.Bench {
	t.Helper()
	name := fmt.Sprintf("acme/deploy-%d", e.repos.Add(1))
	p := place{e: e, t: t, path: "/repos/" + name, name: name}
	p.must("owner", "POST", "/orgs/acme/repos", object{"name": strings.TrimPrefix(name, "acme/"), "auto_init": true}, nil)
	for who, permission := range map[string]string{self: "push", scmtest.Ann: "push", scmtest.Bob: "push", scmtest.Eve: "pull", scmtest.Robot: "push"} {
		p.must("owner", "PUT", p.path+"/collaborators/"+who, object{"permission": permission}, nil)
	}
	p.commit(scmtest.Commit{By: "owner", Branch: "main", Path: "a.yaml", Content: "image: web:1\n", Message: "Begin"})
	accidents := &accidents{next: http.DefaultTransport}
	return scmtest.Bench{
		Forge: forge(name, &http.Client{Transport: accidents}), Name: name, Git: p.git(), People: p.people(), World: p.world(accidents), Known: known,
	}
}
