// Package cache keeps the decisions of one repository from one reconciliation to the next, and finds out
// which of them an event left valid.
//
// A reconciliation lists the branches and the pull requests, and reads the config, the state branch, and the
// trees, whatever is in the cache: these cost what differs. It compares what it read with the entry, and the
// differences name the applications that it decides about. Only answers of registries cannot be compared
// without a request: the caller names the images that may have other ones.
//
// The unit is the application, in all of its environments, because its decisions depend on no other one.
// An entry is a value that nothing changes. Where there is none, such as after a start, a poll, or a
// failure, everything is decided about.
package cache

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"promoter/internal/config"
	"promoter/internal/drift"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/repo"
)

// Cache keeps the last entry of one repository between reconciliations.
type Cache interface {
	// Load returns what Store got last, and what may have changed since. Nil: nothing is kept, or
	// everything may have changed, such as after a poll.
	Load(ctx context.Context) (*Entry, Changed, error)
	// Store replaces the entry. Nil: the next reconciliation decides about everything.
	Store(entry *Entry)
}

// Changed names what may have changed outside of a repository since an entry.
type Changed struct {
	// Image reports whether registries may have another answer about an image. Nil: they have the same ones.
	Image func(image.Repository) bool
}

// Read is what an observation read before it decides: what is compared with an entry.
type Read struct {
	Heads map[string]string // the fetched branches
	Ours  map[string]bool   // branches of promoter, with or without a pull request
	// Promotion has the config, the files, and the user decisions.
	Promotion promotion.Observation
}

// Decided is what a reconciliation decided and found.
type Decided struct {
	Decisions []promotion.Decision // of all applications, in the order of decide.Plan
	// Reads is what the decisions read that were made now, by application. That of the others is as in the entry before.
	Reads    map[string]input.Reads
	Attempts map[promotion.Target]map[string]int // how often each snapshot landed, by its ID
	Others   map[string][]edit.Reference         // references that no component follows, by branch
	Drift    []drift.Drift
}

// Entry is what a reconciliation decided, and from what.
type Entry struct {
	read    Read // of Promotion, only what is compared or reused
	decided Decided
	images  map[image.Repository]map[string]bool // the applications that refer to each
}

// New returns the entry of a reconciliation. The entry of which it reused decisions, nil: none, shares what did not
// change.
func New(read Read, decided Decided, before *Entry) *Entry {
	o := read.Promotion
	images := imagesIn(o, before)
	if before != nil {
		decided.Reads = overlay(before.decided.Reads, decided.Reads)
	}
	read.Promotion = promotion.Observation{
		Config: o.Config, DefaultBranch: o.DefaultBranch, PushOnly: o.PushOnly,
		Targets: o.Targets, State: o.State,
		Policies: o.Policies, Verify: o.Verify,
	}
	return &Entry{read: read, decided: decided, images: images}
}

// Size estimates the memory of an entry in bytes, besides that of the files, which the scans share.
func (e *Entry) Size() int64 {
	const ofDecision, ofTarget = 1200, 250 // measured with the tree of the benchmarks
	return int64(len(e.decided.Decisions))*ofDecision + int64(len(e.read.Promotion.Targets))*ofTarget
}

// Config loads the config of a commit of the default branch. It reads again only what may differ from the
// entry; nil: everything.
func (e *Entry) Config(objects repo.Contents, commit, branch string) (*config.Config, error) {
	if e == nil {
		return repo.LoadConfig(objects, commit, branch, nil)
	}
	before := e.read.Promotion.Config
	if e.read.Heads[branch] == commit {
		return before, nil
	}
	return repo.LoadConfig(objects, commit, branch, before)
}

// Rules returns an observation with the policies and the required signatures of all components: those of the
// applications that it is about, and for the others those of the entry.
func (e *Entry) Rules(o promotion.Observation) promotion.Observation {
	o.Policies = overlay(e.read.Promotion.Policies, o.Policies)
	o.Verify = overlay(e.read.Promotion.Verify, o.Verify)
	return o
}

// overlay returns a map with the entries of another one over it.
func overlay[K comparable, V any](kept, now map[K]V) map[K]V {
	if len(kept) == 0 {
		return now
	}
	all := maps.Clone(kept)
	maps.Copy(all, now)
	return all
}

// Attempts returns how often snapshots landed: as read now for the touched applications, and as in the
// entry for the others.
func (e *Entry) Attempts(now map[promotion.Target]map[string]int, touched map[string]bool) map[promotion.Target]map[string]int {
	all := maps.Clone(now)
	for target, attempts := range e.decided.Attempts {
		if !touched[target.Application] {
			all[target] = attempts
		}
	}
	return all
}

// Drift returns the drift of the repository. That of applications that nothing touched is the same as before.
func (e *Entry) Drift(observed drift.Observed) []drift.Drift {
	if e == nil || len(e.decided.Drift) >= drift.MaxFound || !maps.EqualFunc(e.decided.Others, observed.Others, sameList) {
		return drift.Find(observed)
	}
	return drift.FindAgain(observed, e.decided.Drift)
}

// Decisions returns the decisions that were made now with those of the entry about all other applications,
// in the order of decide.Plan. What lies between the touched ones is copied as a whole.
func (e *Entry) Decisions(made []promotion.Decision, o promotion.Observation) []promotion.Decision {
	kept, order := e.decided.Decisions, map[string]int{}
	for i, environment := range o.Scope() {
		order[environment] = i
	}
	find := func(target promotion.Target) (at int, known bool) {
		return slices.BinarySearchFunc(kept, target, func(d promotion.Decision, target promotion.Target) int {
			return cmp.Or(cmp.Compare(order[d.Environment], order[target.Environment]), cmp.Compare(d.Application, target.Application))
		})
	}
	type edit struct {
		at   int // in what was kept
		made *promotion.Decision
	}
	var edits []edit // without a decision, the one there is left out
	for i := range made {
		at, _ := find(made[i].Target)
		edits = append(edits, edit{at, &made[i]})
	}
	for environment := range order {
		for application := range o.Applications {
			if at, known := find(promotion.Target{Environment: environment, Application: application}); known {
				edits = append(edits, edit{at, nil})
			}
		}
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.at, b.at) })
	merged, done := make([]promotion.Decision, 0, len(kept)+len(made)), 0
	for _, one := range edits {
		merged = append(merged, kept[done:one.at]...)
		done = one.at
		if one.made != nil {
			merged = append(merged, *one.made)
			continue
		}
		done++
	}
	return append(merged, kept[done:]...)
}
