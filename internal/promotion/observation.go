package promotion

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/glob"
	"promoter/internal/health"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/state"
)

// Observation is everything that Plan reads.
type Observation struct {
	Config *config.Config

	// Environments are those to decide about, parents first; none: all of them.
	Environments []string

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
	Verify map[string][]config.Verify

	// Facts is what registries reported about versions in files.
	Facts Facts

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

	// Bypasses are what the request of a target may bypass. Nil: nothing.
	Bypasses map[Target]Bypass

	// Checkout is set if there is no forge, and no history of landings.
	// What cannot be evaluated is then shown. It blocks unless the environment is
	// among those in Requested.
	Checkout bool
}

// Bypass is which conditions and gates a request for a target may bypass: what its user is
// permitted to now. The state branch alone grants nothing.
type Bypass struct {
	By      identity.User
	At      time.Time         // of the request
	Refused map[string]string // why not, by condition; those that are not listed are permitted
}

// Scope returns the environments to decide about, parents first.
func (o Observation) Scope() []string {
	if len(o.Environments) > 0 {
		return o.Environments
	}
	return o.Config.Order()
}

// Sources returns the targets behind a parent environment that the snapshot of an
// application comes from. A parent without the application is skipped; its own
// parents are used.
func (o *Observation) Sources(parent, application string) []Target {
	target := Target{parent, application}
	_, exists := o.Targets[target]
	_, unavailable := o.Unavailable[parent]
	if exists || unavailable {
		return []Target{target}
	}
	return o.sourcesOf(o.Config.Settings(parent, application).After, application)
}

// sourcesOf returns the sources behind several parents, each once, by environment.
// The recursion ends because the config has no cycles.
func (o *Observation) sourcesOf(parents []config.Parent, application string) []Target {
	var found []Target
	for _, parent := range parents {
		found = append(found, o.Sources(parent.Environment, application)...)
	}
	slices.SortFunc(found, Target.Compare)
	return slices.Compact(found)
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
func (o Observation) ParentsOf(target Target) []config.Parent {
	var parents []config.Parent
	for _, parent := range o.Config.Settings(target.Environment, target.Application).After {
		at := Target{Environment: parent.Environment, Application: target.Application}
		if _, present := o.Targets[at]; present {
			parents = append(parents, parent)
		} else {
			parents = append(parents, o.ParentsOf(at)...)
		}
	}
	return parents
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
	for _, reference := range current.References {
		d.Files = append(d.Files, reference.Position.File)
	}
	for _, refusal := range current.Refusals {
		d.Files = append(d.Files, refusal.File)
	}
	if environment, known := o.Config.Environment(target.Environment); known {
		d.Branch = cmp.Or(environment.Branch, d.Branch)
		for _, write := range environment.Write {
			d.Files = append(d.Files, strings.NewReplacer("{environment}", target.Environment, glob.Application, target.Application).Replace(write.File))
		}
	}
	slices.Sort(d.Files)
	d.Files = slices.Compact(d.Files)
	return d
}

// Settings returns an environment as it applies to an application, within the
// limits of the server.
func (o Observation) Settings(environment, application string) config.Environment {
	settings, _ := o.settings(environment, application)
	return settings
}

// settings also returns conditions that show what the server limited.
func (o *Observation) settings(environment, application string) (config.Environment, []Condition) {
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

// Current is what the files of one target say.
type Current struct {
	References []edit.Reference
	Refusals   []edit.Refusal // files that may have a reference and cannot be written
	Holds      []edit.Hold    // files that users do not want to be written
}

// Available is the version of a component that a registry has, or a user named.
type Available struct {
	Version  image.Version
	Found    bool          // Version is set
	Explicit bool          // a user named the version: the order does not count
	Reason   string        // why there is none, if Found is false
	Held     []HeldVersion // newer versions that may not be selected yet
	Err      error         // the registry did not answer
	// NotSelected are newer versions that the policy does not select. They are only shown,
	// and known only where a user asks.
	NotSelected []image.NotSelected
}

// HeldVersion is a newer version that may not be selected yet, with the condition
// that shows why.
type HeldVersion struct {
	Version   image.Version
	Condition Condition
}

// Facts is what registries reported about versions. The zero version means that
// the registry has no such version.
type Facts map[Fact]image.Version

// Fact identifies a version: a repository with a tag, a digest, or both.
type Fact struct {
	Repository  image.Repository
	Tag, Digest string
	// Release is the source whose releases are asked for the tag, instead of the registry.
	Release string
}

// isMissing reports whether the registry has no such version.
func isMissing(fact image.Version) bool { return fact.Digest == "" && fact.Created.IsZero() }

// complete adds what registries reported to the version of a reference.
func (f Facts) complete(r edit.Reference) image.Version {
	version := f[Fact{Repository: r.Repository, Tag: r.Tag, Digest: r.Digest}]
	version.Tag = r.Tag
	if r.Digest != "" {
		version.Digest = r.Digest
	}
	return version
}

// describe adds what registries reported about a version, except its digest: a tag
// may point elsewhere by now.
func (f Facts) describe(repository image.Repository, v image.Version) image.Version {
	fact, known := f[Fact{Repository: repository, Tag: v.Tag, Digest: v.Digest}]
	if !known || v.Digest == "" {
		return v
	}
	fact.Tag, fact.Digest = v.Tag, v.Digest
	return fact
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
	// First is the oldest commit that has the snapshot without interruption, if the
	// environment is monitored: Commit may be a later one, where a user brought it.
	First string
}

// Running is what a source reports to run in a target, where that is not what its files have.
type Running struct {
	health.Report
	Versions Snapshot // of the components that differ
	Since    time.Time
}

// Check is what one status or check run reported about a commit.
type Check struct {
	Name  string
	State ConditionState
	At    time.Time
	// Sources are the results by the app that reported them, see scm.Check.
	Sources map[string]ConditionState
}

// Reversion is a version that was in a target and was reverted. It is not proposed
// there again automatically.
type Reversion struct {
	Component string
	Version   image.Version
	Commit    string // that brought it
}

// Open is an open pull request of promoter, or one of a user that occupies
// promoter's branch.
type Open struct {
	Number    int
	URL       string
	Head      string              // branch
	Commit    string              // of the head, hex
	Snapshots map[string]Snapshot // by application, from the trailers of the head commit
	Foreign   string              // why promoter must not touch it, such as a commit of a user
	Opened    time.Time
	Draft     bool
	Checks    []Check // on the head, without promoter's own
	Blind     bool    // the credential cannot read all checks
	// Approvals are those that count: of the current head, by users with permission,
	// each once.
	Approvals []Approval
	// Votes are the approvals as a forge counts them, and Void those that do not
	// count anywhere.
	Votes []Vote
	Void  []Void
	// Objections are the users who requested changes on the current head.
	Objections []string
	// Changed is when something was last pushed to the head or said on it.
	Changed time.Time
	// Refused is set if the forge refused to merge this head, and nothing happened on
	// it since.
	Refused *Refusal
}

// Approval is one approval of a pull request that may count for the config.
type Approval struct {
	By    string // login
	Teams []string
	At    time.Time
}

// Vote is an approval of a user with write access who did not open the pull
// request.
type Vote struct {
	By      string // login
	Current bool   // it is for the current head
}

// Void is an approval that does not count for the config.
type Void struct {
	By, Why string
	Own     bool // of promoter's own account: it does not count for the forge either
}

// Followed is a component as the files refer to it: one that a pattern matched has
// a name of its own.
type Followed struct {
	Name       string
	Repository image.Repository
	Component  config.Component
}

// FollowedIn returns the components that the files of the selected targets refer
// to, each once and sorted by name.
func FollowedIn(c *config.Config, targets map[Target]Current, selected func(Target) bool) []Followed {
	seen := map[string]Followed{}
	for target, current := range targets {
		if !selected(target) {
			continue
		}
		for _, r := range current.References {
			if _, known := seen[r.Component]; known {
				continue
			}
			if match, ok := c.Follow(target.Environment, target.Application, r.Repository); ok {
				component, _ := c.Component(match.Component)
				seen[r.Component] = Followed{r.Component, r.Repository, component}
			}
		}
	}
	return slices.SortedFunc(maps.Values(seen), func(a, b Followed) int { return cmp.Compare(a.Name, b.Name) })
}

// Policies returns the policies that order the versions of each component that the
// files refer to.
func Policies(c *config.Config, targets map[Target]Current) map[string]*image.Policy {
	policies := map[string]*image.Policy{}
	for _, f := range FollowedIn(c, targets, func(Target) bool { return true }) {
		policies[f.Name] = c.Policy(f.Component.Name)
	}
	return policies
}

// Verifications returns what signatures must prove about the versions of each component that
// the files refer to: what the config requires, and what the server does. Nil: nothing.
func Verifications(c *config.Config, targets map[Target]Current, server func(image.Repository) []config.Verify) map[string][]config.Verify {
	required := map[string][]config.Verify{}
	for _, f := range FollowedIn(c, targets, func(Target) bool { return true }) {
		if f.Component.Verify != nil {
			required[f.Name] = append(required[f.Name], *f.Component.Verify)
		}
		if server != nil {
			required[f.Name] = append(required[f.Name], server(f.Repository)...)
		}
	}
	return required
}
