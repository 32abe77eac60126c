package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"promoter/internal/config/setting"
	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/promotion/decide"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
	"promoter/internal/statebranch"
)

// observeRefs starts an Observation with the branches. It is unusable where nothing
// can be done.
func (r *Reconciler) observeRefs(ctx context.Context, start basis) (Observation, error) {
	o := Observation{
		Now: r.Now(), Info: r.Repository.Info(), Heads: map[string]string{}, Closed: map[string][]scm.PullRequest{},
		Statuses: map[string]scm.Check{}, failures: repo.NewFailures(start.last), Asked: r.asked,
	}
	o.Promotion.PushOnly = !r.Repository.Features().PullRequests
	o.Promotion.Limits = r.Limits
	o.Promotion.Unavailable = o.failures.Unavailable
	switch {
	case o.Info.Archived:
		o.Unusable = "the repository is archived: unarchive it, or remove it from the list"
		return o, nil
	case !o.Info.MayPush && !r.DryRun:
		o.Unusable = "the credential may not push to the repository: give it write access to contents"
		return o, nil
	}
	refs, err := r.listRefs(ctx, start)
	if err != nil {
		return o, err // the error names the listing
	}
	if refs.Default == "" {
		refs.Default = o.Info.DefaultBranch
	}
	o.Promotion.DefaultBranch = refs.Default
	if o.Refs = refs; refs.Branches[refs.Default] == "" {
		o.Unusable = "the repository has no default branch yet: push " + repo.ConfigFile + " to it"
	}
	return o, nil
}

// listRefs lists the branches, unless they are known.
func (r *Reconciler) listRefs(ctx context.Context, start basis) (repo.Refs, error) {
	if start.refs != nil {
		return *start.refs, nil
	}
	return r.Remote.Refs(ctx)
}

// observeBranches reads the config from the default branch alone, then fetches the
// branches that it names, the state branch, and the heads of our pull requests, and
// reads the state.
func (r *Reconciler) observeBranches(ctx context.Context, o Observation, start basis) (Observation, error) {
	var err error
	if o.Heads, err = r.Remote.Fetch(ctx, o.Refs.Default); err != nil {
		return o, fmt.Errorf("fetch %s: %w", o.Refs.Default, err)
	}
	loaded, err := start.loadConfig(r.Objects, o.Heads[o.Refs.Default], o.Refs.Default)
	if unusable := new(repo.UnusableError); errors.As(err, &unusable) {
		o.Unusable, o.brokenConfig, o.problems = unusable.Text, unusable.Broken, unusable.Problems
		return o, nil
	}
	if err != nil {
		return o, err
	}
	o.Promotion.Config, o.problems = loaded, loaded.Warnings()
	if o.Unusable = cmp.Or(impossibleLand(o.Promotion), impossibleHealth(o.Promotion, r.Repository)); o.Unusable != "" {
		return o, nil
	}
	heads, err := r.fetch(ctx, o)
	if err != nil {
		return o, err
	}
	maps.Copy(o.Heads, heads)

	// Without user decisions nothing may be done: they might forbid it.
	var landed []string
	for branch := range o.Promotion.EnvironmentsByBranch() {
		landed = append(landed, o.Heads[branch])
	}
	if o.Branch, err = r.StateBranch().Read(ctx, o.Heads[state.Branch], landed); err != nil {
		return o, err
	}
	if o.Branch.WithoutKey != nil && !r.DryRun { // who only reads needs no key: the files are nearly always what counts
		return o, o.Branch.WithoutKey
	}
	if o.Unusable = o.Branch.Lost; o.Unusable != "" {
		return o, nil
	}
	for _, problem := range o.Branch.Counts.Problems() {
		o.failures.Add(state.Branch, fault.New(fault.Invalid, "%s", problem))
	}
	if len(o.Branch.Ignored) > 0 {
		o.failures.Add(state.Branch, fault.New(fault.Invalid, "changes of users without a seal have no effect: %s", statebranch.IgnoredText(o.Branch.Ignored)))
	}
	if o.Branch.Restored != "" {
		o.failures.Add(state.Branch, fault.New(fault.Invalid, "%s", o.Branch.Restored))
	}
	o.Promotion.State = o.Branch.Counts
	if r.StateBranch().IsSealed() {
		return o, nil
	}
	return branchWatch{r}.restoreState(ctx, o)
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
	return strings.Join(refused, "; ") + ": this repository has no pull requests, because it is plain Git, or they are disabled: write land: push"
}

// fetch fetches the branches of the environments, our own heads, and the state.
func (r *Reconciler) fetch(ctx context.Context, o Observation) (map[string]string, error) {
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
	heads, err := r.Remote.Fetch(ctx, branches...)
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
		head, err := r.Remote.Fetch(ctx, branch)
		if err != nil {
			err = fmt.Errorf("fetch %s: %w", branch, err)
			if fault.KindOf(err) != fault.Invalid || branch == state.Branch {
				return nil, err
			}
		}
		maps.Copy(heads, head)
		if err := o.failures.SkipBranch(ctx, branch, err); err != nil {
			return nil, err
		}
	}
	return heads, nil
}

// observeFiles reads the references of every environment. The environments of a branch
// that is missing or cannot be read take no part in this reconciliation.
func observeFiles(ctx context.Context, files repo.Files, o Observation) (map[string]repo.Tree, map[promotion.Target]promotion.Current, error) {
	trees, targets := map[string]repo.Tree{}, map[promotion.Target]promotion.Current{}
	branches := o.Promotion.EnvironmentsByBranch()
	for branch, environments := range branches {
		tree, err := readTree(ctx, files, o, branch, environments)
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil {
			o.failures.Add("branch "+branch, err)
			for _, environment := range environments {
				o.failures.Unavailable[environment] = err.Error()
			}
			continue
		}
		for _, environment := range environments {
			trees[environment] = tree
		}
		if found := tree.Targets(); len(branches) == 1 {
			targets = found
		} else {
			maps.Copy(targets, found)
		}
	}
	return trees, targets, nil
}

// observeRefusedEdits returns the targets with the refusals of what would be written now.
// Where the config distinguishes no applications, the plan then leaves out the components
// that these stop, and not all.
func observeRefusedEdits(ctx context.Context, o Observation) (map[promotion.Target]promotion.Current, error) {
	if o.Promotion.Config.Captures() {
		return o.Promotion.Targets, nil
	}
	o.Promotion.Targets = maps.Clone(o.Promotion.Targets)
	for learned := true; learned; {
		learned = false
		for _, d := range decide.Plan(o.Promotion, o.Now) {
			tree := o.Trees[d.Environment]
			if d.State != promotion.Proposed || tree == nil {
				continue
			}
			rewritten, err := tree.Rewrite(ctx, d.Target, d.Moves)
			if err != nil {
				return nil, fmt.Errorf("rewrite %s: %w", d.Name(), err)
			}
			current := o.Promotion.Targets[d.Target]
			known := len(current.Refusals)
			current.Refusals = edit.Union(current.Refusals, rewritten.Refusals)
			o.Promotion.Targets[d.Target] = current
			learned = learned || len(current.Refusals) > known
		}
	}
	return o.Promotion.Targets, nil
}

func readTree(ctx context.Context, files repo.Files, o Observation, branch string, environments []string) (repo.Tree, error) {
	commit := o.Heads[branch]
	if err := o.failures.Skipped[branch]; err != nil {
		return nil, err
	}
	if commit == "" {
		return nil, fault.New(fault.NotFound, "the repository has no branch %s: create it, or correct branch in %s", branch, repo.ConfigFile)
	}
	tree, err := files.At(ctx, o.Promotion.Config, commit, environments)
	if err != nil {
		return nil, fmt.Errorf("read the files of %s: %w", branch, err)
	}
	return tree, nil
}
