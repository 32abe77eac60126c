package observe

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// withRenamed returns the observation in which decisions also stop what they were about under another name.
func withRenamed(ctx context.Context, c Clients, o Observation) (Observation, error) {
	m, err := renamed(ctx, c, o.Promotion, o.Heads, o.Now)
	o.Promotion.State = o.Promotion.State.WithRenamed(m)
	return o, err
}

func renamed(ctx context.Context, c Clients, o promotion.Observation, heads map[string]string, now time.Time) (state.Renamed, error) {
	past := earlierHeads{ctx: ctx, c: c, o: o, heads: heads, commits: map[string]bool{}, changed: map[string]map[string]bool{}}
	found := promotion.Renamed(o, now, func(stop state.Stop) (promotion.Earlier, bool) {
		if stop.Act.Location == nil {
			return nil, false
		}
		return past.at(*stop.Act.Location, stop.Act.At)
	})
	return found, ctx.Err()
}

// located returns the changes that record where the targets of decisions are that have no location, unless a state
// before has them.
func located(o promotion.Observation, heads map[string]string, before state.State) []state.Change {
	var changes []state.Change
	unlocated := state.Unlocated(o.State, before)
	locations := promotion.Locations(o, unlocated, heads)
	for _, of := range unlocated {
		if location, exists := locations[of]; exists {
			changes = append(changes, state.Locate(of, location, before))
		}
	}
	return changes
}

// Located reads the files of a repository, and returns the state in which decisions also stop what they were about
// under another name.
func (c Clients) Located(ctx context.Context, s state.State) (state.State, error) {
	o, heads, err := c.readTargets(ctx)
	if err != nil {
		return s, err
	}
	o.State = s
	m, err := renamed(ctx, c, o, heads, c.Now())
	return s.WithRenamed(m), err
}

// locate returns the changes that record where the targets of new decisions are, and what ends of rejections saw. Where
// targets are that cannot be read now is recorded by the next reconciliation: a decision that stops something waits for
// nothing.
func (c Clients) locate(ctx context.Context, before, after state.State) []state.Change {
	allowed := state.Unrejected(after, before)
	if len(state.Unlocated(after, before))+len(allowed) == 0 {
		return nil
	}
	o, heads, err := c.readTargets(ctx)
	if err != nil {
		return nil
	}
	o.State = after
	changes := located(o, heads, before)
	for _, of := range allowed {
		changes = append(changes, state.Saw(of, promotion.Saw(o, heads, of.Environment), before))
	}
	return changes
}

// readTargets reads the config and the files of all branches. A branch that cannot be read is not available.
func (c Clients) readTargets(ctx context.Context) (o promotion.Observation, heads map[string]string, err error) {
	refs, err := c.Remote.Refs(ctx)
	if err != nil {
		return o, nil, err
	}
	o.DefaultBranch = cmp.Or(refs.Default, c.Forge.Info().DefaultBranch)
	if heads, err = c.Remote.Fetch(ctx, o.DefaultBranch); err != nil {
		return o, nil, err
	}
	if o.Config, err = repo.LoadConfig(c.Objects, heads[o.DefaultBranch], o.DefaultBranch, nil); err != nil {
		return o, nil, err
	}
	o.Targets, o.Unavailable = map[promotion.Target]promotion.Current{}, map[string]string{}
	for branch, environments := range o.EnvironmentsByBranch() {
		fetched, err := c.Remote.Fetch(ctx, branch)
		if err == nil && fetched[branch] == "" {
			err = fault.New(fault.NotFound, "there is no branch %s", branch)
		}
		maps.Copy(heads, fetched)
		var tree repo.Tree
		if err == nil {
			tree, err = c.Files.At(ctx, o.Config, heads[branch], environments)
		}
		if ctx.Err() != nil {
			return o, nil, ctx.Err()
		}
		if err == nil {
			maps.Copy(o.Targets, tree.Targets())
			continue
		}
		for _, environment := range environments {
			o.Unavailable[environment] = err.Error()
		}
	}
	return o, heads, nil
}

// maxEarlier is how many commits are compared for decisions whose files are gone. Of further ones, it is not known what
// was there.
const maxEarlier = 100

// earlierHeads reads what a repository had at the heads that decisions recorded.
type earlierHeads struct {
	ctx     context.Context //nolint:containedctx // of one call of renamed
	c       Clients
	o       promotion.Observation
	heads   map[string]string          // now, by name
	commits map[string]bool            // whether each can be read
	changed map[string]map[string]bool // by commits, the files that differ
}

// at returns what the repository had at the heads of a location; false: they cannot be read.
func (p earlierHeads) at(location state.Location, since time.Time) (promotion.Earlier, bool) {
	past := earlier{then: location.Heads, changed: map[string]map[string]bool{}, had: func(commit, file string) bool {
		_, err := p.c.Objects.Read(commit, file, 0)
		return err == nil || fault.KindOf(err) == fault.Invalid // it is larger than nothing
	}}
	for branch, commit := range location.Heads {
		name := cmp.Or(branch, p.o.DefaultBranch)
		now := p.heads[name]
		if now == "" { // no environment has the branch
			continue
		}
		changed, known := p.differ(name, commit, now, since)
		if !known {
			return nil, false
		}
		past.changed[branch] = changed
	}
	if head := location.Heads[""]; head != "" {
		past.config, _ = repo.LoadConfig(p.c.Objects, head, p.o.DefaultBranch, nil) // one that cannot be used names nothing
	}
	return past, true
}

// differ returns the files that differ between two commits of a branch.
func (p earlierHeads) differ(branch, then, now string, since time.Time) (map[string]bool, bool) {
	key := then + " " + now
	if changed, known := p.changed[key]; known {
		return changed, changed != nil
	}
	if len(p.changed) == maxEarlier {
		return nil, false
	}
	p.changed[key] = nil
	if _, err := p.c.Objects.Commit(then); err != nil {
		if p.c.Remote.Deepen(p.ctx, branch, since.Add(-time.Hour)) != nil {
			return nil, false
		}
	}
	list, err := p.c.Objects.Changed(then, now)
	if err != nil {
		return nil, false
	}
	changed := make(map[string]bool, len(list))
	for _, file := range list {
		changed[file] = true
	}
	p.changed[key] = changed
	return changed, true
}

// earlier is what a repository had at the heads of a decision.
type earlier struct {
	then    map[string]string
	changed map[string]map[string]bool // by branch, the files that differ from now
	config  *config.Config             // nil: it cannot be used
	had     func(commit, file string) bool
}

// Had implements promotion.Earlier.
func (e earlier) Had(branch, file string) bool {
	changed, known := e.changed[branch]
	return known && (!changed[file] || e.had(e.then[branch], file))
}

// Named implements promotion.Earlier. The files of a target that has only new ones were removed or moved since, so
// they are among those that differ.
func (e earlier) Named(target promotion.Target) bool {
	if e.config == nil {
		return false
	}
	environment, known := e.config.Environment(target.Environment)
	if !known {
		return false
	}
	branch := environment.Branch
	if _, own := e.then[branch]; !own {
		branch = ""
	}
	return slices.ContainsFunc(slices.Collect(maps.Keys(e.changed[branch])), func(file string) bool {
		application, in := environment.Match(file)
		return in && (environment.ByComponent || application == target.Application) && e.had(e.then[branch], file)
	})
}
