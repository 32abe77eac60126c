package engine

import (
	"maps"
	"slices"
	"time"

	"promoter/internal/comments"
	"promoter/internal/config"
	"promoter/internal/config/trust"
	"promoter/internal/health"
	"promoter/internal/image"
	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
	"promoter/internal/statebranch"
)

// Observation is what one reconciliation learned before it planned. It is a value: a
// reader returns a new one, and act works on its own copy.
type Observation struct {
	Now      time.Time
	Info     scm.Info
	Unusable string // why nothing can be done in the repository, and what to do about it
	// brokenConfig reports that Unusable is about the config file.
	brokenConfig bool
	// problems are what loading the config file reported.
	problems config.Problems

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
	CommandsAt time.Time // see Report
	// Asked are the targets that a user asks about; nil: none.
	Asked func(promotion.Target) bool
	// Refreshed reports that a user asked to read the registries again.
	Refreshed bool

	// kept is where the decisions about other applications than the touched ones come from; nil: all
	// are decided about.
	kept *Kept

	failures *repo.Failures // the parts that could not be read
}

// observed returns what the history of branches is read from.
func (o Observation) observed() landing.Observed {
	return landing.Observed{Now: o.Now, Heads: o.Heads, Statuses: o.Statuses, Promotion: o.Promotion, Asked: o.Asked, Reports: o.Reports}
}

// withFollowed returns the observation with what the config and the server say about the
// components of the applications that are decided about. What others have stays.
func (o Observation) withFollowed(server func(image.Repository) []trust.Requirement) Observation {
	followed := promotion.FollowedIn(o.Promotion.Config, o.Promotion.Selected(), promotion.Everywhere)
	o.Promotion.Policies, o.Promotion.Verify = promotion.Policies(o.Promotion.Config, followed), promotion.Verifications(followed, server)
	if o.kept != nil {
		o.Promotion.Policies = overlay(o.kept.promotion.Policies, o.Promotion.Policies)
		o.Promotion.Verify = overlay(o.kept.promotion.Verify, o.Promotion.Verify)
	}
	return o
}

// commented returns what commands in comments are about.
func (o Observation) commented() comments.Observed {
	return comments.Observed{Now: o.Now, Self: o.Info.Self, Open: o.Open, Closed: o.Closed, Promotion: o.Promotion}
}

// withCommands returns the observation as it is after the commands in comments.
func (o Observation) withCommands(commands comments.Commands) Observation {
	o.CommandsAt, o.Refreshed = commands.Next, commands.Refreshed
	o.Messages = slices.Concat(o.Messages, commands.Messages)
	return o.withChanges(commands.Changes...)
}

// withChanges returns the observation as it is after changes of the state. A change of
// a record that cannot be read is left out: that record is a partial error already.
func (o Observation) withChanges(changes ...state.Change) Observation {
	o.Promotion.State, _ = o.Promotion.State.Apply(changes...)
	o.Changes = slices.Concat(o.Changes, changes)
	return o
}

// clone returns a copy whose maps and lists may be changed.
func (o Observation) clone() Observation {
	o.Heads, o.Refs.Branches, o.Statuses = maps.Clone(o.Heads), maps.Clone(o.Refs.Branches), maps.Clone(o.Statuses)
	o.Open, o.Closed, o.Promotion.Open = slices.Clone(o.Open), maps.Clone(o.Closed), maps.Clone(o.Promotion.Open)
	o.failures = o.failures.Clone()
	return o
}

// headsOf returns the branch of a proposal, and the existing branches that the same
// decisions had before the config pushed them, or shared a pull request.
func (o Observation) headsOf(p propose.Proposal) []string {
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

// skipReason returns why a proposal is not carried out; nil: it is.
func (o Observation) skipReason(p propose.Proposal) error {
	for _, head := range o.headsOf(p) {
		if err := o.failures.Skipped[head]; err != nil {
			return err
		}
	}
	return nil
}
