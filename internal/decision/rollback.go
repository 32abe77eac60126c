package decision

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/reconcile"
	"promoter/internal/state"
)

// rollbacks returns the changes for rollbacks of several targets, or of one. Of several, one that has no earlier
// versions is left as it is and reported.
func rollbacks(
	ctx context.Context, d Decision, r repository, all []promotion.Target, authority Authority, result Result, act state.Act,
) (changes []state.Change, done Result, err error) {
	if len(all) == 1 {
		return rollback(ctx, d, r, all[0], authority, result, act)
	}
	done = result
	done.Targets = nil
	for _, target := range all {
		made, one, err := rollback(ctx, d, r, target, authority, Result{Targets: []promotion.Target{target}}, act)
		switch kind := fault.KindOf(err); {
		case kind == fault.NotFound || kind == fault.Invalid:
			done.Effects = append(done.Effects, target.Name()+" stays as it is: "+err.Error())
			continue
		case err != nil:
			return nil, result, err
		case len(made) > 0:
			done.Targets = append(done.Targets, one.Targets...)
		}
		if len(one.Images) > 0 {
			done.Effects = append(done.Effects, target.Name()+" returns to "+versionsOf(one.Images))
		}
		changes, done.Effects = append(changes, made...), append(done.Effects, one.Effects...)
		done.Downstream = append(done.Downstream, one.Downstream...)
	}
	done.Subject = subject(d, done.Targets)
	return changes, done, nil
}

// rollback returns the changes of the state for a rollback, with the result as far as it is known before they
// are recorded; none: it is in effect. All of them are recorded in one commit, so that none is lost between them.
func rollback(
	ctx context.Context, d Decision, r repository, source promotion.Target, authority Authority, result Result, act state.Act,
) (changes []state.Change, done Result, err error) {
	past, err := r.workspace.Reconciler.Past(ctx)
	if err != nil {
		return nil, result, err
	}
	var inEffect *state.RolledBack // it gets the bypass
	if d.To == "" {
		inEffect, result.Effects = rolledBack(past.Observation().State, source)
	}
	if inEffect == nil || len(d.Bypass) > 0 && !slices.Equal(d.Bypass, inEffect.Bypass) {
		var back state.RolledBack
		if inEffect != nil {
			back, result.Effects = *inEffect, nil
		} else if back, result.Effects, err = r.rollbackOf(ctx, past, source, d.To, act); err != nil {
			return nil, result, err
		}
		back.Act, back.Bypass = act, d.Bypass
		back.Automatic = false
		result.Images = back.Images
		changes = append(changes, state.Rollback(state.Target(source), back))
		past = past.With(changes...)
	}
	recorded := len(changes) > 0
	result.Downstream = downstream(past.Observation(), r, source)
	if d.Downstream && len(result.Downstream) > 0 {
		more, err := r.rollbackDownstream(ctx, past, authority, result.Downstream, act)
		if err != nil {
			return nil, result, err
		}
		result.Subject = subjectWith(d, source, result.Downstream)
		changes, result.Targets = slices.Concat(more, changes), nil
		for _, one := range result.Downstream {
			result.Targets = append(result.Targets, one.Target)
		}
		if recorded {
			result.Targets = append(result.Targets, source)
		}
	}
	result.Effects = append(result.Effects, downstreamTexts(result.Downstream)...)
	return changes, result, nil
}

// rollbackOf returns the rollback of a target, and what users should know about its images.
func (r repository) rollbackOf(
	ctx context.Context, past reconcile.Past, target promotion.Target, to string, act state.Act,
) (back state.RolledBack, notes []string, err error) {
	earlier, err := past.Before(ctx, target, to)
	if err != nil {
		return back, nil, err
	}
	back = state.RolledBack{Act: act, Images: map[string]string{}, From: earlier.Left, Commit: earlier.Commit}
	for _, component := range earlier.Snapshot.Components() {
		pinned := earlier.Snapshot[component]
		var note string
		pinned.Version, note, err = r.verifyImage(ctx, past.Observation(), target, component, pinned)
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

// downstream returns the targets that have what a target is leaving, the farthest first, as far as the user may
// know them. One that is leaving the same versions already is not among them.
func downstream(o promotion.Observation, r repository, source promotion.Target) []Downstream {
	back := o.State.At(state.Target(source)).Rollback
	if back == nil {
		return nil
	}
	var found []Downstream
	for _, one := range o.Descendants(source, state.Leaving{Act: back.Act, From: back.From}) {
		if r.covers(one.Target) && !leavesAll(o.State.At(state.Target(one.Target)).Leaving(), one.Images) {
			command := "promoter rollback --env " + one.Environment + one.ApplicationFlag()
			found = append(found, Downstream{Target: one.Target, Images: one.Images, Command: command})
		}
	}
	return found
}

// leavesAll reports whether a target is leaving all of the images.
func leavesAll(leaving []state.Leaving, images map[string]string) bool {
	for _, text := range images {
		has, err := image.Parse(text)
		left := func(l state.Leaving) bool {
			return l.Covers(has.Repository, has.Version())
		}
		if err != nil || !slices.ContainsFunc(leaving, left) {
			return false
		}
	}
	return true
}

// rollbackDownstream returns the rollbacks of targets downstream, and fills in to which versions they return.
// The user needs the permission for each, and each needs versions to return to: otherwise nothing is recorded.
func (r repository) rollbackDownstream(
	ctx context.Context, past reconcile.Past, authority Authority, all []Downstream, act state.Act,
) (changes []state.Change, err error) {
	for i := range all {
		one := &all[i]
		_, err := authority.Authorize(ctx, []promotion.Target{one.Target}, func(context.Context) ([]promotion.Deployment, error) {
			return []promotion.Deployment{past.Observation().Deployment(one.Target)}, nil
		})
		if err != nil {
			return nil, fmt.Errorf("roll back %s downstream: %w", one.Name(), err)
		}
	}
	for i := range all {
		one := &all[i]
		back, notes, err := r.rollbackOf(ctx, past, one.Target, "", act)
		if err != nil {
			return nil, fmt.Errorf("roll back %s downstream: %w", one.Name(), err)
		}
		one.To, one.notes = back.Images, notes
		one.Command = ""
		changes = append(changes, state.Rollback(state.Target(one.Target), back))
	}
	return changes, nil
}

// downstreamTexts describes the targets downstream that have what is left.
func downstreamTexts(all []Downstream) (lines []string) {
	for _, one := range all {
		if one.Command == "" {
			const too = "%s has %s and is rolled back too, to %s"
			lines = append(lines, fmt.Sprintf(too, one.Name(), versionsOf(one.Images), versionsOf(one.To)))
			lines = append(lines, one.notes...)
			continue
		}
		lines = append(lines, fmt.Sprintf("%s has %s and keeps it: '%s' rolls it back", one.Name(), versionsOf(one.Images), one.Command))
	}
	return lines
}

// subjectWith is the subject of the commit of a rollback with targets downstream.
func subjectWith(d Decision, source promotion.Target, all []Downstream) string {
	var names []string
	for _, one := range all {
		names = append(names, one.Environment)
	}
	return state.Subject(d.Verb.Title(), source.Name()+" and downstream in "+strings.Join(names, ", "), d.Reason)
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
