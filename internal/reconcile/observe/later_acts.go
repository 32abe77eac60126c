package observe

import (
	"context"
	"fmt"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// endOverruled ends closes, and reverts by a branch that was moved back, that users overruled since: they
// reopened the pull request, merged it, or wrote the versions by hand. The files prove the latter two, for any
// author. What users rejected explicitly stays.
func endOverruled(ctx context.Context, c Clients, history landing.Reader, o Observation, failures *repo.Collector) (Observation, error) {
	reopened := reopenings{c: c, o: o, own: ownPullRequests(o), last: map[int]scm.TimelineEvent{}}
	for _, target := range o.Promotion.State.Rejecting() {
		for _, rejection := range o.Promotion.State.At(target).Rejections {
			if !rejection.EndsByLaterActs(target) {
				continue
			}
			ended, branch, err := reopened.allow(ctx, promotion.Target(target), rejection, failures)
			if err := failures.SkipBranch(ctx, branch, err); err != nil {
				return o, err
			}
			images := rejection.Images
			if !ended {
				images, err = writtenSince(ctx, history, o, promotion.Target(target), rejection)
				if err := failures.SkipEnvironment(ctx, target.Environment, err); err != nil {
					return o, err
				}
			}
			if len(images) > 0 {
				o = o.WithChanges(state.Overruled(target, rejection, images))
			}
		}
	}
	o.overruled = len(o.Changes)
	return o, nil
}

// writtenSince returns the rejected versions that the files have because of a commit that the decision did
// not see. Where that cannot be proven, the decision counts.
func writtenSince(
	ctx context.Context, history landing.Reader, o Observation, target promotion.Target, rejection state.Rejection,
) (map[string]string, error) {
	images := map[string]string{}
	for component, text := range rejection.Images {
		if !rejection.Form && promotion.HasImage(o.Promotion.Targets[target], text) { // of a rejected form, they always have it
			images[component] = text
		}
	}
	if len(images) == 0 || len(rejection.Saw()) == 0 {
		return nil, nil
	}
	branch := o.Promotion.BaseOf(target)
	for _, head := range rejection.Saw() {
		later, err := history.Follows(ctx, branch, o.Heads[branch], head, rejection.At)
		if err != nil || !later {
			return nil, err
		}
	}
	return images, nil
}

// reopenings finds rejections that ended because a user reopened a pull request.
type reopenings struct {
	c    Clients
	o    Observation
	own  []scm.PullRequest
	last map[int]scm.TimelineEvent // the last event of a user, by the number of the pull request
}

// allow reports whether the open pull request of a target ends a rejection, and from which branch it is. It is
// asked only of one that has rejected versions.
func (r reopenings) allow(
	ctx context.Context, target promotion.Target, rejection state.Rejection, failures *repo.Collector,
) (ended bool, branch string, err error) {
	for _, pr := range r.own {
		of, _ := promotion.ParseHead(pr.Head.Branch)
		same := pr.Number == rejection.Number
		if !landing.Covers(of, target) || !same && !r.proposes(pr, target, rejection) {
			continue
		}
		last, known := r.last[pr.Number]
		if !known {
			if last, err = r.lastEvent(ctx, pr, failures); err != nil {
				return false, pr.Head.Branch, err
			}
			r.last[pr.Number] = last
		}
		if last.State == scm.StateOpen && (same || last.At.After(rejection.At)) {
			return true, pr.Head.Branch, nil
		}
	}
	return false, "", nil
}

// proposes reports whether the head of a pull request has all rejected versions for a target.
func (r reopenings) proposes(pr scm.PullRequest, target promotion.Target, rejection state.Rejection) bool {
	head, err := r.c.Objects.Commit(pr.Head.Commit)
	if err != nil {
		return false
	}
	for _, landed := range promotion.ReadTrailers(head.Trailers) {
		if landed.Target != target {
			continue
		}
		for component, text := range rejection.Images {
			if landed.Snapshot[component].Reference() != text {
				return false
			}
		}
		return true
	}
	return false
}

// lastEvent returns the last event of an open pull request that a user made. That it is open although it was
// closed shows that it was reopened: where the forge does not report who did, it was a user.
func (r reopenings) lastEvent(ctx context.Context, pr scm.PullRequest, failures *repo.Collector) (scm.TimelineEvent, error) {
	timelines, can := r.c.Forge.(scm.Timelines)
	if !can {
		return scm.TimelineEvent{State: scm.StateOpen}, nil
	}
	timeline, err := timelines.Timeline(ctx, pr.Number)
	switch {
	case fault.KindOf(err) == fault.Invalid:
		failures.Add(fmt.Sprintf("who reopened #%d", pr.Number), err)
		return scm.TimelineEvent{State: scm.StateOpen}, nil
	case err != nil:
		return scm.TimelineEvent{}, fmt.Errorf("ask who reopened #%d: %w", pr.Number, err)
	}
	if last, found := lastOfUsers(timeline, r.o); found || len(timeline) > 0 {
		return last, nil
	}
	return scm.TimelineEvent{State: scm.StateOpen}, nil
}

// lastOfUsers returns the last event that is neither by a bot nor by promoter.
func lastOfUsers(timeline []scm.TimelineEvent, o Observation) (last scm.TimelineEvent, found bool) {
	for _, event := range timeline {
		if !event.By.Bot && !event.By.Same(o.Info.Self) {
			last, found = event, true
		}
	}
	return last, found
}

// closedByBot returns what a close by a bot means, which decides nothing: if a user closed the pull request
// before, and none reopened it, that close counts. Else the pull request is opened again once with the same
// versions. Then the versions are blocked, because the bot would close it again.
func closedByBot(
	ctx context.Context, repository scm.Repository, o Observation, pr scm.PullRequest, landed []promotion.Landed, failures *repo.Collector,
) (by state.Act, changes []state.Change, err error) {
	var timeline []scm.TimelineEvent
	if timelines, can := repository.(scm.Timelines); can {
		timeline, err = timelines.Timeline(ctx, pr.Number)
	}
	switch {
	case fault.KindOf(err) == fault.Invalid: // as if the forge did not report it
		failures.Add(fmt.Sprintf("who closed #%d before", pr.Number), err)
	case err != nil:
		return by, nil, fmt.Errorf("ask who closed #%d before: %w", pr.Number, err)
	}
	if last, found := lastOfUsers(timeline, o); found && last.State == scm.StateClosed {
		return state.Act{By: last.By, At: last.At}, nil, nil
	}
	for _, l := range landed {
		at := state.Target(l.Target)
		record := o.Promotion.State.At(at)
		for _, rejection := range record.Rejections {
			if rejection.Number == pr.Number && !rejection.Blocked { // a user reopened it since
				changes = append(changes, state.Overruled(at, rejection, rejection.Images))
			}
		}
		if record.IsSettled(pr.Number, pr.ClosedAt) || record.IsBlocked(pr.Number, pr.ClosedAt) {
			continue
		}
		for _, one := range broughtBy(o, l) {
			before, again := record.ReopenedFor(one.images)
			if !again {
				changes = append(changes, state.Settle(at, state.Settled{Number: pr.Number, At: pr.ClosedAt, Images: one.images}))
				continue
			}
			rejection := one.rejected(pr, state.Act{By: pr.Closer, At: pr.ClosedAt})
			rejection.Blocked = true
			rejection.Reason = fmt.Sprintf("it closed #%d with the same versions before; reopen one of them to continue", before)
			changes = append(changes, state.Reject(at, rejection))
		}
	}
	return by, changes, nil
}

// brought is what a pull request would change in a target.
type brought struct {
	images map[string]string
	form   bool // the files have the versions in another form
}

func broughtBy(o Observation, l promotion.Landed) []brought {
	var all []brought
	if images := landing.ChangedBy(o.Promotion, l); len(images) > 0 {
		all = append(all, brought{images: images})
	}
	if images := landing.RewrittenBy(o.Promotion, l); len(images) > 0 {
		all = append(all, brought{images: images, form: true})
	}
	return all
}

// rejected returns the rejection that follows from a close. Its location has what the decision saw.
func (b brought) rejected(pr scm.PullRequest, act state.Act) state.Rejection {
	act.Reason = fmt.Sprintf("pull request #%d was closed", pr.Number)
	if b.form {
		act.Reason += ", which writes the same versions in another form"
	}
	return state.Rejection{Act: act, Images: b.images, Number: pr.Number, Form: b.form}
}

// closerOf returns who closed a pull request. Some forges show only on request that it is a bot.
func closerOf(ctx context.Context, repository scm.Repository, pr scm.PullRequest) (identity.User, error) {
	closer := pr.Closer
	bots, can := repository.(scm.Bots)
	if !can || closer.Bot || closer.Login == "" {
		return closer, nil
	}
	bot, err := bots.IsBot(ctx, closer)
	if err != nil {
		return closer, fmt.Errorf("ask whether %s, who closed #%d, is a bot: %w", closer.Login, pr.Number, err)
	}
	closer.Bot = bot
	return closer, nil
}
