package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"promoter/internal/promotion"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/state"
)

// lookAtRepository lists the branches, and stops where nothing can be done.
func (v *view) lookAtRepository(ctx context.Context) error {
	info := v.Repository.Info()
	switch {
	case info.Archived:
		v.report.Unusable = "the repository is archived: unarchive it, or take it from the list"
		return nil
	case !info.MayPush && !v.DryRun:
		v.report.Unusable = "the credential may not push to the repository: give it write access to contents"
		return nil
	}
	refs, err := v.Remote.Refs(ctx)
	if err != nil {
		return err // it says that the branches were listed
	}
	if refs.Default == "" {
		refs.Default = info.DefaultBranch
	}
	if v.refs = refs; refs.Branches[refs.Default] == "" {
		v.report.Unusable = "the repository has no default branch yet: push " + ConfigFile + " to it"
	}
	return nil
}

// lookAtPullRequests lists what is open, once per pass.
func (v *view) lookAtPullRequests(ctx context.Context) error {
	if v.observed.PushOnly {
		return nil
	}
	var err error
	if v.open, err = v.Repository.PullRequests().Open(ctx); err != nil {
		return fmt.Errorf("list the open pull requests: %w", err)
	}
	return nil
}

// lookAtBranches reads the config from the default branch and nothing else, then
// fetches what it names, the state, and the heads of our own pull requests.
func (v *view) lookAtBranches(ctx context.Context) error {
	heads, err := v.Remote.Fetch(ctx, v.refs.Default)
	if err != nil {
		return fmt.Errorf("fetch %s: %w", v.refs.Default, err)
	}
	v.heads = heads
	if err := v.readConfig(); err != nil || v.report.Unusable != "" {
		return err
	}
	wanted := v.wantedBranches()
	heads, err = v.Remote.Fetch(ctx, wanted...)
	if fault.KindOf(err) == fault.Invalid {
		return v.fetchEach(ctx, wanted)
	}
	if err != nil {
		return fmt.Errorf("fetch %s: %w", strings.Join(wanted, ", "), err)
	}
	maps.Copy(v.heads, heads)
	return nil
}

// fetchEach fetches one branch after the other, because one of them holds something
// that is over a limit. Whoever may push a branch must not stop the others with it;
// only without people's decisions nothing can be done.
func (v *view) fetchEach(ctx context.Context, wanted []string) error {
	for _, branch := range wanted {
		heads, err := v.Remote.Fetch(ctx, branch)
		if err != nil {
			err = fmt.Errorf("fetch %s: %w", branch, err)
		}
		if fault.KindOf(err) != fault.Invalid && err != nil || err != nil && branch == state.Branch {
			return err
		}
		maps.Copy(v.heads, heads)
		if err := v.aside(ctx, branch, err); err != nil {
			return err
		}
	}
	return nil
}

// readConfig loads the config as it is merged. What a pull request says about it
// counts only then.
func (v *view) readConfig() (err error) {
	v.observed.Config, v.report.Unusable, err = v.LoadConfig(v.heads[v.refs.Default], v.refs.Default)
	v.report.Config = v.observed.Config
	return err
}

// LoadConfig loads the config of a commit of the default branch. Where it cannot be
// used there is none, and a state that says why and what to do.
func (l *Reconciler) LoadConfig(commit, branch string) (loaded *config.Config, state string, err error) {
	data, err := l.Objects.Read(commit, ConfigFile, config.MaxSize)
	if fault.KindOf(err) == fault.NotFound {
		return nil, "there is no " + ConfigFile + " on " + branch + ": write one with 'promoter init'", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", ConfigFile, err)
	}
	loaded, problems := config.Load(ConfigFile, data)
	errs := problems.Errors()
	if len(errs) == 0 {
		return loaded, "", nil
	}
	state = "the config cannot be used: " + errs[0].String()
	if more := len(errs) - 1; more > 0 {
		state += fmt.Sprintf(" (and %d more: see 'promoter validate')", more)
	}
	return nil, state, nil
}

// branchOf returns the branch of an environment.
func (v *view) branchOf(environment config.Environment) string {
	if environment.Branch == "" {
		return v.refs.Default
	}
	return environment.Branch
}

// wantedBranches are those of the environments, our own heads, and the state.
func (v *view) wantedBranches() []string {
	wanted := map[string]bool{v.refs.Default: true}
	for _, environment := range v.observed.Config.Environments {
		if branch := v.branchOf(environment); v.refs.Branches[branch] != "" {
			wanted[branch] = true
		}
	}
	for branch := range v.refs.Branches {
		if _, ours := promotion.ParseHead(branch); ours || branch == state.Branch {
			wanted[branch] = true
		}
	}
	return slices.Sorted(maps.Keys(wanted))
}

// lookAtState reads what people decided. A state that cannot be read might forbid
// anything, so nothing is done without it.
func (v *view) lookAtState(context.Context) error {
	read, err := v.readState(v.heads[state.Branch])
	if err != nil {
		return err
	}
	v.observed.State = read
	v.tellState()
	for _, problem := range read.Problems() {
		v.trouble(state.Branch, fault.New(fault.Invalid, "%s", problem))
	}
	return nil
}

func (l *Reconciler) readState(commit string) (state.State, error) {
	if commit == "" {
		return state.State{}, nil
	}
	read, err := state.Read(l.Objects.All(commit))
	if err != nil {
		return state.State{}, fmt.Errorf("read %s: %w", state.Branch, err)
	}
	return read, nil
}

// lookAtFiles reads what the files of every environment say. A branch that is
// missing or cannot be read keeps its environments out of this pass.
func (v *view) lookAtFiles(ctx context.Context) error {
	v.trees = map[string]Tree{}
	v.observed.Unavailable = map[string]string{}
	v.observed.Targets = map[promotion.Target]promotion.Current{}
	for branch, environments := range v.byBranch() {
		tree, err := v.treeAt(ctx, branch, environments)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for _, environment := range environments {
			if err != nil {
				v.observed.Unavailable[environment] = err.Error()
			}
			v.trees[environment] = tree
		}
		if err != nil {
			v.trouble("branch "+branch, err)
			continue
		}
		maps.Copy(v.observed.Targets, tree.Targets())
	}
	return nil
}

func (v *view) treeAt(ctx context.Context, branch string, environments []string) (Tree, error) {
	commit := v.heads[branch]
	if err := v.unread[branch]; err != nil {
		return nil, err
	}
	if commit == "" {
		return nil, fault.New(fault.NotFound, "the repository has no branch %s: create it, or correct branch in %s", branch, ConfigFile)
	}
	tree, err := v.Files.At(ctx, v.observed.Config, commit, environments)
	if err != nil {
		return nil, fmt.Errorf("read the files of %s: %w", branch, err)
	}
	return tree, nil
}

// byBranch groups the environments, each in the order of the config.
func (v *view) byBranch() map[string][]string {
	grouped := map[string][]string{}
	for _, environment := range v.observed.Config.Environments {
		branch := v.branchOf(environment)
		grouped[branch] = append(grouped[branch], environment.Name)
	}
	return grouped
}
