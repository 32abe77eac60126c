package workspace

import (
	"context"
	"errors"
	"fmt"

	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/git/object"
	"promoter/internal/kept"
	"promoter/internal/pullrequest"
	"promoter/internal/reconcile/describe"
	"promoter/internal/rendered"
)

// renderer renders manifests in child processes of this program. It implements describe.Renderer.
type renderer struct {
	mirror   *mirror
	pool     *rendered.Pool
	owner    string
	failures rendered.Failures
}

// rendererOf returns the renderer of a repository; nil: the server file does not allow it.
func rendererOf(session *connect.Session, r *connect.Repository, mirror *mirror, file *kept.File) describe.Renderer {
	allowed := session.Server.File.Rendering
	if len(allowed) == 0 || !r.Matches(allowed) {
		return nil
	}
	return renderer{mirror: mirror, pool: session.Renderings(), owner: r.Tenant(), failures: renderingMemory{file}}
}

// Rendered implements describe.Renderer.
func (r renderer) Rendered(ctx context.Context, before, after string, changed []string) ([]pullrequest.Manifests, error) {
	differences, err := r.pool.Differences(ctx, rendered.Change{
		Owner: r.owner, Commits: before + " " + after, Changed: changed, Failures: r.failures,
		Before: commitTree{r.mirror, before}, After: commitTree{r.mirror, after},
	})
	if err != nil {
		return nil, err
	}
	var manifests []pullrequest.Manifests
	for _, d := range differences {
		manifests = append(manifests, pullrequest.Manifests{
			Name: d.Name(), Objects: d.Objects, Diff: d.Diff, Cut: d.Cut, Problem: d.Problem,
		})
	}
	return manifests, nil
}

// maxFailures limits the failures of a repository that are remembered. An entry has less than 500 bytes.
const maxFailures = 100

// renderingMemory implements rendered.Failures in the file beside the mirror, so that a run with a cache and a new process
// do not render again what exceeds a limit.
type renderingMemory struct{ file *kept.File }

// rememberedFailure is one entry of the file, the oldest first.
type rememberedFailure struct {
	Digest string `json:"digest"`
	rendered.Failure
}

// Load implements rendered.Failures. A file that cannot be read is like none.
func (m renderingMemory) Load(digest string) (rendered.Failure, bool) {
	all, _ := kept.Load[[]rememberedFailure](m.file, nameRenderings)
	for _, one := range all {
		if one.Digest == digest {
			return one.Failure, true
		}
	}
	return rendered.Failure{}, false
}

// Store implements rendered.Failures.
func (m renderingMemory) Store(digest string, failure rendered.Failure) error {
	all, _ := kept.Load[[]rememberedFailure](m.file, nameRenderings)
	left := []rememberedFailure{}
	for _, one := range all[max(0, len(all)-maxFailures+1):] {
		if one.Digest != digest {
			left = append(left, one)
		}
	}
	if err := kept.Store(m.file, nameRenderings, append(left, rememberedFailure{digest, failure})); err != nil {
		return fmt.Errorf("remember what cannot be rendered: %w", err)
	}
	return nil
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
	content, err := t.mirror.Read(t.commit, path, limit)
	if errors.Is(err, object.ErrTooLarge) || err == nil && int64(len(content)) > limit { // what is longer is truncated
		return nil, fault.New(fault.Invalid, "it is larger than %d KiB", limit>>10)
	}
	return content, err
}
