package gitlab

import (
	"context"
	"net/http"
	"strings"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Merge merges with the merge method of the project. If GitLab refuses, or its
// response is lost, the merge request is read before a result is returned.
//
// In a project with merge trains, the API can bypass the train, and merge what the
// train did not test: this is never requested.
func (p pulls) Merge(ctx context.Context, number int, merge scm.Merge) (scm.Merged, error) {
	noun := p.noun("merge of merge request %d", number)
	project, _, err := p.forge.api.Projects.GetProject(p.id, nil, in(ctx))
	if err != nil {
		return scm.Merged{}, explain(noun, err)
	}
	if project.MergeTrainsEnabled {
		return p.look(ctx, noun, number, merge, refuse(noun, &scm.RefusedError{Rule: scm.RuleQueue, Words: trainWords}))
	}
	if project.OnlyAllowMergeIfPipelineSucceeds {
		if err := p.othersRan(ctx, noun, merge.Head); err != nil {
			return p.look(ctx, noun, number, merge, err)
		}
	}
	message := merge.Title + "\n\n" + merge.Message
	options := &gogitlab.AcceptMergeRequestOptions{SHA: &merge.Head}
	if strings.TrimSpace(message) != "" {
		options.MergeCommitMessage, options.SquashCommitMessage = &message, &message
	}
	mr, _, err := p.forge.api.MergeRequests.AcceptMergeRequest(p.id, number, options, in(ctx))
	if err == nil && mr.State == "merged" {
		return p.done(ctx, mr)
	}
	return p.look(ctx, noun, number, merge, explain(noun, err))
}

// othersRan refuses a head that only has our own status. GitLab creates a pipeline
// for that status, which satisfies "Pipelines must succeed" before the project's own
// pipeline has started.
func (p pulls) othersRan(ctx context.Context, noun, head string) error {
	s := signals(p)
	found, err := s.statuses(ctx, head)
	if err != nil {
		return explain(noun, err)
	}
	for _, status := range found {
		if !s.isOwn(status) {
			return nil
		}
	}
	return refuse(noun, &scm.RefusedError{Words: "a pipeline must succeed, and none has begun for this head"})
}

// done returns the result of a merge. Failing to find the merge commit is not an
// error.
func (p pulls) done(ctx context.Context, mr *gogitlab.MergeRequest) (scm.Merged, error) {
	merged, err := p.landed(ctx, mergedOf(mr), mr.SHA, mr.TargetBranch)
	if err != nil {
		return mergedOf(mr), nil //nolint:nilerr // the commit is found in Git
	}
	return merged, nil
}

const trainWords = "the project lands through its merge train, GitLab's merge queue: a person must add the merge request to it"

func refuse(noun string, refused *scm.RefusedError) error {
	return fault.New(fault.Unauthorized, "%s: %w", noun, refused)
}

// look determines the outcome of a merge that was refused or got no response.
func (p pulls) look(ctx context.Context, noun string, number int, merge scm.Merge, cause error) (scm.Merged, error) {
	if fault.KindOf(cause) == fault.RateLimited {
		return scm.Merged{}, cause
	}
	mr, _, err := p.forge.api.MergeRequests.GetMergeRequest(p.id, number, nil, in(ctx))
	if err != nil {
		if cause == nil {
			cause = explain(noun, err)
		}
		return scm.Merged{}, cause
	}
	same := strings.EqualFold(mr.SHA, merge.Head)
	switch {
	case mr.State == "merged" && same:
		return p.done(ctx, mr)
	case !same:
		return scm.Merged{}, fault.New(fault.Conflict, "%s: its head is %.12s now", noun, mr.SHA)
	case mr.State == "closed":
		return scm.Merged{}, fault.New(fault.Conflict, "%s: it was closed meanwhile", noun)
	}
	return scm.Merged{}, p.blocked(ctx, noun, mr, cause)
}

// blocked returns why an open merge request was not merged.
func (p pulls) blocked(ctx context.Context, noun string, mr *gogitlab.MergeRequest, cause error) error {
	switch rest.StatusOf(cause) {
	case http.StatusUnauthorized: // the token was sufficient to read
		return refuse(noun, &scm.RefusedError{Words: "GitLab does not let this account merge into " + rest.OneLine(mr.TargetBranch) +
			": the role Developer is needed, and where the branch is protected, to be allowed to merge"})
	case http.StatusForbidden:
		return p.denied(ctx, cause)
	case http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusUnprocessableEntity, http.StatusBadRequest:
		return p.verdict(ctx, noun, mr, cause)
	}
	if cause == nil {
		return fault.New(fault.Temporary, "%s: GitLab has not finished it", noun)
	}
	return cause
}
