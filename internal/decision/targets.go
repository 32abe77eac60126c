package decision

import (
	"cmp"
	"context"
	"slices"

	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/scan"
	"promoter/internal/state"
	"promoter/internal/verb"
)

// findTargets returns the targets of a decision, and refuses names that the repository
// does not have. Without an application, a hold is one for the whole environment, but a
// promotion is one for each application in it.
func findTargets(ctx context.Context, d Decision, r repository) ([]promotion.Target, error) {
	if gone, is, err := goneTarget(ctx, d, r); is || err != nil {
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
	if d.Application == "" && d.Verb != verb.Promote && d.Verb != verb.Rollback {
		return []promotion.Target{{Environment: cmp.Or(d.Environment, state.All), Application: state.All}}, nil
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
	if d.Application == "" {
		return targetsOfEnvironment(d, applications[d.Environment])
	}
	return targetsOfApplication(d, environments, applications)
}

// targetsOfEnvironment returns a target for each application of the environment. Explicit
// versions and a rollback apply to a single application.
func targetsOfEnvironment(d Decision, applications []string) ([]promotion.Target, error) {
	if len(applications) == 0 {
		return nil, fault.New(fault.NotFound, "%s has no applications: no file of its branch belongs to it", d.Environment)
	}
	if len(applications) > 1 && (len(d.With) > 0 || d.Verb == verb.Rollback) {
		return nil, fault.New(fault.Invalid, "name the application with --app; %s has %s", d.Environment, fault.List(applications))
	}
	var targets []promotion.Target
	for _, application := range applications {
		targets = append(targets, promotion.Target{Environment: d.Environment, Application: application})
	}
	return targets, nil
}

// targetsOfApplication returns the targets of the named application.
func targetsOfApplication(d Decision, environments []string, applications map[string][]string) ([]promotion.Target, error) {
	var targets []promotion.Target
	var known []string
	for _, environment := range environments {
		if slices.Contains(applications[environment], d.Application) {
			targets = append(targets, promotion.Target{Environment: environment, Application: d.Application})
		}
		known = append(known, applications[environment]...)
	}
	if len(targets) == 0 {
		slices.Sort(known)
		known = slices.Compact(known)
		return nil, fault.New(fault.Invalid, "there is no application %s here; there are %s", d.Application, fault.List(known))
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
