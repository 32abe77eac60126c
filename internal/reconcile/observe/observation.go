package observe

import (
	"context"
	"maps"
	"slices"
	"time"

	"promoter/internal/comments"
	"promoter/internal/config"
	"promoter/internal/health"
	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/reconcile/cache"
	"promoter/internal/reconcile/plan"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
	"promoter/internal/statebranch"
)

// Observation is what one reconciliation learned before it planned. It is a value: a
// reader returns a new one, and acting works on its own copy.
type Observation struct {
	Now      time.Time
	Info     scm.Info
	Unusable string // why nothing can be done in the repository, and what to do about it
	// BrokenConfig reports that Unusable is about the config file.
	BrokenConfig bool
	// Problems are what loading the config file reported.
	Problems config.Problems

	Refs  repo.Refs
	Heads map[string]string // the fetched branches
	Open  []scm.PullRequest // of everyone
	// Closed are the closed pull requests of the branches on which commands were given.
	Closed map[string][]scm.PullRequest
	Branch statebranch.Head     // the state branch
	Trees  map[string]repo.Tree // by environment

	// Promotion is the part that the planner uses. Its State contains Changes.
	Promotion promotion.Observation

	Attempts map[promotion.Target]map[string]int // how often each snapshot landed before, by id
	Statuses map[string]scm.Check                // our own commit status, by commit

	Reports []health.Report        // about health, that arrived at receivers
	Health  []landing.HealthChange // what is new of the health of landed snapshots

	// Changes are to be written to the state branch, with the messages of the user
	// commands among them.
	Changes    []state.Change
	Messages   []string
	CommandsAt time.Time // when commands that are too new can be read; zero: there are none
	// overruled is how many of the Changes there were after what users overruled.
	overruled int
	// learned is how many of the Changes there were when the history was read, with what it learned: times of landings.
	learned int
	// Explained are the targets that a user asks about; nil: none.
	Explained func(promotion.Target) bool
	// Refreshed reports that a user asked to read the registries again.
	Refreshed bool

	// Entry has the decisions about all applications that are not among those of Promotion; nil: the
	// observation is about all of them.
	Entry *cache.Entry

	// Failures are the parts that could not be read.
	Failures repo.Failures

	// reverted is what a merged pull request brought, as the forge shows, and a user reverted.
	reverted map[promotion.Target][]promotion.Reversion
}

// Plan decides from the observation.
func (o Observation) Plan(ctx context.Context) (plan.Plan, error) {
	return plan.Make(ctx, o.Promotion, o.Entry, o.Now)
}

// Landed returns what the history of branches is read from.
func (o Observation) Landed() landing.Observed {
	return landing.Observed{
		Now: o.Now, Heads: o.Heads, Statuses: o.Statuses, Promotion: o.Promotion, Asked: o.Explained, Reports: o.Reports,
	}
}

// Commented returns what commands in comments are about.
func (o Observation) Commented() comments.Observed {
	return comments.Observed{Now: o.Now, Self: o.Info.Self, Open: o.Open, Closed: o.Closed, Promotion: o.Promotion, Landed: o.Landed()}
}

// Read returns what is compared with an entry of the cache.
func (o Observation) Read() cache.Read {
	return cache.Read{Heads: o.Heads, Ours: o.OurBranches(), Promotion: o.Promotion}
}

// OurBranches returns our branches, and those that have an open pull request.
func (o Observation) OurBranches() map[string]bool {
	ours := map[string]bool{}
	add := func(branch string) {
		if _, our := promotion.ParseHead(branch); our {
			ours[branch] = true
		}
	}
	for branch := range o.Refs.Branches {
		add(branch)
	}
	for _, pr := range o.Open {
		add(pr.Head.Branch)
	}
	return ours
}

// withCommands returns the observation as it is after the commands in comments.
func (o Observation) withCommands(commands comments.Commands) Observation {
	o.CommandsAt, o.Refreshed = commands.Next, commands.Refreshed
	if o.Refreshed { // a refused merge is tried again
		o.Promotion.Open = maps.Clone(o.Promotion.Open)
		for branch, open := range o.Promotion.Open {
			open.Refused = nil
			o.Promotion.Open[branch] = open
		}
	}
	o.Messages = slices.Concat(o.Messages, commands.Messages)
	return o.WithChanges(commands.Changes...)
}

// WithChanges returns the observation as it is after changes of the state. A change of
// a record that cannot be read is left out: that record is a partial error already.
func (o Observation) WithChanges(changes ...state.Change) Observation {
	o.Promotion.State, _ = o.Promotion.State.Apply(changes...)
	o.Changes = slices.Concat(o.Changes, changes)
	return o
}

// Clone returns a copy whose maps and lists may be changed.
func (o Observation) Clone() Observation {
	o.Heads = maps.Clone(o.Heads)
	o.Refs.Branches = maps.Clone(o.Refs.Branches)
	o.Statuses = maps.Clone(o.Statuses)
	o.Open = slices.Clone(o.Open)
	o.Closed = maps.Clone(o.Closed)
	o.Promotion.Open = maps.Clone(o.Promotion.Open)
	return o
}

// HeadsOf returns the branch of a proposal, and the existing branches that the same
// decisions had before the config pushed them, or shared a pull request.
func (o Observation) HeadsOf(p propose.Proposal) []string {
	heads := []string{promotion.GroupBranch(p.Environment.Name)}
	for _, d := range p.Decisions {
		heads = append(heads, promotion.HeadBranch(d.Environment, d.Application))
	}
	heads = slices.DeleteFunc(heads, func(head string) bool {
		_, open := o.Promotion.Open[head]
		return open || o.Refs.Branches[head] == "" || head == p.Head
	})
	if p.Head != "" {
		heads = append(heads, p.Head)
	}
	return heads
}

// SkipReason returns why a proposal is not carried out; nil: it is. Nothing is done about a branch for which
// skipped returns an error.
func (o Observation) SkipReason(p propose.Proposal, skipped func(branch string) error) error {
	for _, head := range o.HeadsOf(p) {
		if err := skipped(head); err != nil {
			return err
		}
	}
	return nil
}

// with returns the observation with the failures that were collected until now.
func (o Observation) with(failures *repo.Collector) Observation {
	o.Failures = failures.Failures()
	o.Promotion.Unavailable = o.Failures.Unavailable
	return o
}

// landedHeads returns the heads of the branches of environments.
func (o Observation) landedHeads() []string {
	var heads []string
	for branch := range o.Promotion.EnvironmentsByBranch() {
		heads = append(heads, o.Heads[branch])
	}
	return heads
}
