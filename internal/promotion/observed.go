package promotion

import (
	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/state"
)

// Observation is everything that Plan looks at. It is read only.
type Observation struct {
	Config *config.Config

	// Environments are those to decide about, parents first; none: all of them.
	// The others are only looked at.
	Environments []string

	// Targets holds what the files say. An application that has no files in an
	// environment has no entry for it.
	Targets map[Target]Current

	// Unavailable names the environments whose branch is not at hand, and why.
	Unavailable map[string]string

	// Available holds what the registries answered, by component. A component
	// without an entry was not asked about and stays as it is.
	Available map[string]Available

	// Policies orders the versions of each component that files refer to.
	Policies map[string]*image.Policy

	// Facts is what registries told about versions that stand in files.
	Facts Facts

	// Requested names the environments that a person asked for by name: a manual
	// one goes on, and given versions go straight into them.
	Requested map[string]bool

	// State is what people decided, from the branch promoter/_state.
	State state.State

	// Landings are the snapshots that stood in a place, newest first. The first is
	// the present one: it equals what the files say.
	Landings map[Target][]Landing

	// Reverted are versions that people took back in a place.
	Reverted map[Target][]Reversion

	// Open are the open pull requests of our branches, by branch.
	Open map[string]Open

	// Protected is what the forge asks itself on the branches where that was asked,
	// by the branch as environments name it.
	Protected map[string]Protection

	// Limits are the limits of the server's file; nil: none. They stand above every
	// config file.
	Limits Limits

	// PushOnly says that the repository lies on plain Git, which has no pull
	// requests.
	PushOnly bool

	// Explicit are versions that a request names for a place, by component.
	Explicit map[Target]map[string]Available

	// Checkout says that no forge, no evidence and no record of landings is at
	// hand. What cannot be evaluated is then named, and does not block.
	Checkout bool
}

// Current is what the files of one place say.
type Current struct {
	References []edit.Reference
	Refusals   []edit.Refusal // files that may hold a reference and cannot be written
}

// Available is what a registry, or a person, offers for a component.
type Available struct {
	Version  image.Version
	Found    bool          // Version is set
	Explicit bool          // a person named the version: no order is asked
	Reason   string        // why nothing is offered, when Found is false
	Held     []HeldVersion // newer versions that may not be taken yet
	Err      error         // the registry did not answer
}

// Scope returns the environments to decide about, parents first.
func (o Observation) Scope() []string {
	if len(o.Environments) > 0 {
		return o.Environments
	}
	return o.Config.Order()
}

// needsDigest says whether a tag alone is not enough in the files: the tag moves,
// or a person named a digest.
func (o Available) needsDigest(policy *image.Policy) bool {
	if o.Explicit {
		return o.Version.Digest != ""
	}
	return isMoving(policy)
}

// HeldVersion is a version that is newer than what is offered and may not be taken
// yet, as a condition of its component.
type HeldVersion struct {
	Version   image.Version
	Condition Condition
}

// Facts answers what a registry told about a version that stands in a file. The
// zero version says that the registry has none such.
type Facts map[Fact]image.Version

// Fact is the question: a repository with a tag, a digest or both.
type Fact struct {
	Repository  image.Repository
	Tag, Digest string
}

// isMissing says whether a fact is that there is no such version.
func isMissing(fact image.Version) bool { return fact.Digest == "" && fact.Created.IsZero() }

// known completes the version of a reference by what the registry told of it.
// What stands in the file is kept as it is.
func (f Facts) known(r edit.Reference) image.Version {
	version := f[Fact{Repository: r.Repository, Tag: r.Tag, Digest: r.Digest}]
	version.Tag = r.Tag
	if r.Digest != "" {
		version.Digest = r.Digest
	}
	return version
}
