package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"promoter/internal/benchtree"
	"promoter/internal/benchworld"
)

// registryPlan is a plan that queries a registry on loopback about images that all have a
// new version, and the same requests from a bare client.
type registryPlan struct {
	dir, program string
	world        *benchworld.World

	plan, bare samples
}

const (
	plannedImages   = 600
	requestsPerPlan = 2 * plannedImages
	bareClients     = 8 // as many as promoter sends at the same time
	// registryPlanLimit is for the start of the process, the files, and the output too.
	registryPlanLimit = 6
)

func measureRegistryPlan(ctx context.Context, folder, program string, runs int) (*registryPlan, error) {
	world, err := benchworld.Start(folder)
	if err != nil {
		return nil, err
	}
	defer world.Close()
	p := &registryPlan{dir: folder, program: program, world: world}
	if err := p.prepare(); err != nil {
		return nil, err
	}
	if err := p.verify(ctx); err != nil {
		return nil, err
	}
	for range runs {
		plan, err := execute(ctx, p.command(), nil, &counter{})
		if err != nil {
			return nil, err
		}
		bare, err := requestAll(ctx, world.Host, plannedImages, plannedImages)
		if err != nil {
			return nil, err
		}
		p.plan, p.bare = append(p.plan, plan), append(p.bare, bare)
	}
	return p, nil
}

// prepare writes the folder and releases a new version of each image.
func (p *registryPlan) prepare() error {
	files := map[string]string{".promoter.yaml": "version: 1\ncomponents:\n  all: {image: " + p.world.Host + "/team-*/**, select: {semver: '>=1'}}\nenvironments:\n  dev: {paths: ['apps/{application}']}\n"}
	for n := range plannedImages {
		image := benchtree.ImagePath(n)
		p.world.Release(image)
		files[fmt.Sprintf("apps/app-%03d/app.yaml", n)] = fmt.Sprintf("image: %s/%s:%s\n", p.world.Host, image, benchtree.Tag)
	}
	for name, content := range files {
		name = filepath.Join(p.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (p *registryPlan) command() []string {
	return []string{p.program, "plan", "--dir", p.dir, "-o", "diff"}
}

// verify looks once that the plan changes every image, with two requests for each.
func (p *registryPlan) verify(ctx context.Context) error {
	changes := &counter{start: []byte("+image: ")}
	if _, err := execute(ctx, p.command(), nil, changes); err != nil {
		return err
	}
	asked := p.world.Asked()
	if lists, heads := asked["GET tags"], asked["HEAD manifests"]; changes.lines != plannedImages || lists+heads != requestsPerPlan || lists != heads {
		return fmt.Errorf("the plan has %d changes, want %d; the registry was asked %v", changes.lines, plannedImages, asked)
	}
	return nil
}

// requestAll sends so many requests for lists of tags and for manifests, each about another image, as
// a client that does nothing else.
func requestAll(ctx context.Context, host string, lists, heads int) (time.Duration, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: bareClients}}
	defer client.CloseIdleConnections()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(bareClients)
	begin := time.Now()
	for n := range max(lists, heads) {
		group.Go(func() (err error) {
			prefix := "http://" + host + "/v2/" + benchtree.ImagePath(n)
			if n < lists {
				err = request(ctx, client, http.MethodGet, prefix+"/tags/list")
			}
			if err == nil && n < heads {
				err = request(ctx, client, http.MethodHead, prefix+"/manifests/"+benchtree.Tag)
			}
			return err
		})
	}
	err := group.Wait()
	return time.Since(begin), err
}

func request(ctx context.Context, client *http.Client, method, address string) error {
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

func registryPlanFigures(p *registryPlan) []figure {
	return []figure{
		{name: fmt.Sprintf("%d requests of a bare client", requestsPerPlan), measured: p.bare.String()},
		compare(fmt.Sprintf("plan of %d images in a registry", plannedImages), p.plan, p.bare.median(), "bare client", registryPlanLimit),
	}
}
