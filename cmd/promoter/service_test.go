package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"

	"github.com/rogpeppe/go-internal/testscript"
)

// startService starts promoter serve with more flags and waits for the first look;
// $SERVICE is its host. It is stopped at the end of the script.
func startService(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: serve [FLAG...]")
	}
	binary, err := exec.LookPath("promoter")
	ts.Check(err)
	service := exec.CommandContext(context.Background(), binary, append([]string{"serve", "--quiet", "0s"}, args...)...)
	service.Dir = ts.Getenv("WORK")
	service.Env = append(os.Environ(), "API_TOKEN="+ts.Getenv("API_TOKEN"), "GIT_PASSWORD=gate-7", "CI_HOOK=a-secret-of-the-webhooks")
	log, err := service.StderrPipe()
	ts.Check(err)
	ts.Check(service.Start())
	looked, over := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(over)
		followLog(log, looked)
	}()
	ts.Defer(func() {
		_ = service.Process.Signal(os.Interrupt)
		<-over // all that it says is read before it is waited for
		if err := service.Wait(); err != nil {
			ts.Logf("serve ended with %v", err)
		}
	})
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
