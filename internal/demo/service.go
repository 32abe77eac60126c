package demo

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
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
	file    string // the server file
	url     string
	secrets map[string]string // by receiver
	client  *http.Client
	git     *gitHost
	stop    context.CancelFunc
	over    chan struct{}
	code    int  // exit code
	missed  bool // it exited while still needed, and this was reported
}

// maxService limits how long the service may take for any step. Exceeding it is
// a failure, even on a slow machine.
const maxService = 15 * time.Second

// serviceFile is promoter's own config for the repository at GIT. Secrets are
// in files of FOLDER.
const serviceFile = `version: 1
listen: 127.0.0.1:0
data: "FOLDER/data"
api: {token: "file:FOLDER/api"}
forges:
  local: {kind: git, url: "http://GIT", insecure: true}
repositories:
  - {forge: local, name: NAME}
registries:
  - {host: "HOST", insecure: true}
receivers:
  registry: {kind: distribution, secret: "file:FOLDER/registry"}
  argocd: {kind: argocd, secret: "file:FOLDER/argocd"}
networks: [127.0.0.0/8]
`

// startService starts the real command and waits until it has reconciled once.
func startService(ctx context.Context, s *show) (err error) {
	v := &service{journal: newJournal(), secrets: map[string]string{}, over: make(chan struct{})}
	if v.client, err = newClient(s.options.Now); err != nil {
		return err
	}
	if v.git, err = startGitHost(ctx, s.hub, s.options.Now); err != nil {
		return err
	}
	if err := v.write(filepath.Join(s.folder, "service"), s.registry.loopback.host); err != nil {
		return errors.Join(err, v.git.loopback.stop())
	}
	ctx, v.stop = context.WithCancel(ctx)
	args := []string{"serve", "--config", v.file, "--log", "text", "--quiet", "100ms"}
	fmt.Fprintf(s.options.Out, "\n$ promoter %s &\n", inWords(args))
	go func() {
		defer close(v.over)
		v.code = s.options.Promoter(ctx, v.journal, args...)
	}()
	s.service = v
	_, found, err := v.printed(ctx, `msg=listening address=(\S+)`)
	if err != nil {
		return err
	}
	v.url = "http://" + found[1]
	_, _, err = v.printed(ctx, `msg=reconciled `)
	return err
}

// write creates the folder with the secrets and the server's config file.
func (v *service) write(folder, registry string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("make a folder for the service: %w", err)
	}
	for _, name := range []string{"api", "registry", "argocd"} {
		v.secrets[name] = rand.Text() + rand.Text()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(v.secrets[name]+"\n"), 0o600); err != nil {
			return fmt.Errorf("write a secret of the service: %w", err)
		}
	}
	v.file = filepath.Join(folder, "promoter-server.yaml")
	text := strings.NewReplacer("FOLDER", filepath.ToSlash(folder), "GIT", v.git.loopback.host, "NAME", gitName, "HOST", registry).Replace(serviceFile)
	if err := os.WriteFile(v.file, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the server file: %w", err)
	}
	return nil
}

// end stops the service, waits until it has stopped, and then stops the Git
// server.
func (v *service) end() error {
	v.stop()
	<-v.over
	err := v.git.loopback.stop()
	if v.code != 0 && !v.missed {
		err = errors.Join(fmt.Errorf("promise broken: promoter serve ended with exit code %d, and printed\n%s", v.code, v.journal.all()), err)
	}
	return err
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
// it and the submatches of the pattern.
func (v *service) printed(ctx context.Context, pattern string) (lines, found []string, err error) {
	lines, found, err = v.journal.next(ctx, v.over, pattern)
	if errors.Is(err, errOver) {
		err = v.miss()
	}
	return lines, found, err
}

// miss returns the error that the service exited before the end of the demo.
func (v *service) miss() error {
	v.missed = true
	return fmt.Errorf("promise broken: promoter serve ended, and printed\n%s", v.journal.all())
}

// post sends a webhook to a receiver.
func (v *service) post(ctx context.Context, receiver, text string) (status int, answer string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, v.url+"/webhooks/"+receiver, strings.NewReader(text))
	if err != nil {
		return 0, "", fmt.Errorf("post a webhook: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+v.secrets[receiver])
	status, answer = send(v.client, request)
	return status, answer, nil
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
		j.lines, j.part = append(j.lines, string(line)), rest
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
// lines up to it and the submatches of the pattern.
func (j *journal) next(ctx context.Context, over <-chan struct{}, pattern string) (lines, found []string, err error) {
	wanted := regexp.MustCompile(pattern)
	late := time.NewTimer(maxService)
	defer late.Stop()
	for {
		if lines, found := j.find(wanted); found != nil {
			return lines, found, nil
		}
		select {
		case <-j.change:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-over:
			if lines, found := j.find(wanted); found != nil {
				return lines, found, nil
			}
			return nil, nil, errOver
		case <-late.C:
			return nil, nil, fmt.Errorf("promise broken: promoter serve does not print %q, but\n%s", pattern, j.all())
		}
	}
}

func (j *journal) find(wanted *regexp.Regexp) (lines, found []string) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	for i, line := range j.lines[j.shown:] {
		if found := wanted.FindStringSubmatch(line); found != nil {
			lines := j.lines[j.shown : j.shown+i+1]
			j.shown += i + 1
			return lines, found
		}
	}
	return nil, nil
}

func (j *journal) all() string {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return strings.Join(j.lines, "\n")
}
