// Package process runs the built program as a service, for the campaigns in hack: it starts
// it, sends it webhooks, reads its status, and ends it as an operator or a crash does.
package process

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"promoter/internal/api"
	"promoter/internal/benchworld"
	"promoter/internal/view"
)

// Build builds promoter and returns its file.
func Build(t testing.TB) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "promoter")
	command := exec.CommandContext(t.Context(), "go", "build", "-o", file, "promoter/cmd/promoter")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("build promoter: %v\n%s", err, out)
	}
	return file
}

// The secrets of every service.
const (
	hookSecret = "the secret of the receivers"
	apiToken   = "the-token-of-the-api-of-the-operators"
)

// Options are those of one process.
type Options struct {
	Program string
	// Config is the server file without its version and address. The variables HOOK and API
	// have the secrets of receivers and of the API.
	Config string
	// Environment has more variables, as NAME=VALUE.
	Environment []string
	// Within, if set, is a command that runs its arguments, which are the program's.
	Within []string
}

// Process is one process of the service. Its log is a file, whose end is shown when the test
// fails.
type Process struct {
	URL string

	command *exec.Cmd
	log     string
	ended   chan struct{}
	err     error // of its end
}

// startTime is how long a process may take until it listens.
const startTime = 2 * time.Minute

// Start starts a process, and waits until it listens. It is killed at the end of the test.
func Start(t testing.TB, o Options) *Process {
	t.Helper()
	p := Launch(t, o)
	for late := time.Now().Add(startTime); ; <-time.After(20 * time.Millisecond) {
		if found := regexp.MustCompile(`"address":"([^"]+)"`).FindStringSubmatch(p.Log(t)); found != nil {
			p.URL = "http://" + found[1]
			return p
		}
		select {
		case <-p.ended:
			t.Fatalf("the process ended before it listened: %v\n%s", p.err, p.Log(t))
		default:
		}
		if time.Now().After(late) {
			t.Fatal("the process does not listen")
		}
	}
}

// Launch starts a process and does not wait for it.
func Launch(t testing.TB, o Options) *Process {
	t.Helper()
	folder := t.TempDir()
	file := filepath.Join(folder, "server.yaml")
	if err := os.WriteFile(file, []byte("version: 1\nlisten: 127.0.0.1:0\n"+o.Config), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	words := append(append([]string{}, o.Within...), o.Program, "serve", "--config", file, "--quiet", "100ms")
	p := &Process{command: exec.CommandContext(t.Context(), words[0], words[1:]...), log: log.Name(), ended: make(chan struct{})}
	p.command.Env = append(append(os.Environ(), "HOOK="+hookSecret, "API="+apiToken), o.Environment...)
	p.command.Stderr = log
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.command.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() || testing.Verbose() {
			lines := strings.Split(p.Log(t), "\n")
			t.Logf("the end of the log:\n%s", strings.Join(lines[max(0, len(lines)-shownLines):], "\n"))
		}
	})
	return p
}

// shownLines are those of a log that a failure shows.
const shownLines = 15

// Log returns what the process logged so far.
func (p *Process) Log(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(p.log)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// PID is its number.
func (p *Process) PID() int { return p.command.Process.Pid }

// Peak is the most memory that the process has had so far, in MiB.
func (p *Process) Peak(t testing.TB) float64 {
	t.Helper()
	peak, err := benchworld.PeakMemory(p.PID())
	if err != nil {
		t.Fatal(err)
	}
	return peak
}

// Kill ends it like a crash.
func (p *Process) Kill() {
	_ = p.command.Process.Kill()
	<-p.ended
}

// Wait waits until it ends by itself, and returns its exit code.
func (p *Process) Wait(t testing.TB, limit time.Duration) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(limit):
		t.Fatal("the process does not end")
	}
	return p.command.ProcessState.ExitCode()
}

// Stop ends it as an operator does, and returns how long that took.
func (p *Process) Stop(t testing.TB) time.Duration {
	t.Helper()
	begin := time.Now()
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if p.Wait(t, startTime) != 0 {
		t.Errorf("the process ended with %v", p.err)
	}
	return time.Since(begin)
}

// Webhook sends a webhook about an image to a receiver. It returns the status of the
// response, and zero when there was none.
func (p *Process) Webhook(t testing.TB, receiver, id, image string, signed bool) int {
	t.Helper()
	body, err := json.Marshal(map[string]string{"id": id, "image": image})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL+"/webhooks/"+receiver, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if signed {
		mac := hmac.New(sha256.New, []byte(hookSecret))
		mac.Write(body)
		request.Header.Set("X-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// Ready returns the status of /readyz, and zero when there was no response.
func (p *Process) Ready(t testing.TB) int {
	t.Helper()
	code, _ := p.get(t, "/readyz", nil)
	return code
}

// Status returns the status of all repositories by their names, HOST/NAME.
func (p *Process) Status(t testing.TB) (map[string]api.Repository, error) {
	t.Helper()
	var all api.Status
	if code, err := p.get(t, "/api/v1/status", &all); err != nil || code != http.StatusOK {
		return nil, fmt.Errorf("read the status: %d, %w", code, err)
	}
	found := map[string]api.Repository{}
	for _, one := range all.Repositories {
		found[one.Name] = one
	}
	return found, nil
}

// Reasons returns why targets of a repository, HOST/NAME, wait or fail, by environment.
func (p *Process) Reasons(t testing.TB, repository string) (map[string]string, error) {
	t.Helper()
	var all view.Applications
	if code, err := p.get(t, "/api/v1/applications?repository="+url.QueryEscape(repository), &all); err != nil || code != http.StatusOK {
		return nil, fmt.Errorf("read the applications: %d, %w", code, err)
	}
	reasons := map[string]string{}
	for _, row := range all.Applications {
		for _, one := range row.Targets {
			if one.Reason != nil && one.Status != view.UpToDate {
				reasons[one.Environment] = one.Reason.Message
			}
		}
	}
	return reasons, nil
}

func (p *Process) get(t testing.TB, path string, into any) (int, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+apiToken)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	if into != nil && response.StatusCode == http.StatusOK {
		err = json.NewDecoder(response.Body).Decode(into)
	}
	return response.StatusCode, err
}
