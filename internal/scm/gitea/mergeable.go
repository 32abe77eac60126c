package gitea

import (
	"context"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/identity"
)

// maxChecking is how long Gitea may take to check for conflicts. After a push to the head
// or the base, a refused merge, and a new branch rule, a pull request is called not
// mergeable until the check ends, usually within two seconds.
const maxChecking = time.Minute

// pullKey identifies a pull request on a server.
type pullKey struct {
	repository identity.RepositoryKey
	number     int64
}

// unmergeable is since when these commits are called not mergeable.
type unmergeable struct {
	head, base string
	since      time.Time
}

// watchMergeable remembers since when an open pull request is not mergeable.
func (f *Forge) watchMergeable(repository identity.RepositoryKey, pull *sdk.PullRequest) {
	key := pullKey{repository, pull.Index}
	f.mu.Lock()
	defer f.mu.Unlock()
	if pull.Mergeable || pull.State != sdk.StateOpen || pull.Head == nil || pull.Base == nil {
		delete(f.unmergeable, key)
		return
	}
	if before, known := f.unmergeable[key]; !known || before.head != pull.Head.Sha || before.base != pull.Base.Sha {
		f.unmergeable[key] = unmergeable{head: pull.Head.Sha, base: pull.Base.Sha, since: f.now()}
	}
}

// Conflicts implements scm.Conflicting, from what listings reported.
func (r *repository) Conflicts(_ context.Context, number int) (bool, error) {
	return r.forge.conflicts(pullKey{r.info.Key, int64(number)}), nil
}

// conflicts reports whether a pull request has been not mergeable for longer than a check
// takes. Gitea distinguishes a conflict from a check neither by a field nor by a message.
func (f *Forge) conflicts(of pullKey) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	known, is := f.unmergeable[of]
	return is && !f.now().Before(known.since.Add(maxChecking))
}
