package decision

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/state"
	"promoter/internal/statebranch"
	"promoter/internal/verb"
)

// This file has what administrators do with the state branch of a repository. It is no decision about promotions.

// administer does it.
func administer(
	ctx context.Context, d Decision, r *connect.Repository, opened repository, branch statebranch.Branch, authority Authority,
) (Result, error) {
	everywhere := []promotion.Target{{Environment: state.All, Application: state.All}}
	if !authority.Administers() {
		return Result{}, fault.New(fault.Unauthorized, "%s needs the role admin for the whole repository", d.Verb)
	}
	by, err := authority.Authorize(ctx, everywhere, nil)
	if err != nil {
		return Result{}, err
	}
	result := Result{Repository: r.Name, Key: r.Key(), By: by, Targets: everywhere, DryRun: d.DryRun}
	if d.Verb == verb.AdoptTimes {
		return adopt(ctx, d, opened, branch, result)
	}
	return confirm(ctx, d, branch, result)
}

// confirm confirms a state branch that was deleted or moved back.
func confirm(ctx context.Context, d Decision, branch statebranch.Branch, result Result) (Result, error) {
	result.Subject = state.Subject("Confirm the state of", state.Target(result.Targets[0]).String(), d.Reason)
	confirmed, err := branch.Confirm(ctx, result.Subject)
	if err != nil {
		return Result{}, err
	}
	result.Unchanged = !confirmed
	result.Effects = []string{state.Branch + " is confirmed as it is now; nothing else changed"}
	if !confirmed {
		result.Effects = []string{state.Branch + " was not deleted or moved back: there is nothing to confirm"}
	}
	return result, nil
}

// adopt lets the times count that were recorded before the first seal, as far as nothing proves them to be wrong.
func adopt(ctx context.Context, d Decision, r repository, branch statebranch.Branch, result Result) (Result, error) {
	result.Subject = state.Subject("Adopt times of", state.Target(result.Targets[0]).String(), d.Reason)
	if !statebranch.Authenticates(r.workspace.Reconciler.Clients.Seals) {
		return Result{}, fault.New(fault.Unauthorized, "there is no key, so that all times on %s count: "+
			"set seal.keys in the server file, or PROMOTER_SEAL_KEY", state.Branch)
	}
	past, err := r.workspace.Reconciler.Past(ctx)
	if err != nil {
		return Result{}, err
	}
	var targets []promotion.Target
	var changes []state.Change
	kept := 0
	for _, at := range past.Observation().State.SetAside() {
		times, err := past.Unsealed(ctx, promotion.Target(at))
		if err != nil {
			return Result{}, err
		}
		var adopted []state.Seen
		for _, one := range times {
			if one.Refused == "" {
				adopted = append(adopted, one.Seen)
			}
			result.Effects = append(result.Effects, timeText(promotion.Target(at), one))
		}
		versions, texts := availableTimes(past.Observation().State, at, r.workspace.Reconciler.Clients.Now())
		result.Effects = append(result.Effects, texts...)
		kept += len(adopted) + len(versions)
		targets = append(targets, promotion.Target(at))
		changes = append(changes, state.Adopt(at, adopted), state.AdoptVersions(at, versions))
	}
	if len(targets) == 0 {
		result.Unchanged = true
		result.Effects = []string{"there is nothing to adopt: no time was recorded before the first seal of " + state.Branch}
		return result, nil
	}
	result.Targets = targets
	by := "By " + cmp.Or(result.By.Login, "an unknown user")
	message := result.Subject + "\n\n" + strings.Join(append([]string{by + ":"}, result.Effects...), "\n")
	recorded, err := branch.Record(ctx, message, changes...)
	result.Unchanged = !recorded.Differs
	if err == nil && kept == 0 {
		result.Effects = append(result.Effects, "nothing was adopted")
	}
	return result, err
}

// availableTimes returns the versions of a target whose first availability was recorded before the first seal and may count,
// and describes all of them. Neither Git nor a registry shows when a version was first available, so only a time in the future is
// refused.
func availableTimes(recorded state.State, at state.Target, now time.Time) (adopted []state.Version, texts []string) {
	for _, one := range recorded.At(at).UnsealedVersions {
		named := version(one.Component, image.Reference{Tag: one.Tag, Digest: one.Digest})
		text := fmt.Sprintf("%s: %s first available %s", promotion.Target(at).Name(), named, promotion.Moment(one.At))
		counts, known := recorded.AvailableSince(at, one)
		switch {
		case one.At.After(now):
			text += " is not adopted: it is in the future"
		case known && !one.At.Before(counts):
			text += " is not adopted: an earlier time counts"
		default:
			adopted = append(adopted, one)
		}
		texts = append(texts, text)
	}
	return adopted, texts
}

// timeText describes a time for users.
func timeText(target promotion.Target, of landing.Unsealed) string {
	var versions []string
	for _, component := range of.Snapshot.Components() {
		pinned := of.Snapshot[component]
		versions = append(versions, version(component, image.Reference{Tag: pinned.Version.Tag, Digest: pinned.Version.Digest}))
	}
	what := cmp.Or(strings.Join(versions, ", "), "unknown versions")
	text := fmt.Sprintf("%s: %s since %s", target.Name(), what, promotion.Moment(of.At))
	if of.Refused != "" {
		text += " is not adopted: " + of.Refused
	}
	return text
}
