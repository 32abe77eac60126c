package observe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"promoter/internal/config/setting"
	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
	"promoter/internal/statebranch"
)

// readBranches reads the branches and the open pull requests, then the config, the fetched commits, and the state.
func (r Reader) readBranches(ctx context.Context, start Start, failures *repo.Collector) (Observation, error) {
	o, err := r.readRefs(ctx, start)
	if err != nil || o.Unusable != "" {
		return o, err
	}
	if !o.Promotion.PushOnly {
		o.Open, err = r.Clients.Forge.PullRequests().Open(ctx)
		if err != nil {
			return o, fmt.Errorf("list the open pull requests: %w", err)
		}
	}
	return r.readConfig(ctx, o, start, failures)
}

// Branches observes the branches, the config, and the state alone, and returns the observation.
func (r Reader) Branches(ctx context.Context) (Observation, error) {
	start, failures := Start{LastAttempt: true}, repo.Collect(repo.Failures{}, true)
	o, err := r.readRefs(ctx, start)
	if err == nil && o.Unusable == "" {
		o, err = r.readConfig(ctx, o, start, failures)
	}
	return o.with(failures), err
}

// readRefs starts an Observation with the branches. It is unusable where nothing can be done.
func (r Reader) readRefs(ctx context.Context, start Start) (Observation, error) {
	o := Observation{
		Now: r.Clients.Now(), Info: r.Clients.Forge.Info(),
		Heads: map[string]string{}, Closed: map[string][]scm.PullRequest{}, Statuses: map[string]scm.Check{},
		Explained: start.Explained,
	}
	o.Promotion.PushOnly = !r.Clients.Forge.Features().PullRequests
	o.Promotion.Limits = r.Server.Limits
	switch {
	case o.Info.Archived:
		o.Unusable = "the repository is archived: unarchive it, or remove it from the list"
		return o, nil
	case !o.Info.MayPush && !r.Clients.ReadOnly:
		o.Unusable = "the credential may not push to the repository: give it write access to contents"
		return o, nil
	}
	refs, err := r.Clients.Remote.Refs(ctx)
	if err != nil {
		return o, err // the error names the listing
	}
	if refs.Default == "" {
		refs.Default = o.Info.DefaultBranch
	}
	o.Refs, o.Promotion.DefaultBranch = refs, refs.Default
	if refs.Branches[refs.Default] == "" {
		o.Unusable = "the repository has no default branch yet: push " + repo.ConfigFile + " to it"
	}
	return o, nil
}

// readConfig reads the config from the default branch alone, then fetches the branches that it names, the state
// branch, and the heads of our pull requests, and reads the state.
func (r Reader) readConfig(ctx context.Context, o Observation, start Start, failures *repo.Collector) (Observation, error) {
	var err error
	o.Heads, err = r.Clients.Remote.Fetch(ctx, o.Refs.Default)
	if err != nil {
		return o, fmt.Errorf("fetch %s: %w", o.Refs.Default, err)
	}
	loaded, err := start.Entry.Config(r.Clients.Objects, o.Heads[o.Refs.Default], o.Refs.Default)
	if unusable := new(repo.UnusableError); errors.As(err, &unusable) {
		o.Unusable, o.BrokenConfig = unusable.Text, unusable.Broken
		o.Problems = unusable.Problems
		return o, nil
	}
	if err != nil {
		return o, err
	}
	o.Promotion.Config, o.Problems = loaded, loaded.Warnings()
	o.Unusable = impossibleLand(o.Promotion)
	if o.Unusable == "" {
		o.Unusable = impossibleHealth(o.Promotion, r.Clients.Forge)
	}
	if o.Unusable != "" {
		return o, nil
	}
	heads, err := r.fetch(ctx, o, failures)
	if err != nil {
		return o, err
	}
	maps.Copy(o.Heads, heads)
	return r.readState(ctx, o, failures)
}

// readState reads the state branch. Without user decisions nothing may be done: they might forbid it.
func (r Reader) readState(ctx context.Context, o Observation, failures *repo.Collector) (Observation, error) {
	states := r.Clients.StateBranch()
	var err error
	o.Branch, err = states.Read(ctx, o.Heads[state.Branch], o.landedHeads())
	if err != nil {
		return o, err
	}
	if o.Branch.WithoutKey != nil && !r.Clients.ReadOnly { // the files are nearly always what counts
		return o, o.Branch.WithoutKey
	}
	o.Unusable = o.Branch.Lost
	if o.Unusable != "" {
		return o, nil
	}
	for _, problem := range o.Branch.Counts.Problems() {
		failures.Add(state.Branch, fault.New(fault.Invalid, "%s", problem))
	}
	if len(o.Branch.Ignored) > 0 {
		failures.Add(state.Branch, fault.New(fault.Invalid,
			"changes of users without a seal have no effect: %s", statebranch.IgnoredText(o.Branch.Ignored)))
	}
	if o.Branch.Restored != "" {
		failures.Incident(state.Branch, fault.New(fault.Invalid, "%s", o.Branch.Restored))
	}
	o.Promotion.State = o.Branch.Counts
	if states.IsSealed() {
		return o, nil
	}
	return restoreState(ctx, r.Clients, o, failures)
}

// impossibleLand returns why no environment is reconciled although only some of them cannot
// land: a part of what a config asks for must not be pushed before the rest is known to be
// impossible. Empty: all can land.
func impossibleLand(o promotion.Observation) string {
	var refused []string
	for _, environment := range o.Config.Environments {
		settings := o.Settings(environment.Name, "")
		if o.PushOnly && settings.Land != setting.LandPush && settings.Propose != setting.ProposeNever {
			refused = append(refused, fmt.Sprintf("%s: land of %s is %s", environment.Position, environment.Name, settings.Land))
		}
	}
	if len(refused) == 0 {
		return ""
	}
	return strings.Join(refused, "; ") +
		": this repository has no pull requests, because it is plain Git, or they are disabled: write land: push"
}

// fetch fetches the branches of the environments, our own heads, and the state.
func (r Reader) fetch(ctx context.Context, o Observation, failures *repo.Collector) (map[string]string, error) {
	wanted := map[string]bool{o.Refs.Default: true}
	for branch := range o.Promotion.EnvironmentsByBranch() {
		if o.Refs.Branches[branch] != "" {
			wanted[branch] = true
		}
	}
	for branch := range o.Refs.Branches {
		if _, ours := promotion.ParseHead(branch); ours || branch == state.Branch {
			wanted[branch] = true
		}
	}
	branches := slices.Sorted(maps.Keys(wanted))
	heads, err := r.Clients.Remote.Fetch(ctx, branches...)
	switch {
	case err == nil:
		return heads, nil
	case fault.KindOf(err) != fault.Invalid:
		return nil, fmt.Errorf("fetch %s: %w", strings.Join(branches, ", "), err)
	}
	// One of them contains something over a limit. A user who may push one branch must
	// not stop the others with it, so each is fetched alone. The state is required.
	heads = map[string]string{}
	for _, branch := range branches {
		head, err := r.Clients.Remote.Fetch(ctx, branch)
		if err != nil {
			err = fmt.Errorf("fetch %s: %w", branch, err)
			if fault.KindOf(err) != fault.Invalid || branch == state.Branch {
				return nil, err
			}
		}
		maps.Copy(heads, head)
		if err := failures.SkipBranch(ctx, branch, err); err != nil {
			return nil, err
		}
	}
	return heads, nil
}
