package observe

import (
	"context"
	"fmt"
	"maps"

	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/promotion/decide"
	"promoter/internal/reconcile/cache"
	"promoter/internal/repo"
)

// readFiles reads the references of every environment. The environments of a branch
// that is missing or cannot be read take no part in this reconciliation.
func readFiles(ctx context.Context, files repo.Files, o Observation, failures *repo.Collector) (Observation, error) {
	trees, targets := map[string]repo.Tree{}, map[promotion.Target]promotion.Current{}
	branches := o.Promotion.EnvironmentsByBranch()
	for branch, environments := range branches {
		tree, err := readTree(ctx, files, o, branch, environments, failures)
		if ctx.Err() != nil {
			return o, ctx.Err()
		}
		if err != nil {
			failures.Add("branch "+branch, err)
			for _, environment := range environments {
				failures.LoseEnvironment(environment, err.Error())
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
	o.Trees, o.Promotion.Targets = trees, targets
	return o.with(failures), nil
}

// reread reads the files of the targets that are decided about again from their commits.
func reread(ctx context.Context, files repo.Files, o Observation) (map[promotion.Target]promotion.Current, error) {
	targets, copied := o.Promotion.Targets, false
	for target, known := range o.Promotion.Selected() {
		current, err := files.Reread(ctx, o.Trees[target.Environment], target)
		if err != nil {
			return nil, fmt.Errorf("read the files of %s again: %w", target.Name(), err)
		}
		if cache.SameFiles(known, current) {
			continue
		}
		if !copied { // of many targets, and nearly never
			targets, copied = maps.Clone(targets), true
		}
		targets[target] = current
	}
	return targets, nil
}

// readRefusedEdits returns the targets with the refusals of what would be written now.
// Where the config distinguishes no applications, the plan then leaves out the components
// that these stop, and not all.
func readRefusedEdits(ctx context.Context, o Observation) (map[promotion.Target]promotion.Current, error) {
	if o.Promotion.Config.Captures() {
		return o.Promotion.Targets, nil
	}
	o.Promotion.Targets = maps.Clone(o.Promotion.Targets)
	for learned := true; learned; {
		learned = false
		decisions, err := decide.Plan(ctx, o.Promotion, o.Now)
		if err != nil {
			return nil, err
		}
		for _, d := range decisions {
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

func readTree(
	ctx context.Context, files repo.Files, o Observation, branch string, environments []string, failures *repo.Collector,
) (repo.Tree, error) {
	commit := o.Heads[branch]
	if err := failures.SkipReason(branch); err != nil {
		return nil, err
	}
	if commit == "" {
		return nil, fault.New(fault.NotFound,
			"the repository has no branch %s: create it, or correct branch in %s", branch, repo.ConfigFile)
	}
	tree, err := files.At(ctx, o.Promotion.Config, commit, environments)
	if err != nil {
		return nil, fmt.Errorf("read the files of %s: %w", branch, err)
	}
	return tree, nil
}
