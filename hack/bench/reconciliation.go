package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"promoter/internal/benchtree"
	"promoter/internal/benchworld"
)

// reconciliations are runs of a program on one Git repository with the whole tree.
// It is served over HTTP on loopback, and so are its images.
type reconciliations struct {
	name    string // of the repository
	folder  string // of the server file and the cache
	program string
	size    benchtree.Size
	world   *benchworld.World

	idle     samples // nothing is new
	bare     samples // the requests of that to the registry, by a client that does nothing else
	event    samples // one image is new, and pushed to five environments
	memFirst peak    // the mirror is made
	memEvent peak    // the worst of the runs
	memAll   peak    // all images are new
}

// Limits of memory, in bytes.
const (
	runMemoryLimit = 100 << 20
	allMemoryLimit = 320 << 20 // twice what serve keeps free for a reconciliation
)

// prepare makes the repository and the server file.
func (p *reconciliations) prepare(ctx context.Context) error {
	if err := os.MkdirAll(p.folder, 0o750); err != nil {
		return err
	}
	if err := p.world.Tree(ctx, p.name, p.size); err != nil {
		return err
	}
	if _, err := p.world.Git(ctx, p.name, "repack", "-qadb"); err != nil {
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
`, p.world.Host, p.name)
	return os.WriteFile(p.serverFile(), []byte(text), 0o600)
}

func (p *reconciliations) serverFile() string { return filepath.Join(p.folder, "server.yaml") }

func (p *reconciliations) command() []string {
	return []string{p.program, "run", "--config", p.serverFile(), "--cache", filepath.Join(p.folder, "cache")}
}

// measureRuns starts with the reconciliations that make the mirrors. After that, one with nothing
// new and one with a new image take turns, and so do the programs and reading all files of a tree.
func measureRuns(ctx context.Context, runs int, tree *workload, all ...*reconciliations) (read samples, err error) {
	world := all[0].world
	for _, p := range all {
		if p.memFirst, err = peakOf(ctx, p.command(), ""); err != nil {
			return nil, err
		}
	}
	for range runs {
		took, err := readEveryFile(tree.dir, tree.size.Len())
		if err != nil {
			return nil, err
		}
		read = append(read, took)
		for _, p := range all {
			if err := p.measureIdle(ctx); err != nil {
				return nil, err
			}
		}
		world.Release(benchtree.ImagePath(0))
		for _, p := range all {
			event, err := execute(ctx, p.command(), nil, &counter{})
			if err != nil {
				return nil, err
			}
			p.event = append(p.event, event)
		}
	}
	if err := measureRunMemory(ctx, world, all); err != nil {
		return nil, err
	}
	return read, nil
}

// measureIdle has nothing new, and sends the same requests to the registry.
func (p *reconciliations) measureIdle(ctx context.Context) error {
	p.world.Asked()
	idle, err := execute(ctx, p.command(), nil, &counter{})
	if err != nil {
		return err
	}
	asked := p.world.Asked()
	bare, err := requestAll(ctx, p.world.Host, asked["GET tags"], asked["HEAD manifests"])
	if err != nil {
		return err
	}
	p.idle, p.bare = append(p.idle, idle), append(p.bare, bare)
	return nil
}

// measureRunMemory releases a version of one image some times, and then one of all images for the
// first program: this one takes long.
func measureRunMemory(ctx context.Context, world *benchworld.World, all []*reconciliations) error {
	for range memoryRuns {
		world.Release(benchtree.ImagePath(0))
		for _, p := range all {
			found, err := peakOf(ctx, p.command(), "")
			if err != nil {
				return err
			}
			p.memEvent = p.memEvent.atLeast(found)
		}
	}
	for _, p := range all {
		if err := p.verify(ctx, 0); err != nil {
			return err
		}
	}
	for n := range all[0].size.Applications {
		world.Release(benchtree.ImagePath(n))
	}
	found, err := peakOf(ctx, all[0].command(), "")
	if err != nil {
		return err
	}
	all[0].memAll = found
	return all[0].verify(ctx, all[0].size.Applications-1)
}

// verify looks that every new version of the first image, and one of some others, was
// pushed to every environment.
func (p *reconciliations) verify(ctx context.Context, others int) error {
	got, err := p.world.Git(ctx, p.name, "rev-list", "--count", "main")
	if err != nil {
		return err
	}
	want := fmt.Sprint(1 + (p.world.Released(benchtree.ImagePath(0))+others)*p.size.Environments)
	if got != want {
		return fmt.Errorf("the reconciliations left %s commits, want %s", got, want)
	}
	return nil
}
