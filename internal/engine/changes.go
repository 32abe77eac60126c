package engine

import (
	"cmp"
	"context"
	"time"

	"promoter/internal/config"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/pullrequest"
	"promoter/internal/repo"
)

// describer reads what users want to know about proposals, and no decision needs.
type describer struct{ r *Reconciler }

// maxChanges is how many changes of one pull request are read.
const maxChanges = 30

// change reads what is known about the change of a component. With an error, a part of it
// is missing that may be known soon.
func (d describer) change(ctx context.Context, o Observation, moved pullrequest.Changed) (pullrequest.Change, error) {
	change := pullrequest.Change{Others: pullrequest.OthersWith(o.Promotion, moved, landedAt(d.r.Objects), d.r.Repository.Features().PullSign)}
	to, err := d.describe(ctx, o, moved, moved.To)
	if err != nil {
		change.Unread = "the new image is not readable: " + err.Error()
		return change, onlyTemporary(err)
	}
	change.To = to
	if moved.From.Tag == "" && moved.From.Digest == "" {
		change.Unread = "the current version is unknown"
		return change, nil
	}
	if change.From, err = d.describe(ctx, o, moved, moved.From); err != nil {
		change.Unread = "the current image is not readable: " + err.Error()
		return change, onlyTemporary(err)
	}
	query, needed := change.SourceQuery(componentOf(o, moved).Source, moved.To)
	if !needed || d.r.Sources == nil {
		return change, nil
	}
	change.Source, err = d.r.Sources.Change(ctx, query)
	if err != nil && change.Source.Unread == "" {
		change.Source.Unread = "the source is not readable now: " + err.Error()
	}
	return change, err
}

// componentOf returns the component of a change as the config has it; zero: it does not any more.
func componentOf(o Observation, moved pullrequest.Changed) (component config.Component) {
	if match, followed := o.Promotion.Config.Follow(moved.Environment, moved.Application, moved.Repository); followed {
		component, _ = o.Promotion.Config.Component(match.Component)
	}
	return component
}

// describe returns what the image of a version of a changed component says about itself.
func (d describer) describe(ctx context.Context, o Observation, moved pullrequest.Changed, version image.Version) (image.Description, error) {
	fact := promotion.Fact{Repository: moved.Repository, Tag: version.Tag, Digest: version.Digest}
	fact.Digest = cmp.Or(fact.Digest, o.Promotion.Facts[fact].Digest)
	return d.r.Registries.Describe(ctx, fact, componentOf(o, moved).Select.Platforms)
}

// describePushed adds to pushed effects what their images say about themselves, for the history.
// What cannot be read is left out. Source commits are only read for pull requests.
func (d describer) describePushed(ctx context.Context, o Observation, effects []Effect) {
	type version struct{ repository, tag, digest string }
	read := map[version]image.Description{} // applications may share images
	for i, effect := range effects {
		if effect.Action != ActionPushed || d.r.OnCopy {
			continue
		}
		changes := map[pullrequest.ChangeKey]pullrequest.Change{}
		for _, moved := range (pullrequest.Page{Proposal: effect.Proposal}).Changed() {
			key := version{moved.Repository.String(), moved.To.Tag, moved.To.Digest}
			to, known := read[key]
			if !known {
				if moved.Form != "" || moved.Repository.IsZero() || image.KnownCreated(moved.To.Created) || len(read) == maxChanges {
					continue
				}
				to, _ = d.describe(ctx, o, moved, moved.To) // not read: its time is unknown
				read[key] = to
			}
			changes[pullrequest.KeyOf(moved.Move)] = pullrequest.Change{To: to}
		}
		effects[i].Changes = changes
	}
}

// landedAt returns when a snapshot came into a target, for users: the date of its commit is a
// claim, which is shown where nothing better is known and decides nothing.
func landedAt(commits repo.Commits) func(promotion.Landing) time.Time {
	return func(landing promotion.Landing) time.Time {
		if !landing.At.IsZero() || landing.Commit == "" {
			return landing.At
		}
		commit, err := commits.Commit(landing.Commit)
		if err != nil {
			return time.Time{}
		}
		return commit.Committer.When
	}
}
