package checkout

import (
	"context"
	"maps"
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/drift"
	"promoter/internal/edit"
	"promoter/internal/explain"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/decide"
	"promoter/internal/scan"
	"promoter/internal/state"
	"promoter/internal/strictyaml"
	"promoter/internal/unused"
)

// Options configure a plan.
type Options struct {
	Environments []string               // by name; none: all
	ShowOnly     bool                   // naming an environment does not request a promotion in it
	Paths        []string               // globs that select files; none: all
	Explicit     image.ExplicitVersions // none: the registries are asked
	Versions     Versions               // the registries, with the permissions of this checkout
	MaxFileSize  int64                  // bytes over which a file is not parsed; 0: the updater's default
	Now          func() time.Time
	Progress     Progress // nil: not reported
}

// explains reports whether a user asks why environments have what they have.
func (o Options) explains() bool { return o.ShowOnly && len(o.Environments) > 0 }

// Progress reports how much of the work is done; it is called from one goroutine
// at a time.
type Progress func(doing string, done, total int)

// Preview is what would change in a checkout, and why.
type Preview struct {
	Targets []TargetPreview
	Errors  []ComponentError
	Unused  []image.Repository // of explicit versions, that no file refers to
	// NoFiles are the globs of Options.Paths that match no file.
	NoFiles []string
	// Warnings are about what the config file names and that matches nothing. They are known only where all
	// environments are planned with all files.
	Warnings config.Problems
	// Decisions is set if the clone has user decisions. They have no effect on
	// environments that the user named.
	Decisions bool
	// Paths are the ways of the components to the environments of Options, if only these are
	// shown.
	Paths []explain.Path
	// Drift is that of the repository, if only some environments are shown.
	Drift []drift.Drift
}

// TargetPreview is a decision with the changes that carry it out.
type TargetPreview struct {
	promotion.Decision
	Branch   string // empty: the default branch
	Stopped  string // why user decisions stop the target; empty: they do not
	OnDisk   bool   // apply can write the files
	Changes  []edit.Change
	Refusals []edit.Refusal
	Notes    []edit.Note
	Mentions edit.Mentions
	Files    []scan.FileChange
}

// ComponentError reports a component whose registry did not answer.
type ComponentError struct {
	Component string
	Err       error
}

// Plan finds the references, asks for versions, decides what would change, and
// makes the changes in memory.
func (c *Checkout) Plan(ctx context.Context, options Options) (*Preview, error) {
	if options.MaxFileSize < 0 || options.MaxFileSize > scan.ReadLimit {
		return nil, fault.New(fault.Invalid, "--max-file-size %d: want 1 to %d bytes", options.MaxFileSize, scan.ReadLimit)
	}
	filter, err := scan.NewPathFilter(options.Paths)
	if err != nil {
		return nil, err
	}
	unmatched, err := newUnmatched(options.Paths)
	if err != nil {
		return nil, err
	}
	shown, err := c.environments(options.Environments)
	if err != nil {
		return nil, err
	}
	asked := shown
	if options.explains() { // where versions come from is shown too
		shown = c.config.Lineage(shown)
	}
	branches, err := c.branches(c.config.Lineage(shown))
	if err != nil {
		return nil, err
	}

	observation := promotion.Observation{
		Config:       c.config,
		Environments: shown,
		Targets:      map[promotion.Target]promotion.Current{},
		Unavailable:  map[string]string{},
		Requested:    map[string]bool{},
		Checkout:     true,
	}
	branchOf := map[string]*branch{} // by environment
	for _, b := range branches {
		for _, name := range b.environments {
			branchOf[name] = b
			if b.unavailable != "" {
				observation.Unavailable[name] = b.unavailable
			}
		}
		if b.unavailable != "" {
			continue
		}
		request := scan.Request{
			Config: c.config, Environments: b.environments, Explicit: c.explicit, Filter: filter, MaxFileSize: options.MaxFileSize,
		}
		b.tree, err = scan.Files(ctx, request, unmatched.watch(b.watch(b.files(ctx, c.dir))))
		if err != nil {
			return nil, err
		}
		maps.Copy(observation.Targets, b.tree.Targets)
	}
	followed := promotion.FollowedIn(c.config, observation.Selected(), promotion.Everywhere)
	observation.Policies = promotion.Policies(c.config, followed)
	observation.Verify = promotion.Verifications(followed, nil)
	for _, name := range options.Environments {
		observation.Requested[name] = !options.ShowOnly
	}

	options.Explicit = options.Explicit.Renamed(mirrored(observation.Targets))
	failed := map[string]error{} // by component
	if len(options.Explicit) > 0 {
		observation.Available = c.explicitVersions(ctx, observation, options, failed)
	} else if err := c.askRegistries(ctx, &observation, options, failed); err != nil {
		return nil, err
	}
	lookups, err := decide.MirrorLookups(ctx, observation)
	if err != nil {
		return nil, err
	}
	if err := askFacts(ctx, &observation, lookups, options, failed); err != nil {
		return nil, err
	}

	named := len(options.Environments) > 0 && !options.ShowOnly
	decided, err := c.userDecisions()
	if err != nil && !named {
		return nil, err
	}
	decided = c.endOverruled(decided, observation.Targets, branchOf)
	decided = c.decidedAbout(observation, branchOf, len(options.Paths) > 0, decided, options.Now())
	preview := &Preview{Unused: c.unusedVersions(options.Explicit, observation.Targets), Decisions: len(decided.Targets()) > 0}
	preview.NoFiles = slices.Sorted(maps.Keys(unmatched))
	if len(c.explicit) == 0 && len(options.Paths) == 0 && len(options.Environments) == 0 && isRoot(c.dir) { // everything was read
		preview.Warnings = unused.Find(unused.Facts{Now: options.Now(), Repositories: []unused.Repository{c.known(ctx, branches)}})
	}
	now := options.Now()
	for learned := true; learned; learned = learnRefusals(observation, preview.Targets) {
		preview.Targets, err = c.preview(ctx, observation, decided, now, named, branchOf)
		if err != nil {
			return nil, err
		}
	}
	if options.explains() {
		preview.Paths, preview.Drift = explained(asked, observation, preview.Targets, branches)
	}
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		preview.Errors = append(preview.Errors, ComponentError{Component: name, Err: failed[name]})
	}
	return preview, nil
}

// explained returns the ways of the components to the targets of environments, and the drift.
func explained(
	environments []string, observation promotion.Observation, targets []TargetPreview, branches []*branch,
) (paths []explain.Path, found []drift.Drift) {
	facts := explain.Facts{Observation: observation}
	for i := range targets {
		facts.Decisions = append(facts.Decisions, targets[i].Decision)
	}
	for _, d := range facts.Decisions {
		if slices.Contains(environments, d.Environment) {
			paths = append(paths, explain.Paths(facts, d.Target)...)
		}
	}
	others := map[string][]edit.Reference{}
	for _, b := range branches {
		if b.tree != nil {
			others[b.name] = b.tree.Others
		}
	}
	return paths, drift.Find(drift.Observed{Promotion: observation, Decisions: facts.Decisions, Others: others})
}

// preview decides about the targets, and makes the changes in memory.
func (c *Checkout) preview(
	ctx context.Context, observation promotion.Observation, decided state.State, now time.Time, named bool, branchOf map[string]*branch,
) ([]TargetPreview, error) {
	decisions, err := decide.Plan(ctx, observation, now)
	if err != nil {
		return nil, err
	}
	observation.State = decided
	obeying, err := decide.Plan(ctx, observation, now) // of the same targets
	if err != nil {
		return nil, err
	}
	if !named {
		decisions = obeying
	}
	targets := make([]TargetPreview, 0, len(decisions))
	var edits []scan.Edit
	var edited []int
	for i, decision := range decisions {
		environment, _ := c.config.Environment(decision.Environment)
		target := TargetPreview{Decision: decision, Branch: environment.Branch, Mentions: observation.Targets[decision.Target].Mentions}
		switch obeying[i].Reason.Rule {
		case promotion.RuleHeld, promotion.RuleFrozen, promotion.RuleRejected, promotion.RuleLeftUpstream:
			target.Stopped = obeying[i].Reason.String()
		}
		if b := branchOf[decision.Environment]; b != nil && b.tree != nil {
			target.OnDisk = b.onDisk
			edited = append(edited, i)
			edits = append(edits, scan.Edit{
				Tree: b.tree, Target: decision.Target, Moves: decision.Moves, Tentative: decision.State != promotion.Proposed,
			})
		}
		targets = append(targets, target)
	}
	results, err := scan.Rewrite(ctx, edits...)
	if err != nil {
		return nil, err
	}
	for i, result := range results {
		target := &targets[edited[i]]
		target.Files, target.Changes = result.Files, result.Changes
		target.Notes = slices.Concat(edits[i].Tree.Notes[target.Target], foreignNotes(observation.Targets[target.Target]), result.Notes)
		target.Refusals = edit.Union(observation.Targets[target.Target].Refusals, result.Refusals)
		if len(target.Moves) > 0 && len(result.Refusals) > 0 {
			target.State, target.Reason = promotion.Refused, promotion.RefusedBy(result.Refusals)
		}
	}
	return targets, nil
}

// foreignNotes returns notes about the references that are of other lines of versions.
func foreignNotes(current promotion.Current) (notes []edit.Note) {
	for _, f := range current.Foreign {
		notes = append(notes, edit.Note{Position: f.Position, Text: f.Reason})
	}
	return notes
}

// learnRefusals adds the refusals of edits that do not stop all components of their target
// to the observation. It reports whether another plan may leave out what they stop.
func learnRefusals(observation promotion.Observation, targets []TargetPreview) (learned bool) {
	for i := range targets {
		current := observation.Targets[targets[i].Target]
		known := len(current.Refusals)
		current.Refusals = edit.Union(current.Refusals, slices.DeleteFunc(slices.Clone(targets[i].Refusals), func(r edit.Refusal) bool {
			return len(r.Unaffected) == 0
		}))
		if len(current.Refusals) > known {
			observation.Targets[targets[i].Target] = current
			learned = true
		}
	}
	return learned
}

// environments returns the named environments, parents first; all if none is
// named.
func (c *Checkout) environments(names []string) ([]string, error) {
	if len(names) == 0 {
		return c.config.Order(), nil
	}
	for _, name := range names {
		if _, ok := c.config.Environment(name); !ok {
			known := c.config.Order()
			meant := strictyaml.Nearest(name, known)
			if meant != "" {
				meant = " (did you mean " + meant + "?)"
			}
			return nil, fault.New(fault.Invalid, "no environment %s%s; the environments are %s", name, meant, fault.List(known))
		}
	}
	return slices.DeleteFunc(c.config.Order(), func(name string) bool { return !slices.Contains(names, name) }), nil
}

// mirrored returns the repositories that components follow, by the mirrors that files name.
func mirrored(targets map[promotion.Target]promotion.Current) map[image.Repository]image.Repository {
	followed := map[image.Repository]image.Repository{}
	for _, current := range targets {
		for _, r := range current.References {
			if !r.Mirror.IsZero() {
				followed[r.Mirror] = r.Repository
			}
		}
	}
	return followed
}

// unusedVersions returns the repositories of explicit versions that no file refers to. One that a mention
// or a refusal is about, or may be about, is not among them: a file refers to it.
func (c *Checkout) unusedVersions(explicit image.ExplicitVersions, targets map[promotion.Target]promotion.Current) []image.Repository {
	used := make(map[image.Repository]bool, len(explicit))
	all := explicit.Repositories()
	for _, current := range targets {
		for _, reference := range current.References {
			used[reference.Repository] = true
		}
		for _, mention := range current.Mentions.Listed {
			used[mention.Repository] = true
		}
		for _, refusal := range current.Refusals {
			component, known := c.config.Component(refusal.Component)
			for _, r := range all {
				used[r] = used[r] || refusal.Whole && !known || known && component.Pattern.Match(r)
			}
		}
	}
	return slices.DeleteFunc(all, func(r image.Repository) bool { return used[r] })
}

// Failed reports whether something was refused or a registry did not answer.
func (p *Preview) Failed() bool {
	return len(p.Errors) > 0 || slices.ContainsFunc(p.Targets, func(target TargetPreview) bool {
		return len(target.Refusals) > 0
	})
}

// Changed reports whether there is a change to write.
func (p *Preview) Changed() bool {
	return slices.ContainsFunc(p.Targets, func(target TargetPreview) bool { return target.Changed() })
}

// Changed reports whether apply has something to write, or would have on another
// branch.
func (p *TargetPreview) Changed() bool {
	return p.State == promotion.Proposed && len(p.Files) > 0
}

// Unevaluated reports whether the change depends on conditions that need a forge.
func (p *TargetPreview) Unevaluated() bool {
	return len(p.Moves) > 0 && slices.ContainsFunc(p.Conditions, func(c promotion.Condition) bool { return c.State == promotion.Unknown })
}

// Waiting returns the number of targets with a change that may not be made yet.
func (p *Preview) Waiting() (n int) {
	for i := range p.Targets {
		if target := &p.Targets[i]; target.State == promotion.Waiting && len(target.Moves) > 0 {
			n++
		}
	}
	return n
}

// Count returns what apply would write. An application that changes in several environments is
// one.
func (p *Preview) Count() (applications, files, changes int) {
	paths, names := map[string]bool{}, map[string]bool{} // applications may share a file
	for i := range p.Targets {
		if target := &p.Targets[i]; target.Changed() && target.OnDisk {
			names[target.Application] = true
			changes += len(target.Changes)
			for _, file := range target.Files {
				paths[file.Path] = true
			}
		}
	}
	return len(names), len(paths), changes
}
