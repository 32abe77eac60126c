package workspace

import (
	"context"
	"fmt"
	"os"

	"promoter/internal/connect"
	"promoter/internal/lru"
	"promoter/internal/pullrequest"
	"promoter/internal/reconcile/describe"
	"promoter/internal/rendered"
)

// renderer renders manifests in child processes of this program. It implements describe.Renderer.
type renderer struct {
	mirror *mirror
	cache  *lru.Cache[string, []rendered.Difference] // of all repositories: commits identify the files
}

// rendererOf returns the renderer of a repository; nil: the server file does not allow it.
func rendererOf(session *connect.Session, r *connect.Repository, mirror *mirror) describe.Renderer {
	allowed := session.Server.File.Rendering
	if len(allowed) == 0 || !r.Matches(allowed) {
		return nil
	}
	return renderer{mirror, session.Rendered()}
}

// Rendered implements describe.Renderer.
func (r renderer) Rendered(ctx context.Context, before, after string, changed []string) ([]pullrequest.Manifests, error) {
	key := before + " " + after
	differences, kept := r.cache.Get(key)
	if !kept {
		program, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find this program: %w", err)
		}
		process := rendered.Process{Program: program}
		differences, err = process.Differences(ctx, commitTree{r.mirror, before}, commitTree{r.mirror, after}, changed)
		if err != nil {
			return nil, err
		}
		r.cache.Put(key, differences, 1)
	}
	var manifests []pullrequest.Manifests
	for _, d := range differences {
		manifests = append(manifests, pullrequest.Manifests{
			Name: d.Name(), Objects: d.Objects, Diff: d.Diff, Cut: d.Cut, Problem: d.Problem,
		})
	}
	return manifests, nil
}

// commitTree is the files of a commit. It implements rendered.Tree.
type commitTree struct {
	mirror *mirror
	commit string
}

// Files implements rendered.Tree.
func (t commitTree) Files() ([]string, error) { return t.mirror.Changed("", t.commit) }

// Read implements rendered.Tree.
func (t commitTree) Read(path string, limit int64) ([]byte, error) {
	return t.mirror.Read(t.commit, path, limit)
}
