package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/queue"
	"promoter/internal/serverfile"
)

// servedVariable makes a process of this test binary serve, and contains how.
const servedVariable = "PROMOTER_TEST_SERVE"

// orders configure such a process.
type orders struct {
	// Program is that of another release, which knows only the server file; empty: this one.
	Program string `json:"-"`

	File  string        // the server file
	Lease time.Duration // of the queue; its poll interval follows from it
	// FirstCrash is the delay of work that was running when a process died.
	FirstCrash time.Duration
	// Point is where it exits; empty: it does not.
	Point  string
	Before bool // before the commit, not after it
	// Driver and Source are how it reads its own database.
	Driver, Source string
}

// serveAsChild is all that such a process does. It ends when it is killed or when its
// standard input ends.
func serveAsChild(text string) error {
	var o orders
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // it ends with the test
		cancel()
	}()
	server, err := serverfile.OpenService(serverfile.Options{WritePace: -1, Config: o.File, Env: os.LookupEnv, Now: time.Now})
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	options := app.ServeOptions{
		Debounce: -1, Log: log, Listening: func(at net.Addr) { log.Info("listening", slog.String("address", at.String())) },
		Queue: queue.Options{
			Lease: o.Lease, Poll: o.Lease / 15, FirstRetry: 100 * time.Millisecond, LastRetry: time.Second,
			FirstCrash: o.FirstCrash, LastCrash: time.Minute,
		},
	}
	if o.Point != "" {
		options.CommitHook = o.around
	}
	return app.Serve(ctx, server, options)
}

// process is one that serves.
type process struct {
	t         testing.TB
	command   *exec.Cmd
	stdin     io.Closer
	onMessage func(message string) // is called with each message of its log
	url       string

	address chan string
	struck  atomic.Bool   // it is dead, or about to be
	dead    chan struct{} // closed when it is
	err     error         // of its end

	mutex sync.Mutex
	lines []string // the last lines of its log
}

// begin starts a process. The environment is NAME=VALUE.
func begin(t testing.TB, o orders, onMessage func(message string), environment ...string) *process {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), os.Args[0])
	if o.Program != "" {
		command = exec.CommandContext(t.Context(), o.Program, "serve", "--config", o.File, "--quiet", "0s")
	}
	command.Env = append(append(os.Environ(), servedVariable+"="+string(text)), environment...)
	p := &process{t: t, command: command, onMessage: onMessage, address: make(chan string, 1), dead: make(chan struct{})}
	if p.stdin, err = command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	log, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	go p.read(log)
	return p
}

// read reads the log until the process is dead.
func (p *process) read(log io.Reader) {
	defer close(p.dead)
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		p.keep(lines.Text())
		var line struct{ Msg, Address string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			continue
		}
		if line.Msg == "listening" {
			p.address <- line.Address
		}
		p.onMessage(line.Msg)
	}
	p.err = p.command.Wait()
}

// maxLines is how many lines of a log a failure shows.
const maxLines = 60

func (p *process) keep(line string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.lines = append(p.lines[max(0, len(p.lines)-maxLines+1):], line)
}

func (p *process) log() string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return strings.Join(p.lines, "\n")
}

// answers waits until it accepts webhooks, and reports whether it lived to do so.
func (p *process) answers() bool {
	p.t.Helper()
	if p.struck.Load() {
		<-p.dead
	}
	select {
	case <-p.dead: // it may have logged its address before
		return false
	default:
	}
	if p.url != "" {
		return true
	}
	select {
	case at := <-p.address:
		p.url = "http://" + at
		return true
	case <-p.dead:
		return false
	case <-time.After(patience):
		p.t.Fatalf("a process does not answer:\n%s", p.log())
		return false
	}
}

// strike kills it.
func (p *process) strike() {
	p.struck.Store(true)
	_ = p.command.Process.Kill() // it may be dead
}

// waitDead waits until a killed process is dead and responds no more. Without a process it
// returns.
func (p *process) waitDead() {
	if p != nil {
		<-p.dead
	}
}

// kill kills it, and waits until it is dead.
func (p *process) kill() {
	p.strike()
	<-p.dead
}

// end lets it stop by itself.
func (p *process) end() {
	p.t.Helper()
	err := p.stdin.Close()
	if p.command.Args[0] != os.Args[0] { // a program of another release
		err = p.command.Process.Signal(syscall.SIGTERM)
	}
	if err != nil {
		p.t.Error(err)
	}
	<-p.dead
	if p.err != nil {
		p.t.Errorf("a process that was asked to stop: %v\n%s", p.err, p.log())
	}
}
