package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"promoter/internal/benchtree"
)

// passes are runs of the built program on one Git repository with the whole tree.
// It is served over HTTP on loopback, and so are its images.
type passes struct {
	folder, program string
	size            benchtree.Size
	registry        *registry

	idle     samples // nothing is new
	event    samples // one image is new, and pushed to five environments
	memFirst int64   // bytes: the mirror is made
	memEvent int64   // bytes, the worst of the runs
}

// passMemoryLimit is in bytes.
const passMemoryLimit = 100 << 20

func newPasses(ctx context.Context, folder, program string, size benchtree.Size) (_ *passes, err error) {
	p := &passes{folder: folder, program: program, size: size}
	if p.registry, err = startRegistry(benchtree.Image(0), folder); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return nil, errors.Join(err, p.registry.stop())
	}
	if err := p.commit(ctx); err != nil {
		return nil, errors.Join(err, p.registry.stop())
	}
	return p, nil
}

// commit makes the repository.
func (p *passes) commit(ctx context.Context) error {
	if err := p.git(ctx, p.folder, nil, "init", "-q", "--bare", "-b", "main", p.origin()); err != nil {
		return err
	}
	var stream bytes.Buffer
	fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter bench <bench@example.com> %d +0000\ndata 1\nm\n", time.Now().Unix())
	put := func(name, content string) {
		content = strings.ReplaceAll(content, benchtree.Registry, p.registry.host)
		fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", name, len(content), content)
	}
	put(".promoter.yaml", passConfig(p.size))
	for file := range p.size.Files() {
		put(file.Path, string(file.Content))
	}
	if err := p.git(ctx, p.origin(), &stream, "fast-import", "--quiet"); err != nil {
		return err
	}
	for _, setting := range []string{"http.receivepack=true", "uploadpack.allowFilter=true", "gc.auto=0", "receive.autogc=false"} {
		key, value, _ := strings.Cut(setting, "=")
		if err := p.git(ctx, p.origin(), nil, "config", key, value); err != nil {
			return err
		}
	}
	return errors.Join(p.git(ctx, p.origin(), nil, "repack", "-qadb"), p.configure())
}

// passConfig follows all images of the tree in environments that are pushed to.
func passConfig(size benchtree.Size) string {
	text := "version: 1\ncomponents:\n  all: {image: " + benchtree.Registry + "/team-*/**, select: {semver: '>=1'}}\nenvironments:\n"
	for i := range size.Environments {
		text += fmt.Sprintf("  env-%[1]d: {paths: ['apps/{application}/overlays/env-%[1]d'], land: push}\n", i)
	}
	return text
}

func (p *passes) origin() string { return filepath.Join(p.folder, "bench", "origin.git") }

func (p *passes) git(ctx context.Context, dir string, input io.Reader, args ...string) error {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir, command.Stdin = dir, input
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w\n%s", args[0], err, out)
	}
	return nil
}

// configure writes the server's file. Loopback is asked as fast as it answers: by
// default a host is asked 50 times in a second, which says nothing of the program.
func (p *passes) configure() error {
	text := fmt.Sprintf(`version: 1
forges:
  git: {kind: git, url: "http://%[1]s", insecure: true}
repositories:
  - {forge: git, name: %[2]s}
registries:
  - {host: "%[1]s", insecure: true}
networks: [127.0.0.0/8]
rateLimits:
  - {host: "*", perSecond: 10000, burst: 10000, concurrent: 100}
`, p.registry.host, "bench/origin.git")
	return os.WriteFile(p.serverFile(), []byte(text), 0o600)
}

func (p *passes) serverFile() string { return filepath.Join(p.folder, "server.yaml") }

func (p *passes) command() []string {
	return []string{p.program, "run", "--config", p.serverFile(), "--cache", filepath.Join(p.folder, "cache")}
}

// measure begins with the pass that makes the mirror. After that, a pass with
// nothing new and one with a new image take turns.
func (p *passes) measure(ctx context.Context, runs int) (err error) {
	if p.memFirst, err = peakOf(ctx, p.command(), ""); err != nil {
		return err
	}
	for range runs {
		idle, err := execute(ctx, p.command(), nil, &counter{})
		if err != nil {
			return err
		}
		p.registry.release()
		event, err := execute(ctx, p.command(), nil, &counter{})
		if err != nil {
			return err
		}
		p.idle, p.event = append(p.idle, idle), append(p.event, event)
	}
	for range memoryRuns {
		p.registry.release()
		peak, err := peakOf(ctx, p.command(), "")
		if err != nil {
			return err
		}
		p.memEvent = max(p.memEvent, peak)
	}
	return p.verify(ctx)
}

// verify looks that every new version was pushed to every environment.
func (p *passes) verify(ctx context.Context) error {
	command := exec.CommandContext(ctx, "git", "rev-list", "--count", "main")
	command.Dir = p.origin()
	out, err := command.Output()
	if err != nil {
		return fmt.Errorf("count the commits: %w", err)
	}
	want := fmt.Sprint(1 + p.registry.released()*p.size.Environments)
	if got := strings.TrimSpace(string(out)); got != want {
		return fmt.Errorf("the passes left %s commits, want %s", got, want)
	}
	return nil
}
