package gitea

import (
	"context"
	"strconv"
	"strings"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// pulls are the pull requests of a repository.
type pulls struct{ repo *repository }

// Open lists the open pull requests, oldest first: one that is opened while the pages
// are read comes last and does not shift the others.
func (p pulls) Open(ctx context.Context) ([]scm.PullRequest, error) {
	all, err := pages(0, p.list(ctx, sdk.StateOpen, "oldest"), func(pull *sdk.PullRequest) (scm.PullRequest, bool) {
		return p.translate(pull), true
	})
	return all, p.repo.explain(p.repo.noun("open pull requests"), err)
}

// list reads one page. Gitea sorts by oldest, recentupdate and others, by default by
// creation, newest first; it has no filter by head.
func (p pulls) list(
	ctx context.Context, state sdk.StateType, sort string,
) func(sdk.ListOptions) ([]*sdk.PullRequest, *sdk.Response, error) {
	return func(page sdk.ListOptions) ([]*sdk.PullRequest, *sdk.Response, error) {
		return p.repo.api(ctx).ListRepoPullRequests(p.repo.owner, p.repo.name,
			sdk.ListPullRequestsOptions{ListOptions: page, State: state, Sort: sort})
	}
}

// translate takes the branch from the head's label: the ref becomes refs/pull/N/head
// when the branch is deleted. A pull request that was pushed without a branch (AGit)
// has no label, and belongs to no branch.
func (p pulls) translate(pull *sdk.PullRequest) scm.PullRequest {
	p.repo.forge.watchMergeable(p.repo.info.Key, pull)
	translated := scm.PullRequest{
		Number: int(pull.Index), URL: p.repo.info.URL + "/pulls/" + strconv.FormatInt(pull.Index, 10),
		Title: pull.Title, Author: p.repo.forge.person(pull.Poster),
		Draft: pull.Draft, Opened: rest.TimeOf(pull.Created), State: scm.StateOpen,
	}
	if head, base := pull.Head, pull.Base; head != nil && base != nil {
		own := head.Name != "" && head.RepoID > 0 && head.RepoID == base.RepoID
		translated.Head = scm.Head{Branch: head.Name, Commit: strings.ToLower(head.Sha), Own: own}
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
		translated.State, translated.ClosedAt = scm.StateClosed, rest.TimeOf(pull.Closed)
	}
	return translated
}

func mergedOf(pull *sdk.PullRequest) scm.Merged {
	merged := scm.Merged{At: rest.TimeOf(pull.Merged)}
	if pull.MergedCommitID != nil {
		merged.Commit = strings.ToLower(*pull.MergedCommitID)
	}
	return merged
}

// Edit changes the fields that are set. It sends no request if none is set.
func (p pulls) Edit(ctx context.Context, number int, edit scm.Edit) error {
	noun := p.repo.noun("pull request %d", number)
	var change sdk.EditPullRequestOption
	if edit.Title != nil {
		prefix, err := p.keptPrefix(ctx, number)
		if err != nil {
			return explain(noun, err)
		}
		change.Title = cutTitle(prefix + *edit.Title)
	}
	if edit.Body != nil {
		body := cutBody(*edit.Body)
		change.Body = &body
	}
	if edit.Base != nil {
		change.Base = *edit.Base
	}
	if edit.Closed != nil {
		state := sdk.StateOpen
		if *edit.Closed {
			state = sdk.StateClosed
		}
		change.State = &state
	}
	if change.Title != "" || change.Body != nil || change.Base != "" || change.State != nil {
		_, resp, err := p.repo.api(ctx).EditPullRequest(p.repo.owner, p.repo.name, int64(number), change)
		if err != nil {
			return explain(noun, answered(resp, err))
		}
	}
	if len(edit.AddLabels) == 0 {
		return nil
	}
	_, err := p.label(ctx, number, edit.AddLabels)
	return err
}

// draftPrefix marks a draft. Gitea and Forgejo recognize drafts only by their titles,
// with these two prefixes unless WORK_IN_PROGRESS_PREFIXES is configured.
// https://docs.gitea.com/usage/pull-request#work-in-progress-pull-requests
const draftPrefix = "WIP: "

// draftOf removes the prefix from the title of a draft, and caches it, so that
// editing the title keeps the draft state.
func (p pulls) draftOf(pull scm.PullRequest) (draft bool, title string) {
	prefix := prefixOf(pull.Title, pull.Draft)
	p.repo.mu.Lock()
	defer p.repo.mu.Unlock()
	p.repo.drafts[pull.Number] = prefix
	return pull.Draft || prefix != "", pull.Title[len(prefix):]
}

// prefixOf returns the draft prefix of a title, with the following blanks: one of the
// defaults, or a common custom one, which counts only if the server itself reports a draft.
func prefixOf(title string, isDraft bool) string {
	prefixes := []string{"WIP:", "[WIP]"}
	if isDraft {
		prefixes = append(prefixes, "Draft:", "[Draft]", "(Draft)")
	}
	for _, prefix := range prefixes {
		if len(title) >= len(prefix) && strings.EqualFold(title[:len(prefix)], prefix) {
			rest := title[len(prefix):]
			return title[:len(title)-len(strings.TrimLeft(rest, " "))]
		}
	}
	return ""
}

// keptPrefix returns the current draft prefix of a pull request.
func (p pulls) keptPrefix(ctx context.Context, number int) (string, error) {
	p.repo.mu.Lock()
	prefix, known := p.repo.drafts[number]
	p.repo.mu.Unlock()
	if known {
		return prefix, nil
	}
	pull, resp, err := p.repo.api(ctx).GetPullRequest(p.repo.owner, p.repo.name, int64(number))
	if err != nil {
		return "", answered(resp, err)
	}
	return prefixOf(pull.Title, pull.Draft), nil
}

// HeadDeleted reads the timeline. Gitea records there that it closed a pull request
// because its branch was deleted, and that a user deleted the branch with the button
// on the page. It does not record other deletions of the branch of a closed pull
// request.
func (r *repository) HeadDeleted(ctx context.Context, number int) (time.Time, error) {
	events, err := r.timeline(ctx, number, time.Time{})
	if err != nil {
		return time.Time{}, explain(r.noun("timeline of pull request %d", number), err)
	}
	var deleted time.Time
	for _, event := range events { // oldest first
		switch {
		case event.Type == "delete_branch" && deleted.IsZero():
			deleted = event.Created.UTC()
		case event.Type == "reopen":
			deleted = time.Time{}
		}
	}
	return deleted, nil
}
