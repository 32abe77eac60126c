// Package observe reads everything that a reconciliation decides from: branches, files, and trailers from Git,
// user decisions from promoter/_state, versions from registries, pull requests, comments, and checks from the
// forge, and what sources report about health. It writes nothing to the repository.
//
// Observe is the whole story, in the order in which one answer leads to the next question; each chapter is
// a file. A part that cannot be read is a failure in the Observation, and keeps what depends on it out of
// the plan.
package observe

import (
	"context"
	"slices"

	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// Observe reads a repository. It may be unusable, with the reason.
func (r Reader) Observe(ctx context.Context, start Start) (Observation, error) {
	failures := repo.Collect(repo.Failures{}, start.LastAttempt)
	o, err := r.observe(ctx, start, failures)
	return o.with(failures), err
}

func (r Reader) observe(ctx context.Context, start Start, failures *repo.Collector) (Observation, error) {
	// The repository: branches, open pull requests, config, fetched commits.
	o, err := r.readBranches(ctx, start, failures)
	if err != nil || o.Unusable != "" {
		return o, err
	}
	o.Promotion.State, _ = o.Promotion.State.Apply(start.Assumed...)
	history := r.Clients.History(o.Promotion.Config)

	// What exists: references in files.
	o, err = readFiles(ctx, r.Clients.Files, o, failures)
	if err != nil {
		return o, err
	}
	if o, err = rejectMovedBack(ctx, r.Clients, history, o, failures); err != nil {
		return o, err
	}
	if o, err = endOverruled(ctx, r.Clients, history, o, failures); err != nil {
		return o, err
	}
	if o, err = withRenamed(ctx, r.Clients, o.with(failures)); err != nil {
		return o, err
	}

	// What has to be decided about: the applications that something touched, if the rest is in the cache. From
	// here on, what those need is read.
	o = o.with(failures).touched(start, history)
	if o, err = r.readVersions(ctx, o, failures); err != nil {
		return o, err
	}

	// What users and checks say: on our pull requests, in comments, by reverts and by
	// closing pull requests.
	if o.Promotion.Open, err = r.readPullRequests(ctx, o, failures); err != nil {
		return o, err
	}
	if o, err = r.readComments(ctx, o, history, failures); err != nil {
		return o, err
	}
	if o, err = r.readReports(ctx, o); err != nil {
		return o, err
	}
	if o, err = readHistory(ctx, o, history, failures); err != nil {
		return o, err
	}
	if o, err = recordFailures(ctx, history, o, failures); err != nil {
		return o, err
	}
	if len(o.Attempts)+len(o.Promotion.Open) > 0 { // earlier snapshots, and what is open, lead to lookups of their own
		if o, err = r.withFacts(ctx, o, failures); err != nil {
			return o, err
		}
	}
	o.Promotion.Bypasses = r.ReadBypasses(ctx, o.Promotion, failures)
	if ctx.Err() != nil {
		return o, ctx.Err()
	}
	if o.Promotion.Targets, err = readRefusedEdits(ctx, o); err != nil {
		return o, err
	}
	if o, err = r.readUserDecisions(ctx, o, history, failures); err != nil {
		return o, err
	}
	return o.WithChanges(located(o.Promotion, o.Heads, state.State{})...), nil
}

// touched returns the observation with the applications to decide about: those that something
// touched since the entry of the cache. Without one, or if too much has changed, it is about all of
// them.
func (o Observation) touched(start Start, history landing.Reader) Observation {
	if start.Entry == nil || o.Failures.Any() {
		return o
	}
	written := func(branch, known string) ([]promotion.Target, bool) {
		return history.Written(o.Landed(), branch, known, maxNewCommits)
	}
	if touched, partial := start.Entry.Touched(o.Read(), start.Changed, written); partial {
		o.Entry, o.Promotion.Applications = start.Entry, touched
	}
	return o
}

// maxNewCommits is how many new commits of a branch are compared with their parents.
const maxNewCommits = 200

// readComments reads the commands in comments. Those may be about any target.
func (r Reader) readComments(ctx context.Context, o Observation, history landing.Reader, failures *repo.Collector) (Observation, error) {
	if r.Users.Permissions == nil {
		return o, nil
	}
	commands, err := r.Clients.Comments(r.Users, history).Read(ctx, o.Commented(), failures)
	o = o.withCommands(commands)
	if err != nil {
		return o, err
	}
	if o.Entry == nil || len(commands.Changes) == 0 && !commands.Refreshed {
		return o, nil
	}
	o.Entry, o.Promotion.Applications = nil, nil
	return r.readVersions(ctx, o, failures)
}

// readHistory reads what landed.
func readHistory(ctx context.Context, o Observation, history landing.Reader, failures *repo.Collector) (Observation, error) {
	landed, err := history.Read(ctx, o.Landed(), failures)
	if err != nil {
		return o, err
	}
	if o.Attempts = landed.Attempts; o.Entry != nil {
		o.Attempts = o.Entry.Attempts(landed.Attempts, o.Promotion.Applications)
	}
	o.Promotion.Landings, o.Promotion.Reverted = landed.Landings, landed.Reverted
	o.Promotion.Falsified, o.Promotion.Restored = landed.Falsified, landed.Restored
	o.Health = landed.Health
	o = o.WithChanges(landed.Changes...)
	o.learned = len(o.Changes)
	return o.with(failures), nil
}

// Reread observes the applications that a plan writes a second time: their files as they are in the commits,
// the user decisions, the versions in registries, and the history, without anything that the cache had. Pull requests and
// reports about health stay as they were read. It is about the same commits and the same time.
func (r Reader) Reread(ctx context.Context, o Observation, applications map[string]bool) (promotion.Observation, error) {
	failures := repo.Collect(o.Failures, true)
	again := o.Clone()
	again.Entry = nil
	again.Promotion.Applications = applications
	history := r.Clients.History(again.Promotion.Config)
	var err error
	if again.Promotion.Targets, err = reread(ctx, r.Clients.Files, again); err != nil {
		return again.Promotion, err
	}
	branch, err := r.Clients.StateBranch().Read(ctx, o.Heads[state.Branch], o.landedHeads())
	if err != nil {
		return again.Promotion, err
	}
	// The history asks the forge for the times that are not recorded: those that it learned are left out, so it learns
	// them again. An observation with other changes before, except that users overruled something, has no Entry, and is
	// not read again.
	again.Promotion.State = branch.Counts
	if again, err = withRenamed(ctx, r.Clients, again); err != nil {
		return again.Promotion, err
	}
	changes := slices.Concat(o.Changes[:o.overruled], o.Changes[o.learned:])
	again.Promotion.State, _ = again.Promotion.State.Apply(changes...) // see WithChanges
	if again, err = readHistory(ctx, again, history, failures); err != nil {
		return again.Promotion, err
	}
	for target, reverted := range o.reverted {
		again = again.withReverted(target, reverted)
	}
	again.Promotion.Facts, again.Promotion.FactsOf = nil, nil
	if again, err = r.readVersions(ctx, again, failures); err != nil {
		return again.Promotion, err
	}
	if again, err = r.withFacts(ctx, again, failures); err != nil { // facts lead to further lookups, as in the first reading
		return again.Promotion, err
	}
	again.Promotion.Bypasses = r.ReadBypasses(ctx, again.Promotion, failures)
	if ctx.Err() != nil {
		return again.Promotion, ctx.Err()
	}
	again.Promotion.Targets, err = readRefusedEdits(ctx, again)
	return again.Promotion, err
}
