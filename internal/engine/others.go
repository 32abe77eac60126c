package engine

import (
	"context"
	"fmt"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/pullrequest"
	"promoter/internal/scm"
)

// maxOthers is how many pull requests of people get their status in one pass; the
// next one goes on with the others.
const maxOthers = 50

// statusOfOthers says on the pull requests of people against managed branches that
// they are no promotions, so that the status can be required. It is said once for
// each head.
func (v *view) statusOfOthers(ctx context.Context) error {
	if !v.Repository.Features().Statuses {
		return nil
	}
	managed, said := v.byBranch(), 0
	for _, pr := range v.open {
		if managed[pr.Base] == nil || v.isPromotion(pr) {
			continue
		}
		says, err := v.statusOf(ctx, pr)
		if ended := v.ends(ctx, err); ended != nil {
			return ended
		}
		if err != nil {
			v.trouble(fmt.Sprintf("pull request #%d", pr.Number), err)
		}
		if says {
			said++
		}
		if said == maxOthers {
			return nil
		}
	}
	return ctx.Err()
}

// isPromotion says whether a pull request is one of ours that nobody took over.
func (v *view) isPromotion(pr scm.PullRequest) bool {
	open, ours := v.observed.Open[pr.Head.Branch]
	return ours && open.Number == pr.Number && open.Foreign == ""
}

// statusOf says whether the status of a pull request was written now, or could not
// be. A forge may have no place for one on a commit that lies in a fork.
func (v *view) statusOf(ctx context.Context, pr scm.PullRequest) (bool, error) {
	// A token that may not read checks may still set statuses.
	if _, err := v.checksOf(ctx, pr.Head.Commit); err != nil && fault.KindOf(err) != fault.Unauthorized {
		return false, err
	}
	if _, said := v.memory.statuses[pr.Head.Commit]; said {
		return false, nil
	}
	status := pullrequest.StatusOfOthers(v.configOf(ctx, pr))
	err := v.Repository.Signals().SetStatus(ctx, pr.Head.Commit, status)
	if err != nil && (pr.Head.Own || fault.KindOf(err) != fault.NotFound) {
		return true, fmt.Errorf("set its status: %w", err)
	}
	return true, nil
}

// configOf says what is wrong with the config of a pull request's head. That of a
// fork is not read: it lies in another repository.
func (v *view) configOf(ctx context.Context, pr scm.PullRequest) error {
	if !pr.Head.Own || pr.Base != v.refs.Default {
		return nil
	}
	heads, err := v.Remote.Fetch(ctx, pr.Head.Branch)
	if err != nil || heads[pr.Head.Branch] != pr.Head.Commit {
		return nil //nolint:nilerr // what cannot be read says nothing about the config
	}
	data, err := v.Objects.Read(pr.Head.Commit, ConfigFile, config.MaxSize)
	if err != nil {
		return fmt.Errorf("read %s: %w", ConfigFile, err)
	}
	_, problems := config.Load(ConfigFile, data)
	return problems.Err()
}
