package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"promoter/internal/benchtree"
	"promoter/internal/benchworld"
)

// passes are runs of the built program on one Git repository with the whole tree.
// It is served over HTTP on loopback, and so are its images.
type passes struct {
	folder, program string
	size            benchtree.Size
	world           *benchworld.World

	idle     samples // nothing is new
	event    samples // one image is new, and pushed to five environments
	memFirst int64   // bytes: the mirror is made
	memEvent int64   // bytes, the worst of the runs
}

// passMemoryLimit is in bytes.
const passMemoryLimit = 100 << 20

const passRepository = "bench/origin.git"

// prepare makes the repository and the server's file.
func (p *passes) prepare(ctx context.Context) error {
	if err := p.world.Tree(ctx, passRepository, p.size); err != nil {
		return err
	}
	if _, err := p.world.Git(ctx, passRepository, "repack", "-qadb"); err != nil {
		return err
	}
	return p.configure()
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
`, p.world.Host, passRepository)
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
		p.world.Release(benchtree.ImagePath(0))
		event, err := execute(ctx, p.command(), nil, &counter{})
		if err != nil {
			return err
		}
		p.idle, p.event = append(p.idle, idle), append(p.event, event)
	}
	for range memoryRuns {
		p.world.Release(benchtree.ImagePath(0))
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
	got, err := p.world.Git(ctx, passRepository, "rev-list", "--count", "main")
	if err != nil {
		return err
	}
	want := fmt.Sprint(1 + p.world.Released(benchtree.ImagePath(0))*p.size.Environments)
	if got != want {
		return fmt.Errorf("the passes left %s commits, want %s", got, want)
	}
	return nil
}
