package app

import (
	"context"
	"fmt"

	"promoter/internal/engine"
	"promoter/internal/pullrequest"
	"promoter/internal/scm"
	"promoter/internal/suggest"
)

// write pushes the branch, unless it says this already, and opens the pull request
// where there is none. A branch of a pass that was killed in between is taken up.
func (a *asking) write(ctx context.Context, made *suggest.Suggestion) (*Onboarding, error) {
	came := &Onboarding{State: OnboardingOpen, Config: made.Text}
	if a.ours != nil {
		came.Number, came.URL = a.ours.Number, a.ours.URL
	}
	stands, why, err := a.stands(ctx, made.Text)
	if err != nil {
		return nil, err
	}
	if why == "" && a.ours == nil {
		why, err = a.added(ctx)
	}
	switch {
	case err != nil:
		return nil, err
	case why != "":
		came.State, came.Reason = OnboardingLeft, why
		return came, nil
	case a.ours != nil && stands:
		return came, nil
	case a.ours == nil && !a.o.take():
		came.State, came.Reason = OnboardingWaiting, fmt.Sprintf("%d are opened in one pass", maxOnboarded)
		return came, nil
	}
	return came, a.carryOut(ctx, made, came, stands)
}

// carryOut does what is to be done.
func (a *asking) carryOut(ctx context.Context, made *suggest.Suggestion, came *Onboarding, stands bool) error {
	came.State = OnboardingToOpen
	if a.ours != nil {
		came.State = OnboardingToRefresh
	}
	if a.reconciler.DryRun {
		return nil
	}
	body := pullrequest.OnboardingBody(a.page(ctx, made))
	if !stands {
		if err := a.push(ctx, made.Text, came); err != nil {
			return err
		}
	}
	if a.ours != nil {
		came.State = OnboardingRefreshed
		return a.refresh(ctx, body)
	}
	pr, err := a.reconciler.Repository.PullRequests().Create(ctx, scm.Draft{
		Head: pullrequest.OnboardingBranch, Base: a.base, Title: pullrequest.OnboardingTitle, Body: pullrequest.MergeBody("", body),
	})
	if err != nil {
		return fmt.Errorf("open the onboarding pull request: %w", err)
	}
	came.State, came.Number, came.URL = OnboardingOpened, pr.Number, pr.URL
	return nil
}

// push writes one commit with the one file, on the condition that the branch is where
// it was seen.
func (a *asking) push(ctx context.Context, text string, came *Onboarding) error {
	by := a.reconciler.By
	by.When = a.reconciler.Now()
	commit, err := a.reconciler.Objects.Write(engine.Draft{
		Parent: a.at, Files: map[string][]byte{ConfigFile: []byte(text)}, By: by, Message: pullrequest.OnboardingTitle + "\n",
	})
	if err != nil {
		return fmt.Errorf("write a commit for %s: %w", pullrequest.OnboardingBranch, err)
	}
	if err := a.reconciler.Remote.Push(ctx, engine.Update{Branch: pullrequest.OnboardingBranch, Old: a.head, New: commit}); err != nil {
		return fmt.Errorf("push %s: %w", pullrequest.OnboardingBranch, err)
	}
	came.Commit = commit
	return nil
}

// refresh brings the words up to date; those of people stay.
func (a *asking) refresh(ctx context.Context, body string) error {
	merged := pullrequest.MergeBody(a.ours.Body, body)
	if merged == a.ours.Body {
		return nil
	}
	if err := a.reconciler.Repository.PullRequests().Edit(ctx, a.ours.Number, scm.Edit{Body: &merged}); err != nil {
		return fmt.Errorf("edit pull request #%d: %w", a.ours.Number, err)
	}
	return nil
}
