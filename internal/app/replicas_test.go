package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/database/databasetest"
)

// servedFile names the server's file of a process of this test binary that is to
// serve it and nothing else.
const servedFile = "PROMOTER_TEST_SERVE"

// serveAsChild is the whole of such a process. It ends by being killed or when its
// standard input does.
func serveAsChild(file string) error {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // it ends with the test
		cancel()
	}()
	server, err := app.OpenService(app.ServerOptions{Config: file, Env: os.LookupEnv, Now: time.Now})
	if err != nil {
		return err
	}
	server.SetPace(0)
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	return server.Serve(ctx, app.ServeOptions{Quiet: -1, Log: log, Listening: func(at net.Addr) {
		log.Info("listening", slog.String("address", at.String()))
	}})
}

// replica is a process that serves.
type replica struct {
	t       *testing.T
	command *exec.Cmd
	stdin   io.Closer
	url     string
	looked  chan struct{}
}

// startReplica starts a process and waits until it answers.
func startReplica(t *testing.T, s *story, databaseURL string, n int) *replica {
	t.Helper()
	file := filepath.Join(s.dir, fmt.Sprintf("replica-%d.yaml", n))
	text := fmt.Sprintf(`version: 1
listen: 127.0.0.1:0
data: %q
poll: 1h
database: {url: "env:DATABASE"}
forges:
  forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}
repositories:
  - {forge: forge, name: acme/gitops}
receivers:
  images: {kind: generic, secret: "env:HOOK", header: X-Signature}
networks: [127.0.0.0/8]
%s`, filepath.Join(s.dir, fmt.Sprintf("data-%d", n)), s.forge.URL(), s.expand(insecureRegistry))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), servedFile+"="+file, "DATABASE="+databaseURL, "TOKEN="+s.token, "HOOK="+serveSecret)
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	r := &replica{t: t, command: command, stdin: stdin, looked: make(chan struct{}, 1000)}
	address := make(chan string, 1)
	go r.read(stderr, address)
	select {
	case at, ok := <-address:
		if !ok {
			t.Fatalf("replica %d ended: %v", n, command.Wait())
		}
		r.url = "http://" + at
	case <-time.After(time.Minute):
		t.Fatalf("replica %d does not answer", n)
	}
	return r
}

// read follows the log.
func (r *replica) read(log io.Reader, address chan<- string) {
	defer close(address)
	for lines := bufio.NewScanner(log); lines.Scan(); {
		var line struct{ Msg, Address string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			continue
		}
		switch line.Msg {
		case "listening":
			address <- line.Address
		case "looked":
			r.looked <- struct{}{}
		}
	}
}

// end lets the process stop by itself.
func (r *replica) end() {
	r.t.Helper()
	if err := r.stdin.Close(); err != nil {
		r.t.Error(err)
	}
	if err := r.command.Wait(); err != nil {
		r.t.Errorf("a replica that was asked to stop: %v", err)
	}
}

// Three processes share the work over PostgreSQL. One is killed while webhooks come
// in; what any of them accepted is looked at, and each pull request is there once.
func TestServe_P13_P16_M15_replicas(t *testing.T) {
	t.Parallel()
	kind := databasetest.Kinds()[1]
	url := kind.New(t).URL.Reveal() // skips where there is no PostgreSQL
	s := newStory(t, "github", reviewed)
	s.clock.set(time.Now())
	var all []*replica
	for n := range 3 {
		all = append(all, startReplica(t, s, url, n))
	}
	looked := merged(all...)
	<-looked // the first look, by whichever was first
	s.release("web", "1.1.0")
	accepted := s.burst(all, func() {
		if err := all[0].command.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = all[0].command.Wait() // it was killed
	})
	if accepted == 0 {
		t.Fatal("no webhook was accepted")
	}
	s.until(func() bool { return len(s.repo.Pulls()) > 0 }, looked)
	s.release("web", "1.2.0")
	s.burst(all[1:], func() {})
	s.until(func() bool { return strings.Contains(s.repo.Pull(1).Title, "1.2.0") }, looked)
	for _, r := range all[1:] {
		r.end()
	}
	s.pulls(stagingHead + " open")
	s.holds("dev", "1.2.0 1.0.0")
	s.run()
	s.calm()
}

// merged tells of every look of the replicas.
func merged(all ...*replica) <-chan struct{} {
	looked := make(chan struct{}, 1000)
	for _, r := range all {
		go func() {
			for range r.looked {
				looked <- struct{}{}
			}
		}()
	}
	return looked
}

// until waits for what some look does.
func (s *story) until(so func() bool, looked <-chan struct{}) {
	s.t.Helper()
	deadline := time.After(2 * time.Minute)
	for !so() {
		select {
		case <-looked:
		case <-deadline:
			s.t.Fatal("no look does it")
		}
	}
}

// burst sends webhooks to all of them side by side, does something in the middle, and
// returns how many were accepted.
func (s *story) burst(all []*replica, middle func()) (accepted int) {
	s.t.Helper()
	var mutex sync.Mutex
	var sending sync.WaitGroup
	body := s.expand(`{"image": "$R/acme/web"}`)
	for i := range 30 {
		if i == 15 {
			middle()
		}
		to := all[i%len(all)].url
		sending.Go(func() {
			if postTo(s.t.Context(), to, body) {
				mutex.Lock()
				defer mutex.Unlock()
				accepted++
			}
		})
	}
	sending.Wait()
	return accepted
}

// postTo says whether a replica accepted a webhook; one that was killed does not.
func postTo(ctx context.Context, url, body string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/webhooks/images", strings.NewReader(body))
	if err != nil {
		return false
	}
	request.Header.Set("X-Signature", signatureOf(body))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, response.Body)
	return response.Body.Close() == nil && err == nil && response.StatusCode == http.StatusAccepted
}
