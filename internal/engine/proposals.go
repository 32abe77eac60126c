package engine

import (
	"context"
	"fmt"

	"promoter/internal/promotion"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

// lookAtProposals reads the open pull requests of our branches. One from a fork is
// none of ours, whatever its branch is called.
func (v *view) lookAtProposals(ctx context.Context) error {
	v.observed.Open = map[string]promotion.Open{}
	for _, pr := range v.open {
		target, ours := promotion.ParseHead(pr.Head.Branch)
		if !ours || !pr.Head.Own {
			continue
		}
		open, err := v.openOf(ctx, pr, target)
		if err != nil {
			err = fmt.Errorf("look at pull request #%d: %w", pr.Number, err)
		}
		if err := v.aside(ctx, pr.Head.Branch, err); err != nil {
			return err
		}
		v.observed.Open[pr.Head.Branch] = open
	}
	return nil
}

func (v *view) openOf(ctx context.Context, pr scm.PullRequest, target promotion.Target) (promotion.Open, error) {
	open := promotion.Open{
		Number: pr.Number, URL: pr.URL, Head: pr.Head.Branch, Commit: pr.Head.Commit,
		Opened: pr.Opened, Draft: pr.Draft, Snapshots: map[string]promotion.Snapshot{},
	}
	if err := v.unread[pr.Head.Branch]; err != nil {
		return open, err
	}
	head, err := v.Objects.Commit(pr.Head.Commit)
	if fault.KindOf(err) == fault.NotFound {
		// The forge listed a head that was not in the listing of branches yet.
		return open, fault.Wrap(fault.Conflict, err)
	}
	if err != nil {
		return open, err
	}
	for _, landed := range promotion.ReadTrailers(head.Trailers) {
		if landed.Environment == target.Environment {
			open.Snapshots[landed.Application] = landed.Snapshot
		}
	}
	open.Foreign, open.Changed = v.foreign(pr, head, target), head.Committer.When
	return open, v.signals(ctx, &open, pr, target)
}

// foreign says why a pull request of our branch is not ours to touch.
func (v *view) foreign(pr scm.PullRequest, head Commit, target promotion.Target) string {
	self := v.Repository.Info().Self
	base := v.baseOf(target)
	switch {
	case self.Login != "" && !pr.Author.Same(self):
		return pr.Author.Login + " opened it from our branch"
	case base != "" && pr.Base != base:
		return fmt.Sprintf("its base was changed to %s", pr.Base)
	case !v.isOurs(head):
		return fmt.Sprintf("%s committed to it", head.Committer.Name)
	default:
		return ""
	}
}

// baseOf returns the branch that the pull request of a place goes to; empty when
// the config knows the environment no more.
func (v *view) baseOf(target promotion.Target) string {
	environment, known := v.observed.Config.Environment(target.Environment)
	if !known {
		return ""
	}
	return v.branchOf(*environment)
}

// isOurs says whether a commit names us as its committer. That protects the work
// of people from accidents and proves nothing: what is merged is rewritten and
// compared.
func (v *view) isOurs(commit Commit) bool {
	return commit.Committer.Email == v.By.Email && commit.Committer.Name == v.By.Name
}
