// Package history turns what reconciliations did and observed into events, and returns
// them to users.
//
// There are two sources. An event about an action of promoter exists only in the
// database. Everything else can be observed again: open pull requests, landings in the
// trailers of commits, and user decisions on the state branch. A lost database gets these
// back with the next reconciliation, and Observed returns them without a database. The
// identity of an event (store.Event.Identity) is the same each time it is observed.
package history

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"promoter/internal/connect"
	"promoter/internal/landing"
	"promoter/internal/outbound"
	"promoter/internal/reconcile"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/store"
)

// Recorder makes the history of repositories from the reports of their reconciliations.
type Recorder struct {
	Store     *store.Store
	Retention time.Duration // how long events are kept; zero: forever
	Now       func() time.Time

	mutex   sync.Mutex
	written map[string][sha256.Size]byte // digest of the observed events that were written, by repository
}

// RepositoryOf returns how a repository is stored.
func RepositoryOf(repository *connect.Repository) store.Repository {
	info := repository.SCM.Info()
	return store.Repository{Key: string(info.Key), Forge: repository.Forge.Config.Name, Host: hostOf(info), Name: info.Name}
}

// hostOf returns the host of a repository; plain Git has no page, only a clone URL.
func hostOf(info scm.Info) string {
	if host := outbound.Host(info.URL); host != "" {
		return host
	}
	return outbound.Host(info.CloneURL)
}

// Landings are what landed on the branches of a repository since the last
// reconciliation.
type Landings struct {
	landed []landing.Landed
	known  map[string]string // the commits up to which branches had been read before
	heads  map[string]string // the new commits up to which branches were read
}

// IsFirst reports whether the history of a branch was not read before, so that what landed there
// may have landed long ago.
func (l Landings) IsFirst(branch string) bool { return l.known[branch] == "" }

// ReadLandings reads what landed. An error is added to the report, as a partial failure
// that is retried.
func (r *Recorder) ReadLandings(ctx context.Context, reconciler *reconcile.Reconciler, report *outcome.Report) Landings {
	if report.Heads == nil || report.Config == nil {
		return Landings{}
	}
	read, err := r.readLandings(ctx, reconciler, *report)
	if err != nil {
		report.Errors = append(report.Errors, repo.PartialError{What: "history", Err: err})
		return read
	}
	read.heads = map[string]string{}
	for _, environment := range report.Config.Environments {
		branch := cmp.Or(environment.Branch, report.Default)
		if head := report.Heads[branch]; head != "" && head != read.known[branch] {
			read.heads[branch] = head
		}
	}
	return read
}

// readLandings reads what landed, without the heads of branches.
func (r *Recorder) readLandings(ctx context.Context, reconciler *reconcile.Reconciler, report outcome.Report) (read Landings, err error) {
	if read.known, err = r.Store.Heads(ctx, string(report.Repository)); err != nil {
		return read, err
	}
	read.landed, err = reconciler.Landed(ctx, report, read.known, r.since())
	return read, err
}

// since is how far the history goes back; the zero time: it is kept forever.
func (r *Recorder) since() time.Time {
	if r.Retention == 0 {
		return time.Time{}
	}
	return r.Now().Add(-r.Retention)
}

// Actions returns the events of what promoter just did.
func (r *Recorder) Actions(repository store.Repository, effects []outcome.Effect, trigger store.Trigger) []store.Event {
	return r.writer(repository).actions(effects, trigger)
}

// Incidents returns the events of what happened in a repository and was handled. A reconciliation finds each of them once.
func (r *Recorder) Incidents(repository store.Repository, errors []repo.PartialError) []store.Event {
	return r.writer(repository).incidents(errors)
}

func (r *Recorder) writer(repository store.Repository) eventWriter {
	return eventWriter{key: repository.Key, name: strings.TrimPrefix(repository.Host+"/"+repository.Name, "/"), now: r.Now()}
}

// Update returns what a reconciliation adds to the history: what promoter did, in case
// that could not be written when it was done, and what was observed, unless this process has written the
// same observation already. The function is to be called after the update was written.
func (r *Recorder) Update(
	repository store.Repository, report outcome.Report, trigger store.Trigger, landings Landings,
) (_ store.HistoryUpdate, written func()) {
	events := r.writer(repository)
	observed, since := events.observed(report, landings.landed), r.since()
	observed = slices.DeleteFunc(observed, func(e store.Event) bool { return e.At.Before(since) })
	update := store.HistoryUpdate{Events: events.actions(report.Effects, trigger), Heads: landings.heads}
	times := events.times(report)
	digest, changed := r.changed(repository.Key, observed, times)
	if changed {
		update.Events, update.Times = append(update.Events, observed...), times
	}
	return update, func() { r.write(repository.Key, digest) }
}

// changed reports whether observed events or times differ from those that were written last.
// The store keeps an event as it was first written, so its identity is enough.
func (r *Recorder) changed(key string, observed []store.Event, times []store.PromotionTime) (digest [sha256.Size]byte, changed bool) {
	identities := make([]string, len(observed))
	for i, e := range observed {
		identities[i] = e.Identity()
	}
	text, err := json.Marshal([]any{identities, times})
	if err != nil {
		return digest, true
	}
	digest = sha256.Sum256(text)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return digest, r.written[key] != digest
}

// write remembers the digest of what was written.
func (r *Recorder) write(key string, digest [sha256.Size]byte) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.written == nil {
		r.written = map[string][sha256.Size]byte{}
	}
	r.written[key] = digest
}
