package attack

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"promoter/internal/benchworld"
)

// patience is how long the tests wait for what must happen.
const patience = 2 * time.Minute

const hookSecret = "the secret of the receiver"

// process is promoter as a service.
type process struct {
	command *exec.Cmd
	url     string
	posted  atomic.Int64
}

// build builds promoter.
func build(t testing.TB) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "promoter")
	command := exec.CommandContext(t.Context(), "go", "build", "-o", file, "promoter/cmd/promoter")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("build promoter: %v\n%s", err, out)
	}
	return file
}

// serve starts promoter for repositories. Its log is a file, which is shown when the test
// fails.
func (w *world) serve(t testing.TB, program string, repositories []string) *process {
	t.Helper()
	folder := t.TempDir()
	var text strings.Builder
	fmt.Fprintf(&text, `version: 1
listen: 127.0.0.1:0
data: %q
poll: 10s
forges:
  git: {kind: git, url: "http://%[2]s", insecure: true}
registries:
  - {host: "%[2]s", insecure: true}
  - {host: "%[3]s", insecure: true}
  - {host: "%[4]s", insecure: true}
networks: [127.0.0.0/8]
receivers:
  images: {kind: generic, secret: "env:HOOK", header: X-Signature}
rateLimits:
  - {host: "*", perSecond: 1000, burst: 1000, concurrent: 16}
repositories:
`, filepath.Join(folder, "data"), w.Host, w.hostile, w.slow)
	for _, name := range repositories {
		fmt.Fprintf(&text, "  - {forge: git, name: %s}\n", name)
	}
	file := filepath.Join(folder, "server.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	p := &process{command: exec.CommandContext(t.Context(), program, "serve", "--config", file, "--quiet", "100ms")}
	p.command.Env, p.command.Stderr = append(os.Environ(), "HOOK="+hookSecret), log
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.command.Process.Kill()
		if text, err := os.ReadFile(log.Name()); err == nil && (t.Failed() || testing.Verbose()) {
			lines := strings.Split(string(text), "\n")
			t.Logf("the end of the log:\n%s", strings.Join(lines[max(0, len(lines)-15):], "\n"))
		}
	})
	for late := time.Now().Add(patience); p.url == ""; <-time.After(20 * time.Millisecond) {
		text, err := os.ReadFile(log.Name())
		if found := regexp.MustCompile(`"address":"([^"]+)"`).FindSubmatch(text); found != nil {
			p.url = "http://" + string(found[1])
		} else if err != nil || time.Now().After(late) {
			t.Fatal("the process does not listen")
		}
	}
	return p
}

// post sends a webhook about an image, signed with a key; without one, unsigned. It
// returns the status of the response.
func (p *process) post(t testing.TB, image, key string) int {
	t.Helper()
	body, err := json.Marshal(map[string]string{"id": fmt.Sprint(p.posted.Add(1)), "image": image + ":" + benchworld.MovingTag})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+"/webhooks/images", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write(body)
		request.Header.Set("X-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Error(err)
		return 0
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

// notify sends a valid webhook.
func (p *process) notify(t testing.TB, image string) {
	t.Helper()
	if code := p.post(t, image, hookSecret); code != http.StatusAccepted {
		t.Fatalf("a valid webhook: %d", code)
	}
}

// peak is the most memory that the process has had so far, in MiB.
func (p *process) peak(t testing.TB) float64 {
	t.Helper()
	peak, err := benchworld.PeakMemory(p.command.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return peak
}

// stop ends the process as an operator does.
func (p *process) stop(t testing.TB) {
	t.Helper()
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.command.Wait(); err != nil {
		t.Errorf("the process ended with %v", err)
	}
}
