package decision

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/state"
)

// rollback returns the earlier state of a target that is restored, and what users should know
// about its images.
func rollback(ctx context.Context, d Decision, r repository, target promotion.Target) (back state.RolledBack, notes []string, err error) {
	earlier, observed, err := r.workspace.Reconciler.Before(ctx, target, d.To)
	if err != nil {
		return back, nil, err
	}
	back = state.RolledBack{Images: map[string]string{}, Commit: earlier.Commit}
	for _, component := range earlier.Snapshot.Components() {
		pinned := earlier.Snapshot[component]
		var note string
		pinned.Version, note, err = r.verifyImage(ctx, observed, target, component, pinned)
		if err != nil {
			return back, nil, err
		}
		back.Images[component] = pinned.Reference()
		if note != "" {
			notes = append(notes, note)
		}
	}
	return back, notes, nil
}

// verifyImage compares an image to restore with the registry. A registry that does not answer
// prevents no rollback: the next reconciliation verifies the image again.
func (r repository) verifyImage(
	ctx context.Context, o promotion.Observation, target promotion.Target, component string, pinned promotion.Pinned,
) (v image.Version, note string, err error) {
	v = pinned.Version
	name := component + " " + promotion.Label(v)
	was := promotion.ShortDigest(v.Digest)
	resolve := func(tag, digest string) (found image.Version, known bool) {
		fact := promotion.Fact{Repository: pinned.Repository, Tag: tag, Digest: digest}
		found, err := r.workspace.Reconciler.Clients.Registries.Resolve(ctx, promotion.Lookup{Fact: fact, Component: component})
		return found, err == nil
	}
	moving := false
	if policy := o.Policies[component]; policy != nil {
		_, moving = policy.Moving()
	}
	if v.Digest != "" {
		if found, known := resolve("", v.Digest); known && found.Digest == "" {
			return v, "", fault.New(fault.NotFound, "%s: the registry no longer has %s", name, v.Digest)
		}
	}
	if v.Tag == "" || moving && v.Digest != "" {
		return v, "", nil
	}
	if moving {
		return v, "", fault.New(fault.Invalid, "%s: the tag moves and the files had no digest, so it is unknown which image ran", name)
	}
	now, known := resolve(v.Tag, "")
	points := promotion.ShortDigest(now.Digest)
	byTag := slices.ContainsFunc(o.Targets[target].References, func(r edit.Reference) bool {
		return r.Component == component && r.Digest == "" && !r.Form.Digest
	})
	switch {
	case !known || now.Digest == v.Digest:
		return v, "", nil
	case v.Digest == "" && now.Digest == "":
		return v, "", fault.New(fault.NotFound, "%s: the registry no longer has this tag", name)
	case v.Digest == "":
		v.Digest = now.Digest
		return v, fmt.Sprintf("%s was written without a digest: it is restored as the tag is now, %s", name, points), nil
	case byTag:
		const problem = "%s: tag moved: it now points to %s instead of %s, and the files have no digest: " +
			"write %s to them yourself, or set pin: tag+digest"
		return v, "", fault.New(fault.Invalid, problem, name, points, was, pinned.Reference())
	default:
		return v, fmt.Sprintf("%s: tag moved: it now points to %s; the digest that was there is restored, %s",
			name, cmp.Or(points, "nothing"), was), nil
	}
}
