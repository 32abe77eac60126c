package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"promoter/hack/demo-github/bridge"
)

// emulateVariable names the folder of packages that `hack/tools emulate` brings.
const emulateVariable = "PROMOTER_EMULATE"

// startEmulator starts the independent emulator of GitHub with two accounts, behind
// the bridge that adds what it lacks. It returns the URL of the bridge.
func startEmulator(t *testing.T) string {
	t.Helper()
	folder := os.Getenv(emulateVariable)
	if folder == "" {
		t.Skipf("%s is not set", emulateVariable)
	}
	node, script := filepath.Join(folder, "node", "bin", "node"), filepath.Join("..", "..", "hack", "emulate.mjs")
	command := exec.CommandContext(t.Context(), node, script, folder, `{"users": [{"login": "promoter-bot"}, {"login": "ann"}]}`)
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
	handler, err := bridge.New(strings.TrimSpace(lines.Text()), http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// tokens are those of the accounts.
func tokens() map[string]string {
	return map[string]string{"PROMOTER_GITHUB_TOKEN": "token-promoter-bot", "PROMOTER_DEMO_USER_TOKEN": "token-ann"}
}

// repositoriesOfAnn are what is left at the emulator.
func repositoriesOfAnn(t *testing.T, url string) (names []string) {
	t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url+"/api/v3/user/repos", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer token-ann")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var all []struct{ Name string }
	if err := json.NewDecoder(response.Body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		names = append(names, one.Name)
	}
	return names
}

func TestDemo_onGitHubTellsTheWholeStory(t *testing.T) {
	t.Parallel()
	url := startEmulator(t)
	s := stage{env: tokens()}
	if code := s.perform(t.Context(), "--once", "--forge", "github", "--forge-url", url); code != 0 {
		t.Fatalf("the demo ended with %d\n%s%s", code, s.err.String(), s.out.String())
	}
	checkSize(t, s.out.String())
	checkStory(t, s.out.String(),
		`^1\. You describe the environments in \.promoter\.yaml: dev, then staging, then prod$`,
		`^     prod: {paths: .*, land: automerge,$`,
		`^2\. You push new images: dev gets them at once, staging as a pull request$`,
		`^   #1 Promote 3 applications to staging: blog, mail, shop \(open, by promoter-bot\)$`,
		"^   It lists what changed in the source of shop:\n   - `[0-9a-f]{7}` `Keep the cart for a day` by `ann`$",
		`^3\. You review and merge the pull request$`,
		`^   #1 .* \(merged, by ann\)$`,
		`^   prod/shop  waiting  staging soak: present since \S+, until \S+Z$`,
		`^   An hour is too long for a demo\.`,
		`^4\. promoter merges the one for prod when its window is open and its check has passed$`,
		`gate check e2e: waiting, not reported yet$`,
		`^   #2 Promote 3 applications to prod: blog, mail, shop \(open, by promoter-bot\)$`,
		`^   The tests report that the check e2e passed\.$`,
		`^   #2 .* \(merged, by promoter-bot\)$`,
		`^5\. You run it again: nothing changes$`,
		`^6\. You close the pull request with a bad image: promoter does not open it again$`,
		`^   #3 Promote shop to staging: shop 1\.6\.0 \(closed\)$`,
		`^   staging/shop  rejected  shop 1\.6\.0 was rejected by an unknown user `,
		`^   #4 Promote shop to staging: shop 1\.6\.1 \(open, by promoter-bot\)$`,
		`^7\. You read on GitHub who changed what$`,
		`^   #4 .* \(open, by promoter-bot\), `,
		`^   ann: Merge pull request #1 from ann:promoter/staging/_all$`)
	s.gone(t)
	if left := repositoriesOfAnn(t, url); len(left) != 0 {
		t.Errorf("left at the forge: %v", left)
	}
}

// TestDemo_onGitHubNoticesABrokenPromise lets run only look, and keeps the
// repository when asked to.
func TestDemo_onGitHubNoticesABrokenPromise(t *testing.T) {
	t.Parallel()
	url := startEmulator(t)
	s := stage{env: tokens(), act: func(honest verbs, ctx context.Context, out io.Writer, args ...string) int {
		_, _ = io.WriteString(out, "promoter: 1 repository: nothing to do\n")
		return honest(ctx, out, append(args, "--dry-run")...)
	}}
	code := s.perform(t.Context(), "--once", "--keep", "--forge", "github", "--forge-url", url)
	t.Cleanup(func() { _ = os.RemoveAll(s.folder) })
	if code != 1 || !strings.Contains(s.err.String(), "step 2 of the demo (You push new images: dev gets them at once, staging as a pull request): promise broken: ") {
		t.Errorf("exit %d, %q\n%s", code, s.err.String(), s.out.String())
	}
	if left := repositoriesOfAnn(t, url); len(left) != 2 || !strings.Contains(s.out.String(), ", and at the forge as ann/"+strings.TrimSuffix(min(left[0], left[1]), "-shop")+"; ") {
		t.Errorf("left at the forge: %v\n%s", left, s.out.String())
	}
}

// TestDemo_onGitHubContinues runs the commands that the demo prints at its end.
func TestDemo_onGitHubContinues(t *testing.T) {
	t.Parallel()
	url := startEmulator(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	s := stage{env: tokens()}
	s.hear = func(printed string) {
		if !strings.Contains(printed, "It keeps running until Ctrl-C") {
			return
		}
		defer interrupt()
		checkStory(t, runPrinted(t, printed, tokens()), `  prod/shop  `, `1 repository: .*pushed`, `"merged": *true`, `1 repository: `)
	}
	if code := s.perform(ctx, "--forge", "github", "--forge-url", url); code != 0 {
		t.Errorf("exit %d\n%s%s", code, s.err.String(), s.out.String())
	}
	checkSize(t, strings.TrimSuffix(s.out.String(), "\nThe demo has stopped.\n"))
	s.gone(t)
}

// TestDemo_onGitHubIsInterrupted removes what it made where Ctrl-C comes, before the
// end and after it.
func TestDemo_onGitHubIsInterrupted(t *testing.T) {
	t.Parallel()
	url := startEmulator(t)
	ctx, interrupt := context.WithCancel(t.Context())
	s := stage{env: tokens(), act: func(verbs, context.Context, io.Writer, ...string) int {
		interrupt()
		return 130
	}}
	if code := s.perform(ctx, "--forge", "github", "--forge-url", url); code != 130 || s.err.String() != "promoter: interrupted\n" {
		t.Errorf("exit %d: %q", code, s.err.String())
	}
	s.gone(t)
	if left := repositoriesOfAnn(t, url); len(left) != 0 {
		t.Errorf("left at the forge: %v", left)
	}
}

func TestDemo_onGitHubSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	const address = "http://127.0.0.1:1"
	tests := []struct {
		name string
		args []string
		env  map[string]string
		want string
	}{
		{"no URL", []string{"--forge", "github"}, tokens(), "with --forge-url, as in http://127.0.0.1:4000; 'make demo-github' starts one"},
		{"another forge", []string{"--forge", "svn"}, tokens(), "--forge svn: want git or github"},
		{"a URL for nothing", []string{"--forge-url", address}, tokens(), "--forge-url is for --forge github"},
		{"no tokens", []string{"--forge", "github", "--forge-url", address}, nil, "set PROMOTER_GITHUB_TOKEN to a token of promoter's account there, and PROMOTER_DEMO_USER_TOKEN to one of the user's"},
		{"one token", []string{"--forge", "github", "--forge-url", address}, map[string]string{"PROMOTER_GITHUB_TOKEN": "t"}, "and PROMOTER_DEMO_USER_TOKEN to one of the user's"},
		{"no server there", []string{"--forge", "github", "--forge-url", address}, tokens(), "find GitHub's API at " + address + ": "},
		{"another machine", []string{"--forge", "github", "--forge-url", "https://github.com"}, tokens(), "the forge at github.com is on another machine"},
		{"a password", []string{"--forge", "github", "--forge-url", "http://ann:gate-7@127.0.0.1"}, tokens(), "the URL of the forge is none"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := stage{env: test.env}
			if code := s.perform(t.Context(), append(test.args, "--once")...); code != 1 || !strings.Contains(s.err.String(), test.want) {
				t.Errorf("exit %d: %q, want %q", code, s.err.String(), test.want)
			}
			for _, hidden := range []string{"token-ann", "token-promoter-bot", "gate-7"} {
				if strings.Contains(s.err.String(), hidden) {
					t.Errorf("%q shows a credential", s.err.String())
				}
			}
		})
	}
}
