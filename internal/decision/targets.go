package decision

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"promoter/internal/fault"
	"promoter/internal/glob"
	"promoter/internal/promotion"
	"promoter/internal/scan"
	"promoter/internal/state"
	"promoter/internal/verb"
)

// findTargets returns the targets of a decision, and refuses names that the repository does not
// have. A decision that names no application or no environment is about all of them: it needs
// --all, unless an environment has only one. A hold is then one for the whole environment, also for
// applications that it gets later, but a promotion is one for each application in it.
func findTargets(ctx context.Context, d Decision, r repository) ([]promotion.Target, error) {
	if gone, is, err := goneTarget(ctx, d, r); is || err != nil {
		if err == nil && !d.All && !ofEnvironment(d.Verb) && gone.Application == state.All {
			err = r.endsOne(ctx, d, gone)
		}
		return []promotion.Target{gone}, err
	}
	environments := slices.DeleteFunc(slices.Clone(r.config.Order()), func(name string) bool {
		return !r.covers(promotion.Target{Environment: name})
	})
	if d.Environment != "" {
		if _, ok := r.config.Environment(d.Environment); !ok || !slices.Contains(environments, d.Environment) {
			return nil, fault.New(fault.Invalid, "there is no environment %s here; there are %s", d.Environment, fault.List(environments))
		}
		environments = []string{d.Environment}
	}
	whole := []promotion.Target{{Environment: cmp.Or(d.Environment, state.All), Application: state.All}}
	switch {
	case ofEnvironment(d.Verb) && (d.Environment != "" || d.All):
		return whole, nil
	case ofEnvironment(d.Verb):
		var targets []promotion.Target
		for _, name := range environments {
			targets = append(targets, promotion.Target{Environment: name, Application: state.All})
		}
		return nil, needsAll(ctx, d, r, targets)
	case d.Application == "" && d.All && !perApplication(d.Verb):
		return whole, nil
	}
	applications, err := listApplications(ctx, r, environments)
	if err != nil {
		return nil, err
	}
	for environment, names := range applications {
		applications[environment] = slices.DeleteFunc(names, func(name string) bool {
			return !r.covers(promotion.Target{Environment: environment, Application: name})
		})
	}
	targets, err := selectTargets(d, environments, applications)
	if err != nil || d.All {
		return targets, err
	}
	wide := d.Application == "" || d.Environment == ""
	switch {
	case len(targets) > 1 && wide, d.Application == "" && d.Environment == "":
		return nil, needsAll(ctx, d, r, targets)
	case d.Application != "" || perApplication(d.Verb):
		return targets, nil
	}
	// The environment has only this application. What is recorded of others that are gone counts.
	counts, err := r.workspace.Reconciler.Clients.StateBranch().State(ctx)
	if err != nil {
		return nil, err
	}
	for _, at := range counts.Targets() {
		gone := at.Environment == d.Environment && at.Application != state.All && !slices.Contains(targets, promotion.Target(at))
		if gone && r.covers(promotion.Target(at)) && endsIn(d.Verb, counts.At(at)) {
			return nil, needsAll(ctx, d, r, append(targets, promotion.Target(at)))
		}
	}
	return whole, nil
}

// ofEnvironment reports whether a verb is by nature about a whole environment.
func ofEnvironment(v verb.Verb) bool { return v == verb.Freeze || v == verb.Thaw }

// perApplication reports whether a decision about an environment is one about each application.
func perApplication(v verb.Verb) bool { return v == verb.Promote || v == verb.Rollback }

// endsIn reports whether a record has something that a verb ends.
func endsIn(v verb.Verb, record state.Record) bool {
	return v == verb.Resume && record.Stopped() || v == verb.Unreject && len(record.Rejections) > 0
}

// endsOne refuses a decision that would end something in more than one record of an environment that is gone.
func (r repository) endsOne(ctx context.Context, d Decision, gone promotion.Target) error {
	counts, err := r.workspace.Reconciler.Clients.StateBranch().State(ctx)
	if err != nil {
		return err
	}
	var concerned []promotion.Target
	for _, at := range counts.Targets() {
		if covers(state.Target(gone), at) && endsIn(d.Verb, counts.At(at)) {
			concerned = append(concerned, promotion.Target(at))
		}
	}
	if len(concerned) > 1 {
		return needsAll(ctx, d, r, concerned)
	}
	return nil
}

// needsAll refuses a decision about more than one target that is not named: it lists them, or what
// would end there, and the command.
func needsAll(ctx context.Context, d Decision, r repository, targets []promotion.Target) error {
	concerned := namesOf(targets, maxNames)
	if d.Verb == verb.Resume || d.Verb == verb.Unreject {
		counts, err := r.workspace.Reconciler.Clients.StateBranch().State(ctx)
		if err != nil {
			return err
		}
		if ended := r.ended(d, counts); len(ended) > 0 {
			concerned = strings.Join(ended, "; ")
		}
	}
	one := "--env and --app"
	switch {
	case ofEnvironment(d.Verb):
		one = "--env"
	case d.Environment != "":
		one = "--app"
	case d.Application != "":
		one = "--env"
	}
	d.All = true
	return fault.New(fault.Invalid, "%s is about more than one target: %s: name one with %s, or run '%s' for all of them",
		d.Verb, cmp.Or(concerned, "everything in the repository"), one, commandLine(d))
}

// ended lists what a resume, or an unreject, of all that a decision does not name would end.
func (r repository) ended(d Decision, counts state.State) (lines []string) {
	for _, at := range counts.Targets() {
		record := counts.At(at)
		other := d.Environment != "" && at.Environment != d.Environment || d.Application != "" && !d.isAbout(at.Application)
		if other || !r.covers(promotion.Target(at)) || !endsIn(d.Verb, record) {
			continue
		}
		switch {
		case d.Verb == verb.Unreject:
			for _, rejection := range record.Rejections {
				lines = append(lines, "the rejection of "+versionsOf(rejection.Images)+" in "+name(at)+" by "+actText(rejection.Act))
			}
		case record.Rollback != nil:
			lines = append(lines, "the rollback of "+name(at)+" by "+actText(record.Rollback.Act))
		case record.Hold != nil:
			lines = append(lines, "the hold of "+name(at)+" by "+actText(*record.Hold))
		default:
			lines = append(lines, "the failure of "+name(at))
		}
	}
	if more := len(lines) - maxNames; more > 0 {
		lines = append(lines[:maxNames], fmt.Sprintf("%d more", more))
	}
	return lines
}

// isAbout reports whether a decision names an application, or a pattern that it matches.
func (d Decision) isAbout(application string) bool {
	return d.Application == application || strings.ContainsAny(d.Application, globs) && glob.MatchName(d.Application, application)
}

// commandLine returns the command that records a decision.
func commandLine(d Decision) string {
	words := append([]string{"promoter", string(d.Verb)}, d.Images...)
	add := func(flag, value string) {
		if value != "" {
			words = append(words, flag, value)
		}
	}
	environment := "--env"
	if d.Verb == verb.Promote {
		environment = "--to"
	}
	add(environment, d.Environment)
	add("--app", d.Application)
	add("--to", d.To)
	for _, version := range d.With {
		add("--with", version)
	}
	add("--bypass", strings.Join(d.Bypass, ","))
	if d.Downstream {
		words = append(words, "--downstream")
	}
	if d.Until != nil {
		add("--until", d.Until.UTC().Format(time.RFC3339))
	}
	add("--reason", d.Reason)
	add("--as", d.As)
	for i, word := range words {
		if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,:/@=+") != "" {
			words[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(word) + `"`
		}
	}
	text := strings.Join(words, " ") + d.Flags
	if d.All {
		text += " --all"
	}
	if d.DryRun {
		text += " --dry-run"
	}
	return text
}

// selectTargets returns the targets that the environment and the application of a decision name, or
// a pattern of applications. Explicit versions apply to a single application.
func selectTargets(d Decision, environments []string, applications map[string][]string) ([]promotion.Target, error) {
	var targets []promotion.Target
	var known []string
	for _, environment := range environments {
		for _, application := range applications[environment] {
			known = append(known, application)
			if d.Application == "" || d.isAbout(application) {
				targets = append(targets, promotion.Target{Environment: environment, Application: application})
			}
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	switch {
	case len(targets) == 0 && d.Application == "" && perApplication(d.Verb):
		return nil, fault.New(fault.NotFound, "%s has no applications: no file of its branch belongs to it", d.Environment)
	case len(targets) == 0 && d.Application != "":
		return nil, fault.New(fault.Invalid, "there is no application %s here; there are %s", d.Application, fault.List(known))
	case len(targets) > 1 && len(d.With) > 0:
		const problem = "--with is for one application: name it with --app; %s has %s"
		return nil, fault.New(fault.Invalid, problem, d.Environment, fault.List(known))
	}
	return targets, nil
}

// listApplications lists the applications of the environments by the names of the files
// on their branches.
func listApplications(ctx context.Context, r repository, environments []string) (map[string][]string, error) {
	found := map[string][]string{}
	for _, name := range environments {
		environment, _ := r.config.Environment(name)
		branch := cmp.Or(environment.Branch, r.defaultBranch)
		heads, err := r.workspace.Reconciler.Clients.Remote.Fetch(ctx, branch)
		if err != nil {
			return nil, err
		}
		if heads[branch] == "" {
			continue
		}
		if environment.ByComponent {
			tree, err := r.workspace.Reconciler.Clients.Files.At(ctx, r.config, heads[branch], []string{name})
			if err != nil {
				return nil, err
			}
			for target := range tree.Targets() {
				found[name] = append(found[name], target.Application)
			}
			slices.Sort(found[name])
			continue
		}
		entries, err := r.workspace.List(ctx, heads[branch])
		if err != nil {
			return nil, err
		}
		found[name] = scan.Applications(environment, func(yield func(string) bool) {
			for _, entry := range entries {
				if !yield(entry.Path) {
					return
				}
			}
		})
	}
	return found, nil
}

// captured returns the text in the paths that the application of the targets is named
// after; its name if no file has it.
func captured(ctx context.Context, r repository, targets []promotion.Target) (string, error) {
	application := targets[0].Application
	if application == state.All {
		return "", nil
	}
	for _, target := range targets {
		environment, _ := r.config.Environment(target.Environment)
		branch := cmp.Or(environment.Branch, r.defaultBranch)
		heads, err := r.workspace.Reconciler.Clients.Remote.Fetch(ctx, branch)
		if err != nil {
			return "", err
		}
		if heads[branch] == "" {
			continue
		}
		entries, err := r.workspace.List(ctx, heads[branch])
		if err != nil {
			return "", err
		}
		for _, entry := range entries {
			if name, in := environment.Match(entry.Path); in && name == application {
				text, _ := environment.Capture(entry.Path)
				return text, nil
			}
		}
	}
	return application, nil
}

// deployments returns what targets are in the repository. One that stands for several is each
// of them.
func (r repository) deployments(ctx context.Context, targets []promotion.Target) ([]promotion.Deployment, error) {
	observed, err := r.observe(ctx)
	if err != nil {
		return nil, err
	}
	var all []promotion.Deployment
	for _, wide := range targets {
		known := len(all)
		for target := range observed.Targets {
			if covers(state.Target(wide), state.Target(target)) {
				all = append(all, observed.Deployment(target))
			}
		}
		if len(all) == known {
			all = append(all, observed.Deployment(wide))
		}
	}
	slices.SortFunc(all, func(a, b promotion.Deployment) int { return a.Target.Compare(b.Target) })
	return all, nil
}

// observe returns what is in the repository. Where nothing can be done there, such as with a credential that may
// not push, nothing is known.
func (r repository) observe(ctx context.Context) (promotion.Observation, error) {
	observed, _, err := r.workspace.Reconciler.Decide(ctx)
	if err == nil && observed.Config == nil {
		err = fault.New(fault.Invalid, "nothing can be done in the repository: 'promoter doctor' reports why")
	}
	return observed, err
}
