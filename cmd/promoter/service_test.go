package main

import (
	"bufio"
	"context"
	"encoding/json"
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
	lines := bufio.NewScanner(log)
	ts.Defer(func() {
		_ = service.Process.Signal(os.Interrupt)
		for lines.Scan() { // it may not wait for us
		}
		if err := service.Wait(); err != nil {
			ts.Logf("serve ended with %v", err)
		}
	})
	for lines.Scan() {
		var line struct{ Msg, Address string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			ts.Fatalf("no line of JSON: %s", lines.Text())
		}
		ts.Logf("%s", lines.Text())
		if line.Address != "" {
			ts.Setenv("SERVICE", line.Address)
		}
		if line.Msg == "looked" {
			go func() { // what it says later is of no interest, and must not fill the pipe
				for lines.Scan() {
				}
			}()
			return
		}
	}
	ts.Fatalf("serve ended before its first look")
}
