package gitea

import (
	"context"
	"strconv"
	"strings"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/scm"
)

// pulls are the pull requests of a repository.
type pulls struct{ *repository }

// Open lists the open pull requests, oldest first: one that is opened while the pages
// are read comes last and does not shift the others.
func (p pulls) Open(ctx context.Context) ([]scm.PullRequest, error) {
	all, err := pages(0, p.list(ctx, sdk.StateOpen, "oldest"), func(pull *sdk.PullRequest) (scm.PullRequest, bool) {
		return p.translate(pull), true
	})
	return all, explain(p.noun("open pull requests"), err)
}

// list reads one page. Gitea sorts by oldest, recentupdate and others, by default by
// creation, newest first; it has no filter by head.
func (p pulls) list(ctx context.Context, state sdk.StateType, sort string) func(sdk.ListOptions) ([]*sdk.PullRequest, *sdk.Response, error) {
	return func(page sdk.ListOptions) ([]*sdk.PullRequest, *sdk.Response, error) {
		return p.forge.api(ctx).ListRepoPullRequests(p.owner, p.name, sdk.ListPullRequestsOptions{ListOptions: page, State: state, Sort: sort})
	}
}

// translate takes the branch from the head's label: the ref becomes refs/pull/N/head
// when the branch is deleted. A pull request that was pushed without a branch (AGit)
// has no label, and belongs to no branch.
func (p pulls) translate(pull *sdk.PullRequest) scm.PullRequest {
	translated := scm.PullRequest{
		Number: int(pull.Index), URL: p.info.URL + "/pulls/" + strconv.FormatInt(pull.Index, 10), Title: pull.Title, Author: p.forge.person(pull.Poster),
		Draft: pull.Draft, Opened: utc(pull.Created), State: scm.StateOpen,
	}
	if head, base := pull.Head, pull.Base; head != nil && base != nil {
		translated.Head = scm.Head{Branch: head.Name, Commit: strings.ToLower(head.Sha), Own: head.Name != "" && head.RepoID > 0 && head.RepoID == base.RepoID}
		translated.Base = base.Ref
	}
	if translated.Head.Own {
		translated.Body = pull.Body
	}
	for _, label := range pull.Labels {
		translated.Labels = append(translated.Labels, label.Name)
	}
	translated.Draft, translated.Title = p.draftOf(translated)
	switch {
	case pull.HasMerged:
		translated.State, translated.Merged = scm.StateMerged, mergedOf(pull)
		translated.ClosedAt = translated.Merged.At
	case pull.State == sdk.StateClosed:
		translated.State, translated.ClosedAt = scm.StateClosed, utc(pull.Closed)
	}
	return translated
}

func mergedOf(pull *sdk.PullRequest) scm.Merged {
	merged := scm.Merged{At: utc(pull.Merged)}
	if pull.MergedCommitID != nil {
		merged.Commit = strings.ToLower(*pull.MergedCommitID)
	}
	return merged
}

func utc(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.UTC()
}
