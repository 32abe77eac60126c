package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
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

	// The decisions. Most say the same, and those about an application are often about the same
	// versions in all environments, so that each is written once.
	Outcomes     []promotion.Decision `json:"outcomes"` // without targets and snapshots
	Snapshots    [][]idleVersion      `json:"snapshots"`
	Environments []idleEnvironment    `json:"environments"`
	Drift        []drift.Drift        `json:"drift,omitempty"`
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

// idleVersion is a component of a snapshot.
type idleVersion struct {
	Component  string           `json:"c"`
	Repository image.Repository `json:"r"`
	Tag        string           `json:"t,omitempty"`
	Digest     string           `json:"d,omitempty"`
	Version    *image.Version   `json:"v,omitempty"` // if it has more than these
}

// idleEnvironment is the decisions of an environment, by application. What is not written is as in
// the environment before it.
type idleEnvironment struct {
	Name         string   `json:"name"`
	Applications []string `json:"applications,omitempty"`
	Outcomes     []int    `json:"outcomes,omitempty"`  // indexes
	Snapshots    []int    `json:"snapshots,omitempty"` // indexes
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
	idle.keep(report.Decisions)
	return idle
}

// keep keeps the decisions.
func (r *IdleRun) keep(all []promotion.Decision) {
	outcomes, snapshots := map[string]int{}, map[string]int{}
	for i, d := range all {
		if i == 0 || d.Environment != all[i-1].Environment {
			r.Environments = append(r.Environments, idleEnvironment{Name: d.Environment})
		}
		of := &r.Environments[len(r.Environments)-1]
		of.Applications = append(of.Applications, d.Application)

		versions := idleVersions(d.Snapshot)
		id := answerOf(versions)
		if _, known := snapshots[id]; !known {
			snapshots[id] = len(r.Snapshots)
			r.Snapshots = append(r.Snapshots, versions)
		}
		of.Snapshots = append(of.Snapshots, snapshots[id])

		d.Target, d.Snapshot = promotion.Target{}, nil
		id = answerOf(d)
		if _, known := outcomes[id]; !known {
			outcomes[id] = len(r.Outcomes)
			r.Outcomes = append(r.Outcomes, d)
		}
		of.Outcomes = append(of.Outcomes, outcomes[id])
	}
	for i := len(r.Environments) - 1; i > 0; i-- {
		of, before := &r.Environments[i], r.Environments[i-1]
		if !slices.Equal(of.Applications, before.Applications) {
			continue
		}
		of.Applications = nil
		if slices.Equal(of.Outcomes, before.Outcomes) {
			of.Outcomes = nil
		}
		if slices.Equal(of.Snapshots, before.Snapshots) {
			of.Snapshots = nil
		}
	}
}

func idleVersions(snapshot promotion.Snapshot) []idleVersion {
	if snapshot == nil {
		return nil
	}
	all := make([]idleVersion, 0, len(snapshot))
	for _, component := range slices.Sorted(maps.Keys(snapshot)) {
		pinned := snapshot[component]
		one := idleVersion{Component: component, Repository: pinned.Repository, Tag: pinned.Version.Tag, Digest: pinned.Version.Digest}
		if !reflect.DeepEqual(pinned.Version, image.Version{Tag: one.Tag, Digest: one.Digest}) {
			one.Version = &pinned.Version
		}
		all = append(all, one)
	}
	return all
}

// decisions returns the decisions in their order; nil if they are not complete.
func (r *IdleRun) decisions() []promotion.Decision {
	snapshots := make([]promotion.Snapshot, len(r.Snapshots))
	for i, versions := range r.Snapshots {
		snapshots[i] = snapshotOf(versions)
	}
	environments, number := slices.Clone(r.Environments), 0
	for i := range environments {
		of := &environments[i]
		if of.Applications == nil && i > 0 {
			before := environments[i-1]
			of.Applications = before.Applications
			if of.Outcomes == nil {
				of.Outcomes = before.Outcomes
			}
			if of.Snapshots == nil {
				of.Snapshots = before.Snapshots
			}
		}
		number += len(of.Applications)
	}
	all := make([]promotion.Decision, 0, number)
	for _, of := range environments {
		if len(of.Outcomes) != len(of.Applications) || len(of.Snapshots) != len(of.Applications) {
			return nil
		}
		for i, application := range of.Applications {
			outcome, snapshot := of.Outcomes[i], of.Snapshots[i]
			if outcome < 0 || outcome >= len(r.Outcomes) || snapshot < 0 || snapshot >= len(snapshots) {
				return nil
			}
			d := r.Outcomes[outcome]
			d.Target = promotion.Target{Environment: of.Name, Application: application}
			d.Snapshot = snapshots[snapshot]
			all = append(all, d)
		}
	}
	return all
}

func snapshotOf(versions []idleVersion) promotion.Snapshot {
	if versions == nil {
		return nil
	}
	snapshot := make(promotion.Snapshot, len(versions))
	for _, one := range versions {
		version := image.Version{Tag: one.Tag, Digest: one.Digest}
		if one.Version != nil {
			version = *one.Version
		}
		snapshot[one.Component] = promotion.Pinned{Repository: one.Repository, Version: version}
	}
	return snapshot
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
	followed := make([]promotion.Followed, 0, len(idle.Images))
	for _, one := range idle.Images {
		component, known := o.Promotion.Config.Component(one.Component)
		if !known {
			return false
		}
		followed = append(followed, promotion.Followed{Name: one.Name, Repository: one.Repository, Component: component})
	}
	verify := promotion.Verifications(followed, r.Verify)
	questions := make([]func() bool, 0, len(followed)+len(idle.Lookups))
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
