package promotion

import (
	"slices"

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

// Agree reports whether versions are the same rollout, each with each other one. Of those with a digest, and of those
// without, one stands for all, because files may have any number.
func Agree(versions []image.Version) bool {
	var named, tagged *image.Version // with a digest, and without
	for i := range versions {
		group := &named
		if versions[i].Digest == "" {
			group = &tagged
		}
		if *group != nil && !SameRollout(**group, versions[i]) {
			return false
		}
		*group = &versions[i]
	}
	return tagged == nil || !slices.ContainsFunc(versions, func(v image.Version) bool { return v.Digest != "" && !SameRollout(*tagged, v) })
}
