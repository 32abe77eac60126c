package engine

import (
	"context"
	"fmt"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/scm"
)

// maxOthers is how many pull requests of people get their status in one pass.
const maxOthers = 50

// statusOfOthers says on the pull requests of people against managed branches that
// they are no promotions, so that the status can be required. It is said once for
// each head.
func (v *view) statusOfOthers(ctx context.Context) error {
	if !v.Repository.Features().Statuses {
		return nil
	}
	managed, n := v.byBranch(), 0
	for _, pr := range v.open {
		_, ours := promotion.ParseHead(pr.Head.Branch)
		if managed[pr.Base] == nil || ours && pr.Head.Own {
			continue
		}
		if n++; n > maxOthers {
			return nil
		}
		if err := v.statusOf(ctx, pr); err != nil {
			v.trouble(fmt.Sprintf("pull request #%d", pr.Number), err)
		}
	}
	return ctx.Err()
}

func (v *view) statusOf(ctx context.Context, pr scm.PullRequest) error {
	// A token that may not read checks may still set statuses.
	if _, err := v.checksOf(ctx, pr.Head.Commit); err != nil && fault.KindOf(err) != fault.Unauthorised {
		return err
	}
	if v.memory.statuses[pr.Head.Commit] != "" {
		return nil
	}
	status := promotion.StatusOfOthers(v.configOf(ctx, pr))
	if err := v.Repository.Signals().SetStatus(ctx, pr.Head.Commit, status); err != nil {
		return fmt.Errorf("set its status: %w", err)
	}
	return nil
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
