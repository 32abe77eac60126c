package demo

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// service runs promoter serve with the demo's registry and repository. Its
// database is in the demo's folder.
type service struct {
	journal *journal
	url     string
	reserve net.Listener      // keeps the port of the URL free until the service starts
	secrets map[string]string // by receiver
	client  *http.Client
	git     *gitHost
	stop    context.CancelFunc // nil before it is started
	over    chan struct{}
	code    int  // exit code
	missed  bool // it exited while still needed, and this was reported
}

// maxService limits how long the service may take for any step. Exceeding it is
// a failure, even on a slow machine.
const maxService = time.Minute

// serverFile is promoter's own config for the repository at GIT. Secrets are
// in files of FOLDER.
const serverFile = `version: 1
listen: LISTEN
data: "FOLDER/data"
api: {token: "file:FOLDER/secrets/api", public: {repositories: ["**"]}}
forges:
  local: {kind: git, url: "http://GIT", insecure: true}
repositories:
  - {forge: local, name: NAME}
registries:
  - {host: "HOST", insecure: true}
receivers:
  registry: {kind: distribution, secret: "file:FOLDER/secrets/registry"}
  git: {kind: gitea, secret: "file:FOLDER/secrets/git"}
  tests: {kind: evidence, secret: "file:FOLDER/secrets/tests"}
networks: [127.0.0.0/8]
`

// newService writes the server file and prepares the service.
func newService(ctx context.Context, s *show) (v *service, err error) {
	v = &service{journal: newJournal(), git: s.git, secrets: map[string]string{}, over: make(chan struct{})}
	if v.client, err = newClient(s.options.Now); err != nil {
		return nil, err
	}
	if err := v.writeSecrets(filepath.Join(s.folder, "secrets")); err != nil {
		return nil, err
	}
	var listening net.ListenConfig
	if v.reserve, err = listening.Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("listen on loopback: %w", err)
	}
	address := v.reserve.Addr().String()
	v.url = "http://" + address
	text := strings.NewReplacer(
		"LISTEN", address, "FOLDER", filepath.ToSlash(s.folder),
		"GIT", v.git.loopback.host, "NAME", gitName, "HOST", s.registry.loopback.host,
	).Replace(serverFile)
	if err := os.WriteFile(s.file, []byte(text), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("write the server file: %w", err), v.reserve.Close())
	}
	return v, nil
}

func (v *service) writeSecrets(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("make a folder for the secrets: %w", err)
	}
	for _, name := range []string{"api", "registry", "git", "tests"} {
		v.secrets[name] = rand.Text() + rand.Text()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(v.secrets[name]+"\n"), 0o600); err != nil {
			return fmt.Errorf("write a secret of the service: %w", err)
		}
	}
	return nil
}

// start runs the real command and waits until it has reconciled once. From then on the
// registry and the Git server notify it.
func (v *service) start(ctx context.Context, s *show) error {
	args := []string{"serve", "--log", "text", "--quiet", "100ms"}
	s.command("promoter " + inWords(args) + " &")
	if err := v.reserve.Close(); err != nil {
		return fmt.Errorf("free the port of the service: %w", err)
	}
	running, stop := context.WithCancel(ctx)
	v.stop = stop
	go func() {
		defer close(v.over)
		v.code = s.options.Promoter(running, v.journal, s.inFolder(args)...)
	}()
	for _, pattern := range []string{`msg=listening `, `msg=reconciled `} {
		if _, err := v.printed(ctx, pattern); err != nil {
			return err
		}
	}
	s.registry.notifyTo(v.client, v.url+"/webhooks/registry", v.secrets["registry"])
	v.git.notifyTo(v.client, v.url+"/webhooks/git", v.secrets["git"])
	return nil
}

// page returns a page of the dashboard.
func (v *service) page(ctx context.Context, path string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, v.url+path, http.NoBody)
	if err != nil {
		return "", fmt.Errorf("open the dashboard: %w", err)
	}
	status, page, err := exchange(v.client, request)
	if err != nil {
		return "", fmt.Errorf("open the dashboard: %w", err)
	}
	if status != http.StatusOK {
		return "", fmt.Errorf("promise broken: the dashboard answers with %d", status)
	}
	return page, nil
}

// end stops the service and waits until it has stopped.
func (v *service) end() error {
	if v.stop == nil {
		return v.reserve.Close()
	}
	v.stop()
	<-v.over
	if v.code != 0 && !v.missed {
		return fmt.Errorf("promise broken: promoter serve ended with exit code %d, and printed\n%s", v.code, v.journal.all())
	}
	return nil
}

// pushed waits until the service has pushed to main, and returns when that was.
func (v *service) pushed(ctx context.Context) (time.Time, error) {
	late := time.NewTimer(maxService)
	defer late.Stop()
	select {
	case at := <-v.git.moved:
		return at, nil
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	case <-v.over:
		return time.Time{}, v.miss()
	case <-late.C:
		return time.Time{}, fmt.Errorf("promise broken: nothing was pushed: promoter serve prints\n%s", v.journal.all())
	}
}

// printed waits for a matching log line of the service. It returns the lines up to
// it.
func (v *service) printed(ctx context.Context, pattern string) ([]string, error) {
	lines, err := v.journal.next(ctx, v.over, pattern)
	if errors.Is(err, errOver) {
		err = v.miss()
	}
	return lines, err
}

// miss returns the error that the service exited before the end of the demo.
func (v *service) miss() error {
	v.missed = true
	return fmt.Errorf("promise broken: promoter serve ended, and printed\n%s", v.journal.all())
}

// journal keeps the lines that the service prints while the demo continues.
type journal struct {
	mutex  sync.Mutex
	part   []byte // an incomplete line
	lines  []string
	shown  int
	change chan struct{}
}

func newJournal() *journal { return &journal{change: make(chan struct{}, 1)} }

// Write records output.
func (j *journal) Write(p []byte) (int, error) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.part = append(j.part, p...)
	for {
		line, rest, whole := bytes.Cut(j.part, []byte("\n"))
		if !whole {
			break
		}
		j.lines = append(j.lines, string(line))
		j.part = rest
	}
	select {
	case j.change <- struct{}{}:
	default:
	}
	return len(p), nil
}

// errOver means that the service will print nothing more.
var errOver = errors.New("promoter serve ended")

// next waits for a matching line among those not shown yet. It returns the
// lines up to it.
func (j *journal) next(ctx context.Context, over <-chan struct{}, pattern string) ([]string, error) {
	wanted := regexp.MustCompile(pattern)
	late := time.NewTimer(maxService)
	defer late.Stop()
	for {
		if lines := j.find(wanted); lines != nil {
			return lines, nil
		}
		select {
		case <-j.change:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-over:
			if lines := j.find(wanted); lines != nil {
				return lines, nil
			}
			return nil, errOver
		case <-late.C:
			return nil, fmt.Errorf("promise broken: promoter serve does not print %q, but\n%s", pattern, j.all())
		}
	}
}

func (j *journal) find(wanted *regexp.Regexp) []string {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	for i, line := range j.lines[j.shown:] {
		if wanted.MatchString(line) {
			lines := j.lines[j.shown : j.shown+i+1]
			j.shown += i + 1
			return lines
		}
	}
	return nil
}

func (j *journal) all() string {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return strings.Join(j.lines, "\n")
}
