package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"promoter/internal/benchtree"
	"promoter/internal/benchworld"
)

// reconciliations are runs of the built program on one Git repository with the whole tree.
// It is served over HTTP on loopback, and so are its images.
type reconciliations struct {
	folder, program string
	size            benchtree.Size
	world           *benchworld.World

	idle     samples // nothing is new
	event    samples // one image is new, and pushed to five environments
	memFirst int64   // bytes: the mirror is made
	memEvent int64   // bytes, the worst of the runs
	memAll   int64   // bytes: all images are new
}

// Limits of memory, in bytes.
const (
	runMemoryLimit = 100 << 20
	allMemoryLimit = 320 << 20 // twice what serve keeps free for a reconciliation
)

const repositoryName = "bench/origin.git"

// prepare makes the repository and the server file.
func (p *reconciliations) prepare(ctx context.Context) error {
	if err := p.world.Tree(ctx, repositoryName, p.size); err != nil {
		return err
	}
	if _, err := p.world.Git(ctx, repositoryName, "repack", "-qadb"); err != nil {
		return err
	}
	return p.configure()
}

// configure writes the server file. Loopback is asked as fast as it answers: by
// default a host is asked 50 times in a second, which says nothing of the program.
func (p *reconciliations) configure() error {
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
reconciliation: {timeout: 30m}
`, p.world.Host, repositoryName)
	return os.WriteFile(p.serverFile(), []byte(text), 0o600)
}

func (p *reconciliations) serverFile() string { return filepath.Join(p.folder, "server.yaml") }

func (p *reconciliations) command() []string {
	return []string{p.program, "run", "--config", p.serverFile(), "--cache", filepath.Join(p.folder, "cache")}
}

// measure starts with the reconciliation that makes the mirror. After that, a reconciliation with
// nothing new and one with a new image take turns.
func (p *reconciliations) measure(ctx context.Context, runs int) (err error) {
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
	if err := p.verify(ctx, 0); err != nil {
		return err
	}
	for n := range p.size.Applications {
		p.world.Release(benchtree.ImagePath(n))
	}
	if p.memAll, err = peakOf(ctx, p.command(), ""); err != nil {
		return err
	}
	return p.verify(ctx, p.size.Applications-1)
}

// verify looks that every new version of the first image, and one of some others, was
// pushed to every environment.
func (p *reconciliations) verify(ctx context.Context, others int) error {
	got, err := p.world.Git(ctx, repositoryName, "rev-list", "--count", "main")
	if err != nil {
		return err
	}
	want := fmt.Sprint(1 + (p.world.Released(benchtree.ImagePath(0))+others)*p.size.Environments)
	if got != want {
		return fmt.Errorf("the reconciliations left %s commits, want %s", got, want)
	}
	return nil
}
