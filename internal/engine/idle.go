package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"sync/atomic"

	"promoter/internal/drift"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/decide"
)

// A run that has nothing to do leaves what it read and decided. Where the next one, which may be in another
// process, reads the same, it has nothing to do either, and ends before it reads files and decides.
// Commits name their files and what users decided, so that only registries have to be asked again. Where a
// decision depends on anything else, nothing is left: see idleOf.

// IdleRun is what a reconciliation read and reported that had nothing to do. It is written as JSON.
type IdleRun struct {
	Default  string            `json:"default"` // branch
	PushOnly bool              `json:"pushOnly"`
	Heads    map[string]string `json:"heads"` // the fetched branches
	Images   []idleImage       `json:"images"`
	Lookups  []idleLookup      `json:"lookups,omitempty"`

	// The decisions. Those about an application are often the same in all environments, so that
	// each is written once.
	Outcomes []promotion.Decision `json:"outcomes"` // without targets
	Targets  []idleTarget         `json:"targets"`
	Drift    []drift.Drift        `json:"drift,omitempty"`
}

// idleImage is a followed image, and the answer to the request for its version.
type idleImage struct {
	Name       string           `json:"name"`      // of the component where a pattern matched it
	Component  string           `json:"component"` // in the config
	Repository image.Repository `json:"repository"`
	Answer     string           `json:"answer,omitempty"` // see answerOf; empty: none was sent
	// List is the fingerprint of the tags from which a version was selected that nothing holds back. While it
	// is the same, only a tag that was pushed again may have another answer.
	List string `json:"list,omitempty"`
}

// idleLookup is a lookup of the planner, and its answer.
type idleLookup struct {
	Repository image.Repository `json:"repository"`
	Tag        string           `json:"tag,omitempty"`
	Digest     string           `json:"digest,omitempty"`
	Component  string           `json:"component"`
	Created    bool             `json:"created,omitempty"`
	Answer     string           `json:"answer"`
}

// idleTarget is a target, and the index of its outcome.
type idleTarget struct {
	Environment string `json:"e"`
	Application string `json:"a"`
	Outcome     int    `json:"o"`
}

// IdleRuns keeps the last IdleRun of a repository.
type IdleRuns interface {
	// Load returns what Keep got last. Nil: nothing is kept, or it is too old to be used.
	Load() *IdleRun
	Keep(*IdleRun)
}

// answerOf identifies an answer.
func answerOf(answer any) string {
	text, err := json.Marshal(answer)
	if err != nil {
		return "" // which no answer has
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

// idleOf returns what a reconciliation leaves that had nothing to do. Nil: something was done or failed, or
// a decision depends on more than commits and registries. The cycles before it in the same
// reconciliation, of which it kept decisions, asked registries too.
func (o Observation) idleOf(plan Plan, report Report, asked []promotion.Observation) *IdleRun {
	switch {
	case report.Failed(), o.Asked != nil, o.Refreshed, len(o.failures.Skipped) > 0, len(o.failures.Unavailable) > 0,
		len(report.Effects) > 0, len(o.Changes) > 0, len(plan.volatile) > 0, // something was done, or may be at any time
		len(o.Open) > 0, len(ourBranches(o)) > 0, !o.CommandsAt.IsZero(), len(o.Reports) > 0, len(o.Promotion.Explicit) > 0, len(o.Promotion.Bypasses) > 0:
		return nil
	}
	idle := &IdleRun{Default: o.Promotion.DefaultBranch, PushOnly: o.Promotion.PushOnly, Heads: o.Heads, Drift: report.Drift}
	all, available, facts := o.Promotion, map[string]promotion.Available{}, promotion.Facts{}
	all.Applications = nil
	for _, cycle := range asked {
		maps.Copy(available, cycle.Available)
		maps.Copy(facts, cycle.Facts)
	}
	for _, f := range promotion.FollowedIn(all.Config, all.Selected(), promotion.Everywhere) {
		one := idleImage{Name: f.Name, Component: f.Component.Name, Repository: f.Repository}
		if answer, known := available[f.Name]; known {
			one.Answer = answerOf(answer)
			if answer.Found && len(answer.Held) == 0 {
				one.List = answer.List
			}
		}
		idle.Images = append(idle.Images, one)
	}
	for _, of := range []map[string][]promotion.Lookup{decide.LookupsOf(all), decide.MirrorLookupsOf(all)} {
		for _, lookup := range decide.Merged(of) {
			answer, known := facts[lookup.Fact]
			if lookup.Release != "" || !known { // a forge answers it, or it was not asked
				return nil
			}
			idle.Lookups = append(idle.Lookups, idleLookup{
				Repository: lookup.Repository, Tag: lookup.Tag, Digest: lookup.Digest, Component: lookup.Component, Created: lookup.Created,
				Answer: answerOf(lookup.Only(answer)),
			})
		}
	}
	known := map[string]int{}
	for _, d := range report.Decisions {
		target := d.Target
		d.Target = promotion.Target{}
		id := answerOf(d)
		at, found := known[id]
		if !found {
			at, known[id] = len(idle.Outcomes), len(idle.Outcomes)
			idle.Outcomes = append(idle.Outcomes, d)
		}
		idle.Targets = append(idle.Targets, idleTarget{target.Environment, target.Application, at})
	}
	return idle
}

// decisions returns the decisions in their order.
func (r *IdleRun) decisions() []promotion.Decision {
	all := make([]promotion.Decision, 0, len(r.Targets))
	for _, t := range r.Targets {
		if t.Outcome < 0 || t.Outcome >= len(r.Outcomes) {
			return nil
		}
		d := r.Outcomes[t.Outcome]
		d.Target = promotion.Target{Environment: t.Environment, Application: t.Application}
		all = append(all, d)
	}
	return all
}

// staysIdle returns the IdleRun of the last reconciliation, if this one read the same until now, and
// registries and comments still say the same. Nil: it goes on.
func (r *Reconciler) staysIdle(ctx context.Context, o Observation) (*IdleRun, error) {
	if r.IdleRuns == nil || r.DryRun || o.Asked != nil || len(o.Open) > 0 || len(o.Changes) > 0 || len(o.failures.Errors) > 0 || len(o.failures.Skipped) > 0 {
		return nil, nil
	}
	idle := r.IdleRuns.Load()
	if idle == nil || idle.Default != o.Promotion.DefaultBranch || idle.PushOnly != o.Promotion.PushOnly || !maps.Equal(idle.Heads, o.Heads) || len(ourBranches(o)) > 0 {
		return nil, nil
	}
	if !r.answersSame(ctx, o, idle, true) {
		return nil, ctx.Err()
	}
	// Comments are read again where one has a command: what this finds is no failure of this
	// reconciliation.
	quiet := o.clone()
	commands, err := r.commentReader(r.historyReader(o.Promotion.Config)).Read(ctx, quiet.commented(), quiet.failures)
	if err != nil {
		return nil, err
	}
	if len(commands.Changes) > 0 || commands.Refreshed || !commands.Next.IsZero() || len(quiet.failures.Errors) > 0 {
		return nil, nil
	}
	return idle, nil
}

// answersSame asks registries again, and reports whether all answers are those of an IdleRun. The same list of tags
// may be enough.
func (r *Reconciler) answersSame(ctx context.Context, o Observation, idle *IdleRun, listSuffices bool) bool {
	var followed []promotion.Followed
	for _, one := range idle.Images {
		component, known := o.Promotion.Config.Component(one.Component)
		if !known {
			return false
		}
		followed = append(followed, promotion.Followed{Name: one.Name, Repository: one.Repository, Component: component})
	}
	verify := promotion.Verifications(followed, r.Verify)
	var questions []func() bool
	for i, f := range followed {
		want := idle.Images[i]
		if want.Answer == "" {
			continue
		}
		if !listSuffices {
			want.List = ""
		}
		questions = append(questions, func() bool {
			available := r.Registries.Select(ctx, VersionRequest{
				Component: f.Component, Name: f.Name, Repository: f.Repository, Policy: o.Promotion.Config.Policy(f.Component.Name),
				FirstSeen: firstSeen(o.Promotion.State, f.Name), Verify: verify[f.Name],
				List: true, Listed: want.List,
			})
			sameList := available.List != "" && available.List == want.List
			return available.Err == nil && (sameList || answerOf(available) == want.Answer)
		})
	}
	for _, one := range idle.Lookups {
		lookup := promotion.Lookup{
			Fact: promotion.Fact{Repository: one.Repository, Tag: one.Tag, Digest: one.Digest}, Component: one.Component, Created: one.Created, Verify: verify[one.Component],
		}
		questions = append(questions, func() bool {
			version, err := r.Registries.Resolve(ctx, lookup)
			return err == nil && answerOf(lookup.Only(version)) == one.Answer
		})
	}
	var differ atomic.Bool
	asked := counted(r.Progress, "querying registries", len(questions))
	concurrently(questions, func(same func() bool) {
		if !differ.Load() && !same() {
			differ.Store(true)
		}
		asked()
	})
	return !differ.Load()
}

// compareIdle compares what an IdleRun says with the plan of a full reconciliation, which is carried out.
// Registries may have changed an answer in between, and tags that were pushed again are no difference.
func (r *Reconciler) compareIdle(ctx context.Context, o Observation, plan Plan) {
	different := differences(o.idle.decisions(), plan.Decisions)
	if different != "" && len(o.failures.Errors) == 0 && r.answersSame(ctx, o, o.idle, false) {
		o.differs(different)
	}
}

// idleReport is the report of a reconciliation that ended at an IdleRun. It does not list what files refuse, and
// which of their references no component follows.
func (o Observation) idleReport(idle *IdleRun) Report {
	report := o.report()
	report.Decisions, report.Drift = idle.decisions(), idle.Drift
	report.Default, report.Heads = o.Refs.Default, o.Heads
	report.UserDecisions = append(report.UserDecisions, o.Promotion.State)
	return report
}
