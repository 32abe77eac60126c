package load

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"promoter/internal/benchworld"
	"promoter/internal/database"
)

// process is promoter, answering webhooks.
type process struct {
	b       testing.TB
	command *exec.Cmd
	url     string
	scraped string // address of metrics and profiles
	lines   chan line
	begun   time.Time // when it was started
}

// line is one of its log.
type line struct {
	Message    string `json:"msg"`
	Level      string `json:"level"`
	Address    string `json:"address"`
	Repository string `json:"repository"`
	Took       string `json:"took"`
	Error      string `json:"error"`
	at         time.Time
}

// hookSecret signs all webhooks.
const hookSecret = "the secret of all receivers of the load"

// start runs a process until the benchmark ends or stop is called.
func start(b testing.TB, command *exec.Cmd) *process {
	b.Helper()
	p := &process{b: b, command: command, lines: make(chan line, 1<<16), begun: time.Now()}
	out, err := command.StderrPipe()
	if err != nil {
		b.Fatal(err)
	}
	command.Env = append(command.Environ(), "HOOK="+hookSecret)
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	go p.read(out)
	b.Cleanup(func() { _ = command.Process.Kill() })
	p.scraped = p.until("metrics served").Address
	p.url = "http://" + p.until("listening").Address
	return p
}

func (p *process) read(out io.Reader) {
	scanner := bufio.NewScanner(out)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		one := line{at: time.Now()}
		if json.Unmarshal(scanner.Bytes(), &one) != nil {
			one.Message = scanner.Text()
		}
		select {
		case p.lines <- one:
		default: // no reader: the process must not wait
		}
	}
	close(p.lines)
}

// until waits for a line of the log.
func (p *process) until(message string) line {
	p.b.Helper()
	late := time.After(patience)
	for {
		select {
		case one, more := <-p.lines:
			switch {
			case !more:
				p.b.Fatalf("the process ended before it said %q", message)
			case one.Message == message:
				return one
			case one.Level != "INFO":
				p.b.Logf("%s %s %s %s", one.Level, one.Message, one.Repository, one.Error)
			}
		case <-late:
			p.b.Fatalf("the process does not say %q", message)
		}
	}
}

// patience is how long a line of the log is waited for: longer than from one poll to the
// next, which some vary a little.
const patience = 5 * time.Minute

// stop ends the process as an operator does.
func (p *process) stop() {
	p.b.Helper()
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		p.b.Fatal(err)
	}
	if err := p.command.Wait(); err != nil {
		p.b.Fatal(err)
	}
}

// peak is the most memory that the process has had for itself so far, in MiB.
func (p *process) peak() float64 {
	p.b.Helper()
	peak, err := benchworld.PeakOwnMemory(p.command.Process.Pid)
	if err != nil {
		p.b.Fatal(err)
	}
	return peak
}

// metric adds up the values of a metric whose line begins so.
func (p *process) metric(begins string) (sum float64) {
	p.b.Helper()
	answer, err := http.Get("http://" + p.scraped + "/metrics") //nolint:noctx // it ends with the process
	if err != nil {
		p.b.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		p.b.Fatal(err)
	}
	for one := range strings.Lines(string(text)) {
		if !strings.HasPrefix(one, begins) {
			continue
		}
		fields := strings.Fields(one)
		value, err := strconv.ParseFloat(fields[len(fields)-1], 64)
		if err != nil {
			p.b.Fatal(err)
		}
		sum += value
	}
	return sum
}

// rests waits until no repository is queued or being reconciled.
func (p *process) rests() {
	p.b.Helper()
	for late := time.Now().Add(patience); time.Now().Before(late); <-time.After(50 * time.Millisecond) {
		if p.metric(`promoter_work_waiting{kind="repository"}`)+p.metric(`promoter_work_running{kind="repository"}`) == 0 {
			return
		}
	}
	p.b.Fatal("the process does not come to rest")
}

// service holds the options of the service.
type service struct {
	folder       string // kept by the caller, so that a second process finds the first one's
	database     database.Options
	world        *world
	repositories []string
	receivers    int
	poll         string // empty: once an hour
	arguments    []string
}

// serve starts promoter. Loopback is asked as fast as it answers: the default budget of
// a host says nothing of the program.
func (s service) serve(b testing.TB) *process {
	b.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, `version: 1
listen: 127.0.0.1:0
metrics: {listen: "127.0.0.1:0"}
data: %q
poll: %s
forges:
  git: {kind: git, url: "http://%[3]s", insecure: true}
registries:
  - {host: "%[3]s", insecure: true}
networks: [127.0.0.0/8]
rateLimits:
  - {host: "*", perSecond: 10000, burst: 10000, concurrent: 100}
`, s.folder, cmp.Or(s.poll, "1h"), s.world.Host)
	if s.database.Path == "" {
		fmt.Fprintf(&text, "database: {url: 'env:DATABASE'}\n")
	}
	text.WriteString("receivers:\n")
	for n := range s.receivers {
		fmt.Fprintf(&text, "  r%d: {kind: generic, secret: 'env:HOOK', header: X-Signature}\n", n)
	}
	text.WriteString("repositories:\n")
	for _, name := range s.repositories {
		fmt.Fprintf(&text, "  - {forge: git, name: %s}\n", name)
	}
	file := filepath.Join(b.TempDir(), "server.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	command := exec.CommandContext(b.Context(), built.path(b), append([]string{"serve", "--config", file}, s.arguments...)...)
	command.Env = append(os.Environ(), "DATABASE="+s.database.URL.Reveal())
	return start(b, command)
}
