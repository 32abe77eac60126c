package promotion

import (
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/state"
)

// Resolve returns the version of a reference in a target with the digest that its tag has there, if it names none: the one with
// which it landed, else the one that promoter first observed there, else the one that the tag has now. It is empty where none is
// known. Tag and digest of one image in two files are one version.
func (o *Observation) Resolve(target Target, r edit.Reference) image.Version {
	version := r.Version()
	if version.Digest != "" || version.Tag == "" {
		return version
	}
	if landings := o.Landings[target]; len(landings) > 0 {
		landed := landings[0].Snapshot[r.Component]
		if landed.Repository == r.Repository && landed.Version.Tag == version.Tag && landed.Version.Digest != "" {
			version.Digest = landed.Version.Digest
			return version
		}
	}
	if digest, known := o.State.ObservedDigest(state.Target(target), r.Repository.String(), r.Tag); known {
		version.Digest = digest
		return version
	}
	facts := o.Facts
	if own, known := o.FactsOf[target.Application]; known {
		facts = own
	}
	version.Digest = facts[Fact{Repository: r.Repository, Tag: r.Tag}].Digest
	return version
}

// Agree reports whether versions are the same rollout.
func Agree(versions []image.Version) bool {
	for i := range versions {
		for j := range versions[:i] {
			if !SameRollout(versions[i], versions[j]) {
				return false
			}
		}
	}
	return true
}
