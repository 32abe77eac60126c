package checkout

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/git"
	"promoter/internal/git/object"
	"promoter/internal/promotion"
	"promoter/internal/scan"
	"promoter/internal/state"
)

// GoneDecisions warns of the decisions on the state branch of the clone, as it was last fetched, whose target is gone.
// Branches of environments that cannot be read may have it.
func GoneDecisions(ctx context.Context, dir string, loaded *config.Config, now time.Time) (config.Problems, error) {
	c, err := openLoaded(dir, loaded, nil)
	if err != nil {
		return nil, err
	}
	decided, err := c.userDecisions()
	if err != nil || len(decided.Targets()) == 0 {
		return nil, err
	}
	branches, err := c.branches(loaded.Order())
	if err != nil {
		return nil, err
	}
	o := promotion.Observation{
		Config: loaded, State: decided, Targets: map[promotion.Target]promotion.Current{}, Unavailable: map[string]string{},
	}
	for _, b := range branches {
		if b.unavailable != "" {
			for _, name := range b.environments {
				o.Unavailable[name] = b.unavailable
			}
			continue
		}
		tree, err := scan.Files(ctx, scan.Request{Config: loaded, Environments: b.environments}, b.files(ctx, dir))
		if err != nil {
			return nil, err
		}
		maps.Copy(o.Targets, tree.Targets)
	}
	o.State = c.located(o, now)
	return promotion.GoneProblems(o.State, filepath.Join(dir, config.FileName)), nil
}

// decidedAbout returns the decisions as they also apply under other names in a plan, which may be about some environments
// or files only.
func (c *Checkout) decidedAbout(
	o promotion.Observation, read map[string]*branch, filtered bool, decided state.State, now time.Time,
) state.State {
	if len(decided.Targets()) == 0 {
		return decided
	}
	o.State, o.Unavailable = decided, maps.Clone(o.Unavailable)
	for _, e := range c.config.Environments {
		if read[e.Name] == nil || filtered {
			o.Unavailable[e.Name] = "it is not read"
		}
	}
	return c.located(o, now)
}

// located returns the decisions of an observation as they also apply under other names. Where only some environments
// or files were read, decisions may be about the others: none is about what appeared since.
func (c *Checkout) located(o promotion.Observation, now time.Time) state.State {
	clone, err := git.OpenCheckout(c.dir)
	if err == nil {
		o.DefaultBranch, _ = clone.DefaultBranch() // without one, an environment has that which the config leaves out
	}
	partial := len(o.Unavailable) > 0
	return o.State.WithRenamed(promotion.Renamed(o, now, func(stop state.Stop) (promotion.Earlier, bool) {
		if partial {
			return everything{}, true
		}
		if clone == nil || stop.Act.Location == nil {
			return nil, false
		}
		past := earlier{heads: map[string]*object.Tree{}}
		for branch, commit := range stop.Act.Location.Heads {
			tree, err := clone.Revision(commit)
			if err != nil {
				return nil, false
			}
			past.heads[branch] = tree
		}
		if head := stop.Act.Location.Heads[""]; head != "" {
			past.config, _ = loadRevision(c.dir, head)
		}
		return past, true
	}))
}

// everything had all files and names.
type everything struct{}

// Had implements promotion.Earlier.
func (everything) Had(_, _ string) bool { return true }

// Named implements promotion.Earlier.
func (everything) Named(promotion.Target) bool { return true }

// earlier is what the clone had at the heads of a decision.
type earlier struct {
	heads  map[string]*object.Tree // by branch
	config *config.Config          // nil: it cannot be used
}

// Had implements promotion.Earlier.
func (e earlier) Had(branch, file string) bool {
	tree := e.heads[branch]
	if tree == nil {
		return false
	}
	_, err := tree.FileMode(file)
	return err == nil
}

// Named implements promotion.Earlier.
func (e earlier) Named(target promotion.Target) bool {
	if e.config == nil {
		return false
	}
	environment, known := e.config.Environment(target.Environment)
	if !known {
		return false
	}
	tree := e.heads[environment.Branch]
	if tree == nil {
		tree = e.heads[""]
	}
	if tree == nil {
		return false
	}
	var files []string
	for entry, err := range tree.Files() {
		if err != nil {
			return false
		}
		files = append(files, entry.Path)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		application, in := environment.Match(file)
		return in && (environment.ByComponent || application == target.Application)
	})
}
