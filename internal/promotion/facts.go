package promotion

import (
	"slices"

	"promoter/internal/config/trust"
	"promoter/internal/edit"
	"promoter/internal/image"
)

// Current is what the files of one target say.
type Current struct {
	References []edit.Reference
	// Derived are places that have only what was made of the version that References of the same component have.
	Derived  []edit.Reference
	Refusals []edit.Refusal // files that may have a reference and cannot be written
	Holds    []edit.Hold    // what the files have for the key of gates.hold
	Foreign  []edit.Foreign // references that stay, because they are of other lines of versions
	Mentions edit.Mentions  // names of followed repositories that nothing edits, which are only shown
}

// HasForeign reports whether a reference that names a component is of another line of versions.
func (c Current) HasForeign(component string) bool {
	return slices.ContainsFunc(c.Foreign, func(f edit.Foreign) bool { return f.Component == component })
}

// RewritesForm reports whether the files of a target have another form than pin requires.
func (c Current) RewritesForm() bool {
	return slices.ContainsFunc(c.References, func(r edit.Reference) bool { return r.Form != edit.Form{} })
}

// HoldsOf returns what the files that reference a component have for the key of gates.hold.
func (c Current) HoldsOf(component string) []edit.Hold {
	return slices.DeleteFunc(slices.Clone(c.Holds), func(h edit.Hold) bool {
		here := func(r edit.Reference) bool { return r.Component == component && r.Position.File == h.File }
		return !slices.ContainsFunc(c.References, here) && !slices.ContainsFunc(c.Derived, here)
	})
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
	// Spellings are other tags of the version, with and without a leading v, and the same digest.
	Spellings []string
	// Note is what users should know about the selection. It is only shown.
	Note string
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

// IsMissing reports whether the registry has no such version.
func IsMissing(fact image.Version) bool { return fact.Digest == "" && fact.Created.IsZero() }

// Complete adds what registries reported to the version of a reference.
func (f Facts) Complete(r edit.Reference) image.Version {
	version := f[Fact{Repository: r.Repository, Tag: r.Tag, Digest: r.Digest}]
	version.Tag = r.Tag
	if r.Digest != "" {
		version.Digest = r.Digest
	}
	return version
}

// Describe adds what registries reported about a version, except its digest: a tag
// may point elsewhere by now.
func (f Facts) Describe(repository image.Repository, v image.Version) image.Version {
	fact, known := f[Fact{Repository: repository, Tag: v.Tag, Digest: v.Digest}]
	if byTag := f[Fact{Repository: repository, Tag: v.Tag}]; !known && v.Tag != "" && byTag.Digest == v.Digest {
		fact, known = byTag, true // it still points there
	}
	if !known || v.Digest == "" {
		return v
	}
	fact.Tag, fact.Digest = v.Tag, v.Digest
	return fact
}

// Only returns what a lookup asked for. The answer may be for several lookups.
func (l Lookup) Only(answer image.Version) image.Version {
	if l.Release != "" {
		return answer
	}
	if len(l.Verify) == 0 {
		answer.Signature = image.Signature{}
	}
	if !l.Created {
		answer = image.Version{Tag: answer.Tag, Digest: answer.Digest, Signature: answer.Signature}
	}
	return answer
}

// Lookup is something that only a registry knows about a version.
type Lookup struct {
	Fact
	Component string // one that needs it
	Created   bool   // the date is needed too, not only the digest
	// Verify is what signatures must prove about the version.
	Verify []trust.Requirement
}
