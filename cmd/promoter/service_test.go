package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// services stop the services of scripts, by the folder of the script.
type services struct {
	mu   sync.Mutex
	stop map[string]func()
}

// end stops the service of the script.
func (s *services) end(ts *testscript.TestScript, neg bool, args []string) {
	s.mu.Lock()
	stop, running := s.stop[ts.Getenv("WORK")]
	s.mu.Unlock()
	if neg || len(args) > 0 || !running {
		ts.Fatalf("usage: stop, after serve")
	}
	stop()
}

// report posts a report about health to the service, and prints the status and the response:
// report FILE, in which $HEAD is the head of main of acme/one.git.
func report(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: report FILE")
	}
	head, err := exec.CommandContext(context.Background(), "git", "-C", ts.MkAbs("acme/one.git"), "rev-parse", "main").Output()
	ts.Check(err)
	body := strings.NewReplacer("$HEAD", strings.TrimSpace(string(head)), "$GITSERVER", ts.Getenv("GITSERVER")).Replace(ts.ReadFile(args[0]))
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://"+ts.Getenv("SERVICE")+"/api/v1/evidence", strings.NewReader(body))
	ts.Check(err)
	request.Header.Set("Authorization", "Bearer a-secret-of-the-webhooks")
	response, err := http.DefaultClient.Do(request)
	ts.Check(err)
	defer response.Body.Close() //nolint:errcheck // it is only read
	text, err := io.ReadAll(response.Body)
	ts.Check(err)
	_, err = fmt.Fprintf(ts.Stdout(), "%d %s\n", response.StatusCode, text)
	ts.Check(err)
}

// await runs a command until its output contains a text: await TEXT COMMAND ARGUMENT...
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: await TEXT COMMAND ARGUMENT...")
	}
	again, late := time.NewTicker(20*time.Millisecond), time.After(time.Minute)
	defer again.Stop()
	for {
		command := exec.CommandContext(context.Background(), args[1], args[2:]...)
		command.Dir = ts.Getenv("WORK")
		output, failed := command.Output() // a file may not exist yet
		if failed == nil && strings.Contains(string(output), args[0]) {
			_, err := ts.Stdout().Write(output)
			ts.Check(err)
			return
		}
		select {
		case <-again.C:
		case <-late:
			ts.Fatalf("no %q within a minute: %v\n%s", args[0], failed, output)
		}
	}
}

// start starts promoter serve with more flags and waits for the first look;
// $SERVICE is its host. It is stopped at the end of the script.
func (s *services) start(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: serve [FLAG...]")
	}
	binary, err := exec.LookPath("promoter")
	ts.Check(err)
	service := exec.CommandContext(context.Background(), binary, append([]string{"serve", "--quiet", "0s"}, args...)...)
	service.Dir = ts.Getenv("WORK")
	service.Env = append(os.Environ(), "API_TOKEN="+ts.Getenv("API_TOKEN"), "OPS_TOKEN="+ts.Getenv("OPS_TOKEN"),
		"READ_TOKEN="+ts.Getenv("READ_TOKEN"), "GIT_PASSWORD=gate-7", "CI_HOOK=a-secret-of-the-webhooks")
	log, err := service.StderrPipe()
	ts.Check(err)
	ts.Check(service.Start())
	looked, over := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(over)
		followLog(log, looked)
	}()
	stop := sync.OnceFunc(func() {
		_ = service.Process.Signal(os.Interrupt)
		<-over // all that it says is read before it is waited for
		if err := service.Wait(); err != nil {
			ts.Logf("serve ended with %v", err)
		}
	})
	ts.Defer(stop)
	s.mu.Lock()
	s.stop[ts.Getenv("WORK")] = stop
	s.mu.Unlock()
	address, ok := <-looked
	if !ok {
		ts.Fatalf("serve ended before its first look")
	}
	ts.Setenv("SERVICE", address)
}

// followLog reads a log to its end, so that the pipe is never full, and tells the
// address of the service once it has looked.
func followLog(log io.Reader, looked chan<- string) {
	defer close(looked)
	address, told := "", false
	for lines := bufio.NewScanner(log); lines.Scan(); {
		var line struct{ Msg, Address string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			continue // the words of a program that ends
		}
		if line.Address != "" {
			address = line.Address
		}
		if line.Msg == "reconciled" && !told {
			looked <- address
			told = true
		}
	}
}
