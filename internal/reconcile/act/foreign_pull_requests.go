package act

import (
	"context"
	"errors"
	"fmt"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/pullrequest"
	"promoter/internal/repo"
	"promoter/internal/scm"
)

// maxForeignStatuses is how many pull requests of others get their status in one
// reconciliation. The next one continues.
const maxForeignStatuses = 50

// setForeignStatuses sets our status on the pull requests of others against managed
// branches, once for each head, so that it can be a required check. On a pull request of
// ours that a user took over it fails: no gate was checked for what that contains.
func (x *executor) setForeignStatuses(ctx context.Context) error {
	if !x.c.Forge.Features().Statuses {
		return nil
	}
	managed, set := x.o.Promotion.EnvironmentsByBranch(), 0
	for _, pr := range x.o.Open {
		open, ours := x.o.Promotion.Open[pr.Head.Branch]
		takenOver := ""
		if ours && pr.Head.Own {
			takenOver = open.Foreign
		}
		if managed[pr.Base] == nil || ours && pr.Head.Own && takenOver == "" {
			continue // also a second pull request of our branch: its commit has one status
		}
		attempted, err := x.setForeignStatus(ctx, pr, takenOver)
		if err := x.failures.AddOrStop(ctx, fmt.Sprintf("pull request #%d", pr.Number), err); err != nil {
			return err
		}
		if attempted {
			set++
		}
		if set == maxForeignStatuses {
			return nil
		}
	}
	return ctx.Err()
}

// setForeignStatus reports whether it tried to set the status. A forge may be unable to
// set one on a commit in a fork. takenOver is why a pull request of our branch belongs to
// a user: then the status fails, whatever it was before.
func (x *executor) setForeignStatus(ctx context.Context, pr scm.PullRequest, takenOver string) (bool, error) {
	// A token that may not read checks may still set statuses.
	_, err := repo.ReadChecks(ctx, x.c.Forge.Signals(), pr.Head.Commit, x.o.Statuses)
	if err != nil && fault.KindOf(err) != fault.Unauthorized {
		return false, err
	}
	current, set := x.o.Statuses[pr.Head.Commit]
	status := pullrequest.StatusOfTakenOver(takenOver)
	if set && (takenOver == "" || current.State == status.State && current.Description == status.Description) {
		return false, nil
	}
	if takenOver == "" && pr.Head.Own && pr.Base == x.o.Refs.Default && x.o.Refs.Branches[pr.Head.Branch] != pr.Head.Commit {
		return false, nil // it moved after the branches were listed: the next reconciliation reads its config
	}
	if takenOver == "" {
		status = pullrequest.StatusOfOthers(checkConfig(ctx, x.c.Remote, x.c.Objects, x.o.Refs.Default, pr))
	}
	err = x.c.Forge.Signals().SetStatus(ctx, pr.Head.Commit, status)
	if err == nil {
		x.o.Statuses[pr.Head.Commit] = scm.Check{State: status.State, Description: status.Description, At: x.o.Now}
	}
	if errors.Is(err, scm.ErrProtectedHead) || errors.Is(err, scm.ErrStatusNotStored) {
		return true, nil // the former: a merge request from one protected branch into another
	}
	if err != nil && (pr.Head.Own || fault.KindOf(err) != fault.NotFound) {
		return true, fmt.Errorf("set its status: %w", err)
	}
	return true, nil
}

// checkConfig validates the config in the head of a pull request. That of a fork is not
// read: it is in another repository.
func checkConfig(ctx context.Context, remote repo.Remote, objects repo.Contents, defaultBranch string, pr scm.PullRequest) error {
	if !pr.Head.Own || pr.Base != defaultBranch {
		return nil
	}
	heads, err := remote.Fetch(ctx, pr.Head.Branch)
	if err != nil || heads[pr.Head.Branch] != pr.Head.Commit {
		return nil //nolint:nilerr // what cannot be read is not invalid
	}
	data, err := objects.Read(pr.Head.Commit, repo.ConfigFile, config.MaxSize)
	if err != nil {
		return fmt.Errorf("read %s: %w", repo.ConfigFile, err)
	}
	_, problems := config.Load(repo.ConfigFile, data)
	return problems.Err()
}
