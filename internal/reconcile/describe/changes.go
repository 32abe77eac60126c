// Package describe reads what users want to know about proposals, and no decision needs: what an image says about
// itself, source commits, rendered manifests, drift, and the commands that work.
package describe

import (
	"cmp"
	"context"
	"time"

	"promoter/internal/config"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/pullrequest"
	"promoter/internal/reconcile/observe"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/repo"
	"promoter/internal/scm"
)

// Describer describes the proposals of one repository.
type Describer struct {
	Clients observe.Clients
	Users   observe.Users
	Readers Readers
}

// Readers read what is described. A part without its reader is left out.
type Readers struct {
	Images  Images  // nil: nothing is described, because it has no readers
	Sources Sources // nil: pull requests list no commits
	// Renderer renders manifests, where the config asks for it. Nil: the server does not allow it.
	Renderer Renderer
}

// Images describes images. It is a subset of observe.Registries.
type Images interface {
	Describe(ctx context.Context, fact promotion.Fact, platforms []string) (image.Description, error)
}

// Sources reads source repositories, as far as the server lets the repository see them.
type Sources interface {
	// Change returns what a source says about a change. An error may go away soon; all else
	// that keeps commits unknown is in the result.
	Change(ctx context.Context, query scm.ChangeQuery) (scm.Change, error)
}

// Renderer renders manifests from the files of commits.
type Renderer interface {
	// Rendered returns what changes from one commit to the next in the kustomizations and
	// charts that contain the changed files. Nil: there are none.
	Rendered(ctx context.Context, before, after string, changed []string) ([]pullrequest.Manifests, error)
}

// maxChanges is how many changes of one pull request are read.
const maxChanges = 30

// change reads what is known about the change of a component. With an error, a part of it
// is missing that may be known soon.
func (d Describer) change(ctx context.Context, o observe.Observation, moved pullrequest.Changed) (pullrequest.Change, error) {
	sign := d.Clients.Forge.Features().PullSign
	change := pullrequest.Change{Others: pullrequest.OthersWith(o.Promotion, moved, landedAt(d.Clients.Objects), sign)}
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
	if !needed || d.Readers.Sources == nil {
		return change, nil
	}
	change.Source, err = d.Readers.Sources.Change(ctx, query)
	if err != nil && change.Source.Unread == "" {
		change.Source.Unread = "the source is not readable now: " + err.Error()
	}
	return change, err
}

// componentOf returns the component of a change as the config has it; zero: it does not any more.
func componentOf(o observe.Observation, moved pullrequest.Changed) (component config.Component) {
	c := o.Promotion.Config
	if match, followed := c.FollowAs(moved.Environment, moved.Application, moved.Repository, moved.Component); followed {
		component, _ = o.Promotion.Config.Component(match.Component)
	}
	return component
}

// describe returns what the image of a version of a changed component says about itself.
func (d Describer) describe(
	ctx context.Context, o observe.Observation, moved pullrequest.Changed, version image.Version,
) (image.Description, error) {
	fact := promotion.Fact{Repository: moved.Repository, Tag: version.Tag, Digest: version.Digest}
	fact.Digest = cmp.Or(fact.Digest, o.Promotion.Facts[fact].Digest)
	return d.Readers.Images.Describe(ctx, fact, componentOf(o, moved).Select.Platforms)
}

// Pushed adds to pushed effects what their images say about themselves, for the history.
// What cannot be read is left out. Source commits are only read for pull requests.
func (d Describer) Pushed(ctx context.Context, o observe.Observation, effects []outcome.Effect) {
	type version struct{ repository, tag, digest string }
	read := map[version]image.Description{} // applications may share images
	for i, effect := range effects {
		if effect.Action != outcome.ActionPushed || d.Readers.Images == nil {
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
