// Package onboarding opens pull requests that add a first config file to repositories
// that have none.
//
// The server file names the repositories by glob. For each of them promoter suggests a
// config from the files of the default branch, and opens one pull request on the branch
// promoter/_onboarding. It never asks twice: a pull request that was closed or merged, or
// whose branch was deleted, is declined for good. The forge alone remembers that, so
// nothing that promoter may lose lets it ask again. Outcomes are cached only to save
// requests. promoter leaves a branch alone that has a commit of another user.
package onboarding

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"promoter/internal/config"
	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/workspace"
)

// Bounds of one batch: an App that is installed on two hundred repositories must not
// open two hundred pull requests, nor fetch all of them at once.
const (
	maxOpened   = 5   // pull requests
	maxExamined = 100 // repositories, if their outcomes are cached
)

// Batch offers config files to the repositories of one session. A nil Batch offers
// none. It is safe for concurrent use.
type Batch struct {
	globs       []string
	maxFileSize int64 // bytes over which a file is not parsed
	outcomes    *outcomes

	mutex      sync.Mutex
	remaining  int         // pull requests that may still be opened
	waiting    int         // repositories that are left to the next batch
	candidates []candidate // that nothing was offered to yet, by name
}

// candidate is a repository without a config file, as it was listed.
type candidate struct {
	repository *connect.Repository
	key        identity.RepositoryKey
	version    string // changes if the outcome may change; empty: unknown
}

// NewBatch returns the batch of a session; nil if the server file offers config files to
// no repository. The candidates are the repositories that the session found without a
// config file, except those with a known outcome.
func NewBatch(session *connect.Session) *Batch {
	globs := session.Server.File.Onboarding
	if len(globs) == 0 {
		return nil
	}
	b := &Batch{
		globs: globs, maxFileSize: session.Server.File.Sizes.File, remaining: maxOpened,
		outcomes: readOutcomes(session.CacheFolder("onboarding"), session.Server.Now),
	}
	for _, found := range session.Unconfigured {
		if !found.Repository.Matches(globs) || b.outcomes.find(found.Key, found.Version) != nil {
			continue
		}
		c := candidate{repository: found.Repository, key: found.Key}
		if found.Settled {
			c.version = found.Version
		}
		b.candidates = append(b.candidates, c)
	}
	// Those that wait are the same ones each time.
	slices.SortFunc(b.candidates, func(x, y candidate) int { return strings.Compare(x.repository.Name, y.repository.Name) })
	if b.outcomes.persistent() && len(b.candidates) > maxExamined {
		b.waiting = len(b.candidates) - maxExamined
		b.candidates = b.candidates[:maxExamined]
	}
	return b
}

// Candidates returns the keys of the repositories for OfferTo.
func (b *Batch) Candidates() (keys []string) {
	if b == nil {
		return nil
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for _, c := range b.candidates {
		keys = append(keys, string(c.key))
	}
	return keys
}

// WaitingNote reports how many repositories are left to the next batch, when there are no
// more candidates; empty: none.
func (b *Batch) WaitingNote() string {
	if b == nil {
		return ""
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.waiting == 0 || len(b.candidates) > 0 {
		return ""
	}
	return fmt.Sprintf("repositories without %s that wait for an onboarding pull request: %d; at most %d are opened at a time",
		config.FileName, b.waiting, maxOpened)
}

// Offer offers a config file to a listed repository in which a reconciliation found
// none. The result is nil if the repository does not qualify.
func (b *Batch) Offer(ctx context.Context, w *workspace.Workspace, report outcome.Report) (*Result, error) {
	if report.Config != nil || report.Unusable == "" || !b.permits(w) {
		return nil, nil //nolint:nilnil // nothing was offered, and nothing failed
	}
	o, err := newOffer(ctx, w, b.maxFileSize, b.reserve)
	if err != nil || o == nil {
		return nil, err
	}
	key, version := w.Repository.Key(), o.commit+" "+o.head
	if known := b.outcomes.find(key, version); known != nil {
		return known, nil
	}
	result, err := o.run(ctx)
	if err != nil || result == nil {
		return result, err
	}
	b.outcomes.record(key, version, *result, false)
	return result, b.outcomes.save()
}

// OfferAll offers a config file to each candidate, once. An error of one does not affect
// the others; report is called with the result of each, one at a time.
func (b *Batch) OfferAll(
	ctx context.Context, session *connect.Session, dryRun bool, report func(r *connect.Repository, result *Result, err error),
) error {
	candidates := b.take(func(candidate) bool { return true })
	if len(candidates) == 0 {
		return nil
	}
	byRepository := map[*connect.Repository]candidate{}
	var repositories []*connect.Repository
	for _, c := range candidates {
		byRepository[c.repository] = c
		repositories = append(repositories, c.repository)
	}
	separate, err := session.With(ctx, repositories)
	if err != nil {
		return err
	}
	var mutex sync.Mutex
	separate.Each(func(r *connect.Repository) {
		if ctx.Err() != nil || b.exhausted() {
			return
		}
		result, err := b.offerCandidate(ctx, separate, byRepository[r], dryRun)
		mutex.Lock()
		defer mutex.Unlock()
		if result != nil || err != nil {
			report(r, result, err)
		}
	})
	saved := b.outcomes.save()
	return errors.Join(context.Cause(ctx), saved)
}

// OfferTo offers a config file to the candidate with a key. The repository is nil if there
// is no such candidate any more. After an error that may pass, the candidate stays one.
func (b *Batch) OfferTo(ctx context.Context, session *connect.Session, key string, dryRun bool) (*connect.Repository, *Result, error) {
	taken := b.take(func(c candidate) bool { return string(c.key) == key })
	if len(taken) == 0 || b.exhausted() {
		return nil, nil, nil
	}
	attempt, listed := taken[0], *taken[0].repository // a later attempt opens it again
	attempt.repository = &listed
	separate, err := session.With(ctx, []*connect.Repository{&listed})
	if err != nil {
		return nil, nil, err
	}
	result, err := b.offerCandidate(ctx, separate, attempt, dryRun)
	if IsTransient(err) {
		b.mutex.Lock()
		b.candidates = append(b.candidates, taken...)
		b.mutex.Unlock()
	}
	return &listed, result, errors.Join(err, b.outcomes.save())
}

// offerCandidate keeps no mirror of a repository without a pull request: most candidates
// are no GitOps repositories.
func (b *Batch) offerCandidate(ctx context.Context, session *connect.Session, c candidate, dryRun bool) (result *Result, err error) {
	r := c.repository
	if r.Err != nil {
		return nil, r.Err
	}
	if r.Key() != c.key { // another repository has the name now; the next session lists it
		return nil, nil //nolint:nilnil // nothing was offered, and nothing failed
	}
	err = workspace.Try(ctx, session, r, workspace.Options{DryRun: dryRun}, func(ctx context.Context, w *workspace.Workspace) error {
		if !b.permits(w) {
			return nil
		}
		o, err := newOffer(ctx, w, b.maxFileSize, b.reserve)
		if err != nil || o == nil {
			return r.Advise(err)
		}
		result, err = o.run(ctx)
		return r.Advise(err)
	})
	if result == nil || !result.isOpen() {
		err = errors.Join(err, workspace.Remove(context.WithoutCancel(ctx), session, string(c.key)))
	}
	b.outcomes.record(c.key, c.version, cacheable(result, err), true)
	return result, err
}

// cacheable returns the outcome to cache. A missing permission is cached too, and an
// empty repository has nothing to follow.
func cacheable(result *Result, err error) Result {
	switch {
	case err != nil && !IsTransient(err):
		return Result{State: LeftAlone, Reason: err.Error()}
	case err != nil:
		return Result{}
	case result == nil:
		return Result{State: NothingFound}
	}
	return *result
}

// IsTransient reports whether another attempt may succeed although no user changes
// anything.
func IsTransient(err error) bool {
	kind := fault.KindOf(err)
	return err != nil && kind != fault.Unauthorized && kind != fault.Invalid
}

// permits reports whether the server file and the repository permit an offer.
func (b *Batch) permits(w *workspace.Workspace) bool {
	repository := w.Reconciler.Clients.Forge
	info := repository.Info()
	return b != nil && w.Repository.Matches(b.globs) && repository.Features().PullRequests &&
		!info.Archived && !info.Fork && info.MayPush
}

// take removes and returns candidates.
func (b *Batch) take(which func(candidate) bool) (taken []candidate) {
	if b == nil {
		return nil
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.candidates = slices.DeleteFunc(b.candidates, func(c candidate) bool {
		if which(c) {
			taken = append(taken, c)
			return true
		}
		return false
	})
	return taken
}

// exhausted reports whether no pull request may be opened any more. The repository of
// the caller then waits.
func (b *Batch) exhausted() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.remaining > 0 {
		return false
	}
	b.waiting++
	return true
}

// reserve reports whether one more pull request may be opened, and counts it.
func (b *Batch) reserve() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.remaining == 0 {
		b.waiting++
		return false
	}
	b.remaining--
	return true
}
