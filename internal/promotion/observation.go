package promotion

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/config"
	"promoter/internal/config/setting"
	"promoter/internal/config/trust"
	"promoter/internal/glob"
	"promoter/internal/health"
	"promoter/internal/image"
	"promoter/internal/state"
)

// Observation is everything that Plan reads.
type Observation struct {
	Config *config.Config

	// Environments are those to decide about, parents first; none: all of them.
	Environments []string

	// Applications are those to decide about; nil: all of them. The decisions about an
	// application depend on no other one.
	Applications map[string]bool

	// Targets holds what the files say. An application without files in an
	// environment has no entry for it.
	Targets map[Target]Current

	// Unavailable names the environments whose branch is not available, and why.
	Unavailable map[string]string

	// Available holds what the registries answered, by component. A component
	// without an entry was not looked up and stays as it is.
	Available map[string]Available

	// Policies orders the versions of each component that files refer to.
	Policies map[string]*image.Policy

	// Verify is what signatures must prove about the versions of a component.
	Verify map[string][]trust.Requirement

	// Facts is what registries reported about versions in files.
	Facts Facts

	// FactsOf are the facts that the decisions about each application asked for. No other
	// application changes them. Nil: Facts counts for all applications.
	FactsOf map[string]Facts

	// Requested names the environments that the command line named: a manual one is
	// proposed, and explicit versions go straight into them.
	Requested map[string]bool

	// State is what users decided, from the branch promoter/_state.
	State state.State

	// Landings are the snapshots that were in a target, newest first. The first one
	// equals what the files say.
	Landings map[Target][]Landing

	// Restored is what the commit that a rollback names had in a target, as its files
	// have it. Nil: nothing proves that it was there.
	Restored map[Target]Snapshot

	// Reverted are versions that users reverted in a target.
	Reverted map[Target][]Reversion

	// Falsified are the claims about a target, in the trailers of commits, that files
	// contradict. They are only shown.
	Falsified map[Target][]Reason

	// Open are the open pull requests of promoter's branches, by branch.
	Open map[string]Open

	// Protected is what the forge requires on branches, by the name that the config
	// uses. A branch without an entry was not looked up.
	Protected map[string]Protection

	// DefaultBranch is the branch of environments that name none.
	DefaultBranch string

	// Limits are the limits of the server file; nil: none.
	Limits Limits

	// PushOnly is set if the repository has no pull requests, as on plain Git.
	PushOnly bool

	// Explicit are versions that a request names for a target, by component.
	Explicit map[Target]map[string]Available

	// Bypasses are what the request and the rollback of a target may bypass. Nil: nothing.
	Bypasses map[Target][]Bypass

	// Checkout is set if there is no forge, and no history of landings.
	// What cannot be evaluated is then shown. It blocks unless the environment is
	// among those in Requested.
	Checkout bool
}

// Bypass is which conditions and gates a request for a target may bypass: what its user is
// permitted to now. The state branch alone grants nothing.
type Bypass struct {
	Request state.Request     // that was checked; of a rollback, see state.RolledBack.Bypassing
	Refused map[string]string // why not, by condition that it names; the others are permitted
}

// Scope returns the environments to decide about, parents first.
func (o Observation) Scope() []string {
	if len(o.Environments) > 0 {
		return o.Environments
	}
	return o.Config.Order()
}

// Selected yields the targets with files of the applications to decide about, in no order.
func (o *Observation) Selected() iter.Seq2[Target, Current] {
	if o.Applications == nil {
		return maps.All(o.Targets)
	}
	return func(yield func(Target, Current) bool) {
		for _, environment := range o.Config.Environments {
			for application := range o.Applications {
				target := Target{environment.Name, application}
				if current, exists := o.Targets[target]; exists && !yield(target, current) {
					return
				}
			}
		}
	}
}

// Sources returns the targets behind a parent environment that the snapshot of an
// application comes from. A parent without the application is skipped; its own
// parents are used.
func (o *Observation) Sources(parent, application string) []Target {
	return o.SourcesOf([]setting.Parent{{Environment: parent}}, application)
}

// SourcesOf returns the sources behind several parents, each once, by environment.
func (o *Observation) SourcesOf(parents []setting.Parent, application string) []Target {
	nearest := o.nearest(parents, application, func(target Target) bool {
		_, exists := o.Targets[target]
		_, unavailable := o.Unavailable[target.Environment]
		return exists || unavailable
	})
	found := make([]Target, 0, len(nearest))
	for _, parent := range nearest {
		found = append(found, Target{parent.Environment, application})
	}
	slices.SortFunc(found, Target.Compare)
	return slices.Compact(found)
}

// nearest returns the parents in which a target counts. The parents of each other one take its place, once: there
// may be more ways through the environments than can be walked.
func (o *Observation) nearest(parents []setting.Parent, application string, counts func(Target) bool) []setting.Parent {
	var found []setting.Parent
	skipped := map[string]bool{}
	var walk func(parents []setting.Parent)
	walk = func(parents []setting.Parent) {
		for _, parent := range parents {
			switch {
			case counts(Target{parent.Environment, application}):
				found = append(found, parent)
			case !skipped[parent.Environment]:
				skipped[parent.Environment] = true
				walk(o.Config.Settings(parent.Environment, application).After)
			}
		}
	}
	walk(parents)
	return found
}

// BranchOf returns the branch of an environment.
func (o Observation) BranchOf(environment config.Environment) string {
	return cmp.Or(environment.Branch, o.DefaultBranch)
}

// BaseOf returns the branch that the pull request of a target is merged into; empty
// when the config no longer has the environment.
func (o Observation) BaseOf(target Target) string {
	environment, known := o.Config.Environment(target.Environment)
	if !known {
		return ""
	}
	return o.BranchOf(*environment)
}

// EnvironmentsByBranch groups the environments, each group in the order of the config.
func (o Observation) EnvironmentsByBranch() map[string][]string {
	grouped := map[string][]string{}
	for _, environment := range o.Config.Environments {
		branch := o.BranchOf(environment)
		grouped[branch] = append(grouped[branch], environment.Name)
	}
	return grouped
}

// ParentsOf returns the parents of a target. A parent in which the application is
// absent is skipped; its own parents take its place.
func (o Observation) ParentsOf(target Target) []setting.Parent {
	after := o.Config.Settings(target.Environment, target.Application).After
	return o.nearest(after, target.Application, func(parent Target) bool {
		_, present := o.Targets[parent]
		return present
	})
}

// Limits returns what the server file allows for a target of the repository.
type Limits func(Deployment) config.Limit

// Deployment is a target with what rules of the server can apply to. Users who can write to
// the repository choose the names of the target. The branch and the files are what a
// cluster deploys.
type Deployment struct {
	Target Target
	Branch string
	Files  []string // that have, or can get, a version of the target, sorted
}

// Deployment returns a target with its branch and files.
func (o Observation) Deployment(target Target) Deployment {
	d := Deployment{Target: target, Branch: o.DefaultBranch}
	current := o.Targets[target]
	for _, reference := range slices.Concat(current.References, current.Derived) {
		d.Files = append(d.Files, reference.Position.File)
	}
	for _, refusal := range current.Refusals {
		d.Files = append(d.Files, refusal.File)
	}
	if environment, known := o.Config.Environment(target.Environment); known {
		d.Branch = cmp.Or(environment.Branch, d.Branch)
		names := strings.NewReplacer("{environment}", target.Environment, glob.Application, target.Application)
		for _, write := range environment.Write {
			d.Files = append(d.Files, names.Replace(write.File))
		}
	}
	slices.Sort(d.Files)
	d.Files = slices.Compact(d.Files)
	return d
}

// Settings returns an environment as it applies to an application, within the
// limits of the server.
func (o Observation) Settings(environment, application string) config.Environment {
	settings, _ := o.LimitedSettings(environment, application)
	return settings
}

// LimitedSettings also returns conditions that show what the server limited.
func (o *Observation) LimitedSettings(environment, application string) (config.Environment, []Condition) {
	wanted := o.Config.Settings(environment, application)
	if o.Limits == nil {
		return wanted, nil
	}
	settings := o.Limits(o.Deployment(Target{environment, application})).Apply(wanted)
	var shown []Condition
	show := func(key, from, to string) {
		if from != to {
			shown = append(shown, Condition{
				Name: "server limit", State: Passed, Value: key + ": " + to,
				Reason: "the server does not allow " + key + ": " + from,
			})
		}
	}
	show("land", string(wanted.Land), string(settings.Land))
	show("propose", string(wanted.Propose), string(settings.Propose))
	return settings, shown
}

// Landing is a snapshot that is or was in a target. It is read from the trailers
// of a commit on the environment's branch, or from the files if the commit is not
// promoter's.
type Landing struct {
	Commit   string // hex; on the branch
	Number   int    // of the pull request that brought it; 0: unknown
	Snapshot Snapshot
	// Before is what it replaced, of the components that it changed and as far as known.
	Before Snapshot
	// At is the earliest time at which it provably was there: the forge's time of
	// the merge, or when promoter first saw it. Zero: unknown yet.
	At time.Time
	// Until is when another snapshot replaced it; zero: it is there now.
	Until time.Time
	// Checks are the statuses of the commit, if a child environment requires them.
	Checks []Check
	// Reverted is set if a user reverted it, or edited it away.
	Reverted bool
	// Health is what sources reported about it, if the environment is monitored. HealthNote is
	// what the last report is about that does not count; empty: there is none.
	Health     health.State
	HealthNote string
	// Running is what runs in its place, if a source reports that and the versions are known.
	Running *Running
	// First is the oldest commit that has the versions without interruption, as far as that is known: Commit may
	// be a later one, where a user brought it or it was written in another form.
	First string
	// ByUser is set if no commit of promoter brought it.
	ByUser bool
	// Unclear is set if what was there before First is not known, or was no snapshot: nothing older continues it.
	Unclear bool
	// Earlier is set if the same versions were there before, and others in between.
	Earlier bool
}

// Running is what a source reports to run in a target, where that is not what its files have.
type Running struct {
	health.Report
	Versions Snapshot // of the components that differ
	Since    time.Time
}

// Reversion is a version that was in a target and was reverted. It is not proposed
// there again automatically.
type Reversion struct {
	Component string
	Version   image.Version
	Commit    string // that brought it
}
