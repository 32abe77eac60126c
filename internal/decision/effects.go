package decision

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/state"
	"promoter/internal/statebranch"
	"promoter/internal/verb"
)

// rolledBack returns the rollback of the target that is in effect, and text about it. A second one
// would otherwise be relative to the first. When users reject the versions of the first, a
// second one goes further back.
func rolledBack(s state.State, target promotion.Target) (back *state.RolledBack, effects []string) {
	at := state.Target(target)
	if back = s.At(at).Rollback; back == nil {
		return nil, nil
	}
	var versions, reject []string
	for _, component := range slices.Sorted(maps.Keys(back.Images)) {
		to, err := image.Parse(back.Images[component])
		if err != nil {
			return nil, nil // promoter did not write it: a new rollback replaces it
		}
		if _, rejected := s.Rejected(at, to.Repository, to.Version()); rejected {
			return nil, nil
		}
		versions = append(versions, version(component, to))
		reject = append(reject, strings.Replace(version(component, to), " ", ":", 1))
	}
	already := fmt.Sprintf("%s is already rolled back to %s by %s", name(at), strings.Join(versions, ", "), actText(back.Act))
	further := fmt.Sprintf("to go further back, run 'promoter reject %s --env %s%s', and roll back again",
		strings.Join(reject, " "), target.Environment, target.ApplicationFlag())
	return back, []string{already, further}
}

// effects returns what a decision changed, what was in effect before, and what still stops
// its targets.
func effects(d Decision, targets []promotion.Target, images map[string]string, recorded statebranch.Recorded, now time.Time) []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, target := range targets {
		at := state.Target(target)
		before, after := recorded.Before.At(at), recorded.After.At(at)
		switch d.Verb {
		case verb.Hold:
			if before.Hold != nil {
				add("%s is already on hold by %s", name(at), actText(*before.Hold))
			}
		case verb.Freeze:
			switch {
			case before.Freeze == nil:
			case before.Freeze.EndsAt(after.Freeze.Until):
				add("%s is already frozen by %s", name(at), actText(before.Freeze.Act))
			default:
				add("replaced the freeze of %s by %s", name(at), actText(before.Freeze.Act))
			}
		case verb.Promote:
			if before.Request != nil && after.Request.Same(*before.Request) {
				add("%s is already requested by %s", name(at), actText(before.Request.Act))
			}
		case verb.Reject:
			i := slices.IndexFunc(before.Rejections, func(x state.Rejection) bool { return x.Number == 0 && maps.Equal(x.Images, images) })
			if i >= 0 {
				add("%s is already rejected in %s by %s", versionsOf(images), name(at), actText(before.Rejections[i].Act))
			}
		case verb.Thaw:
			if before.Freeze != nil {
				add("ended the freeze of %s by %s", name(at), actText(before.Freeze.Act))
			} else {
				add("%s was not frozen", name(at))
			}
		case verb.Resume:
			ended := endedBy(at, recorded)
			lines = append(lines, ended...)
			if len(ended) == 0 {
				add("%s had no hold, rollback, or failure", name(at))
			}
		case verb.Unreject:
			lines = append(lines, unrejected(at, images, recorded)...)
		}
		if d.Verb == verb.Hold || d.Verb == verb.Freeze {
			continue
		}
		stops := recorded.After.Held
		if slices.Contains(d.Bypass, verb.BypassFreeze) {
			stops = recorded.After.HeldWithoutFreezes
		}
		if held, stopped := stops(at, now); stopped {
			if line := stillHeld(at, held, d.Verb); line != "" {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// endedBy returns what a resume of a target ended, in it and within it.
func endedBy(target state.Target, recorded statebranch.Recorded) []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, at := range recorded.Before.Targets() {
		before, after := recorded.Before.At(at), recorded.After.At(at)
		if !covers(target, at) {
			continue
		}
		if len(before.Failures) > 0 && len(after.Failures) == 0 {
			add("ended the failure of %s", name(at))
		}
		switch {
		case before.Rollback != nil && after.Rollback == nil:
			add("ended the rollback of %s by %s", name(at), actText(before.Rollback.Act))
		case before.Hold != nil && after.Hold == nil:
			add("ended the hold of %s by %s", name(at), actText(*before.Hold))
		}
	}
	return lines
}

// unrejected returns which rejections of versions ended in a target and within it, and which one of
// a wider target stays.
func unrejected(target state.Target, images map[string]string, recorded statebranch.Recorded) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, component := range slices.Sorted(maps.Keys(images)) {
		parsed, err := image.Parse(images[component])
		if err != nil {
			continue
		}
		is := parsed.Version()
		for _, at := range recorded.Before.Targets() {
			was, scope, rejected := recorded.Before.RejectedBy(at, parsed.Repository, is)
			_, _, still := recorded.After.RejectedBy(at, parsed.Repository, is)
			if rejected && !still && scope == at && covers(target, at) {
				add("ended the rejection of %s in %s by %s", version(component, parsed), name(at), actText(was.Act))
			}
		}
		if stays, scope, rejected := recorded.After.RejectedBy(target, parsed.Repository, is); rejected {
			command := "promoter unreject " + strings.Replace(version(component, parsed), " ", ":", 1) + flagsOf(scope)
			add("%s stays rejected in %s, because it is rejected in %s by %s: end that with '%s'",
				version(component, parsed), name(target), name(scope), actText(stays.Act), command)
		}
	}
	if len(lines) == 0 {
		add("%s had no rejection of %s; what users closed or reverted before does not count anymore", name(target), versionsOf(images))
	}
	return lines
}

// flagsOf selects the target whose record has a decision.
func flagsOf(scope state.Target) string {
	flags := ""
	if scope.Environment != state.All {
		flags = " --env " + scope.Environment
	}
	if scope.Application == state.All {
		return flags + " --all"
	}
	return flags + promotion.Target(scope).ApplicationFlag()
}

// stillHeld returns what stops a target after a resume, thaw, request, or rollback.
func stillHeld(target state.Target, held state.Held, what verb.Verb) string {
	command := "promoter resume" + strings.TrimSuffix(flagsOf(held.Target), " --all") // which lists what it would end
	switch {
	case held.Freeze && held.Target.Environment != state.All:
		command = "promoter thaw --env " + held.Target.Environment
	case held.Freeze:
		command = "promoter thaw --all"
	}
	state, end := "on hold", "end it with '"+command+"'"
	if held.Freeze {
		state = "frozen"
	}
	switch {
	case held.Problem != "":
		return name(target) + " is on hold: the record of " + name(held.Target) + " cannot be read: " + held.Problem
	case what == verb.Rollback && !held.Freeze && held.Target == target: // the hold of this rollback
		return ""
	case held.Target == target:
		return fmt.Sprintf("%s is %s by %s: %s", name(target), state, actText(held.Act), end)
	default:
		return fmt.Sprintf("%s stays %s, because %s is %s by %s: %s", name(target), state, name(held.Target), state, actText(held.Act), end)
	}
}

// covers reports whether a target is, or contains, another one.
func covers(wide, target state.Target) bool {
	return (wide.Environment == state.All || wide.Environment == target.Environment) &&
		(wide.Application == state.All || wide.Application == target.Application)
}

// coversAny reports whether one of some targets covers another target.
func coversAny(wide []promotion.Target, target state.Target) bool {
	return slices.ContainsFunc(wide, func(one promotion.Target) bool { return covers(state.Target(one), target) })
}

// name describes a target for users.
func name(target state.Target) string { return promotion.Target(target).Name() }

// versionsOf lists the versions of images by component.
func versionsOf(images map[string]string) string {
	var versions []string
	for _, component := range slices.Sorted(maps.Keys(images)) {
		if parsed, err := image.Parse(images[component]); err == nil {
			versions = append(versions, version(component, parsed))
		}
	}
	return strings.Join(versions, ", ")
}

// version returns a component with its tag, or without one its digest.
func version(component string, r image.Reference) string {
	if r.Tag == "" {
		return component + "@" + r.Digest
	}
	return component + " " + r.Tag
}

// actText names the user of an act, its time, and its reason.
func actText(act state.Act) string {
	text := cmp.Or(act.By.Login, "an unknown user") + " since " + act.At.UTC().Format("2006-01-02 15:04 UTC")
	if act.Reason != "" {
		text += " (" + act.Reason + ")"
	}
	return text
}
