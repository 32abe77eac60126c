package app

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"promoter/internal/fault"
	"promoter/internal/git/object"
	"promoter/internal/promotion"
	"promoter/internal/scan"
	"promoter/internal/state"
)

// places returns what the order is about, and refuses names that the repository
// does not have. Where no application is named, a hold is one of the whole
// environment, but a promotion is one of each application in it.
func (d *deciding) places(ctx context.Context) ([]promotion.Target, error) {
	environments, err := d.environments()
	if err != nil {
		return nil, err
	}
	if d.Application == "" && d.Verb != VerbPromote && d.Verb != VerbRollback {
		return []promotion.Target{{Environment: orAll(d.Environment), Application: state.All}}, nil
	}
	applications, err := d.applications(ctx, environments)
	if err != nil {
		return nil, err
	}
	if d.Application == "" {
		return d.every(applications[d.Environment])
	}
	return d.having(environments, applications)
}

func orAll(name string) string {
	if name == "" {
		return state.All
	}
	return name
}

// environments returns the named environment, or all of them.
func (d *deciding) environments() ([]string, error) {
	if d.Environment == "" {
		return d.config.Order(), nil
	}
	if _, ok := d.config.Environment(d.Environment); !ok {
		return nil, fault.New(fault.Invalid, "there is no environment %s here; there are %s", d.Environment, fault.List(d.config.Order()))
	}
	return []string{d.Environment}, nil
}

// every returns a place for each application of the environment. Named versions,
// and a rollback, are for one alone.
func (d *deciding) every(applications []string) ([]promotion.Target, error) {
	if len(applications) == 0 {
		return nil, fault.New(fault.NotFound, "%s has no applications: no file of its branch belongs to it", d.Environment)
	}
	if len(applications) > 1 && (len(d.With) > 0 || d.Verb == VerbRollback) {
		return nil, fault.New(fault.Invalid, "name the application with --app; %s has %s", d.Environment, fault.List(applications))
	}
	var targets []promotion.Target
	for _, application := range applications {
		targets = append(targets, promotion.Target{Environment: d.Environment, Application: application})
	}
	return targets, nil
}

// having returns the places of the named application.
func (d *deciding) having(environments []string, applications map[string][]string) ([]promotion.Target, error) {
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
		return nil, fault.New(fault.Invalid, "there is no application %s here; there are %s", d.Application, fault.List(slices.Compact(known)))
	}
	return targets, nil
}

func paths(entries []object.Entry) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, entry := range entries {
			if !yield(entry.Path) {
				return
			}
		}
	}
}

// applications lists the applications of the environments by the names of the
// files on their branches.
func (d *deciding) applications(ctx context.Context, environments []string) (map[string][]string, error) {
	found := map[string][]string{}
	for _, name := range environments {
		environment, _ := d.config.Environment(name)
		branch := cmp.Or(environment.Branch, d.byDefault)
		heads, err := d.reconciler.Remote.Fetch(ctx, branch)
		if err != nil {
			return nil, err
		}
		if heads[branch] == "" {
			continue
		}
		entries, err := d.workspace.List(ctx, heads[branch])
		if err != nil {
			return nil, err
		}
		found[name] = scan.Applications(environment, paths(entries))
	}
	return found, nil
}
