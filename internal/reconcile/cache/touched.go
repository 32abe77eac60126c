package cache

import (
	"maps"
	"reflect"
	"slices"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/state"
)

// Written returns the targets that the new commits of a branch name or touch, also those whose files have the same
// as before: those above the known commit. It returns false if they cannot be read back to it.
type Written func(branch, known string) ([]promotion.Target, bool)

// Touched returns the applications that something touched since the entry. It returns false if it may be
// all of them.
func (e *Entry) Touched(now Read, changed Changed, written Written) (touched map[string]bool, partial bool) {
	before, o := e.read.Promotion, now.Promotion
	if !sameConfig(before.Config, o.Config) || before.DefaultBranch != o.DefaultBranch || before.PushOnly != o.PushOnly {
		return nil, false
	}
	touched = map[string]bool{}
	for application, reads := range e.decided.Reads {
		if reads.ChangesUnseen() {
			touched[application] = true
		}
	}

	touchFiles(touched, before.Targets, o.Targets)
	for _, target := range o.State.Changed(before.State) {
		touched[target.Application] = true
	}

	// A branch of promoter came, is there, or is gone.
	for _, branches := range []map[string]bool{now.Ours, e.read.Ours} {
		for branch := range branches {
			target, _ := promotion.ParseHead(branch)
			touched[target.Application] = true
		}
	}

	for branch := range o.EnvironmentsByBranch() {
		targets, known := written(branch, e.read.Heads[branch])
		if !known {
			return nil, false
		}
		for _, target := range targets {
			touched[target.Application] = true
		}
	}
	if changed.Image != nil {
		e.touchImages(touched, changed.Image)
	}

	// A record or a branch of a whole environment concerns each of its applications.
	if touched[state.All] {
		return nil, false
	}
	return touched, true
}

// touchFiles adds the applications whose files differ.
func touchFiles(touched map[string]bool, before, now map[promotion.Target]promotion.Current) {
	if reflect.ValueOf(before).Pointer() == reflect.ValueOf(now).Pointer() {
		return // the same scan
	}
	for target, current := range now {
		if was, known := before[target]; !known || !SameFiles(was, current) {
			touched[target.Application] = true
		}
	}
	for target := range before {
		if _, exists := now[target]; !exists {
			touched[target.Application] = true
		}
	}
}

// sameConfig reports whether two configs are from the same file, and the files that it names.
func sameConfig(a, b *config.Config) bool {
	same := func(a, b config.Component) bool { return reflect.DeepEqual(a.Verify, b.Verify) }
	return a.Fingerprint() == b.Fingerprint() && slices.EqualFunc(a.Components, b.Components, same)
}

// SameFiles reports whether two scans found the same in the files of a target. What did not
// change is shared by them.
func SameFiles(a, b promotion.Current) bool {
	if !sameList(a.Mentions.Listed, b.Mentions.Listed) || a.Mentions.More != b.Mentions.More {
		return false
	}
	return sameList(a.References, b.References) && sameList(a.Derived, b.Derived) &&
		sameList(a.Refusals, b.Refusals) && sameList(a.Holds, b.Holds) && sameList(a.Foreign, b.Foreign)
}

// sameList reports whether two lists are the same one, or equal.
func sameList[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || reflect.DeepEqual(a, b))
}

// touchImages adds the applications whose files refer to changed images. Of those whose files changed
// since, they are added anyway.
func (e *Entry) touchImages(touched map[string]bool, changed func(image.Repository) bool) {
	for repository, applications := range e.images {
		if changed(repository) {
			maps.Copy(touched, applications)
		}
	}
}

// imagesIn returns the applications whose files refer to each image, or to a mirror of it. Where the
// touched applications refer to the same ones as before, so do all.
func imagesIn(o promotion.Observation, before *Entry) map[image.Repository]map[string]bool {
	same := before != nil
	for target := range o.Selected() {
		same = same && sameImages(before.read.Promotion.Targets[target], o.Targets[target])
	}
	if same {
		return before.images
	}
	images := map[image.Repository]map[string]bool{}
	add := func(r image.Repository, application string) {
		if r.IsZero() {
			return
		}
		if images[r] == nil {
			images[r] = map[string]bool{}
		}
		images[r][application] = true
	}
	for target, current := range o.Targets {
		for i := range current.References {
			add(current.References[i].Repository, target.Application)
			add(current.References[i].Mirror, target.Application)
		}
	}
	return images
}

// sameImages reports whether the files of a target refer to the same images as before.
func sameImages(a, b promotion.Current) bool {
	same := func(a, b edit.Reference) bool { return a.Repository == b.Repository && a.Mirror == b.Mirror }
	return slices.EqualFunc(a.References, b.References, same)
}
