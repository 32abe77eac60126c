package gitea

import (
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// mergeMethods returns the allowed merge methods in the order in which they are tried: the
// repository's default, then those that keep our commit, copy it, and create another.
func mergeMethods(found *sdk.Repository) []sdk.MergeStyle {
	allowed := map[sdk.MergeStyle]bool{
		sdk.MergeStyleMerge: found.AllowMerge, sdk.MergeStyleRebase: found.AllowRebase, sdk.MergeStyleRebaseMerge: found.AllowRebaseMerge,
		sdk.MergeStyleSquash: found.AllowSquash, sdk.MergeStyleFastForwardOnly: found.AllowFastForwardOnlyMerge,
	}
	order := []sdk.MergeStyle{
		found.DefaultMergeStyle, sdk.MergeStyleMerge, sdk.MergeStyleRebase, sdk.MergeStyleRebaseMerge, sdk.MergeStyleSquash,
		sdk.MergeStyleFastForwardOnly,
	}
	var methods []sdk.MergeStyle
	for _, method := range order {
		if allowed[method] && !slices.Contains(methods, method) {
			methods = append(methods, method)
		}
	}
	return methods
}

// Merge merges with the first allowed method. If the settings changed since the
// repository was opened, the next one is tried. If Gitea refuses, or its response is
// lost, the pull request is read before a result is returned.
func (p pulls) Merge(ctx context.Context, number int, merge scm.Merge) (scm.Merged, error) {
	noun := p.repo.noun("merge of pull request %d", number)
	err := fault.New(fault.Unauthorized, "%s: the repository allows no merge method", noun)
	for _, method := range p.repo.methods {
		if err = p.merge(ctx, number, method, merge); err == nil {
			return p.merged(ctx, number), nil
		}
		again := refusesMethod(err)
		if err = judgeMerge(noun, err); !again {
			break
		}
	}
	return p.look(ctx, noun, number, merge, err)
}

// merge requests one method. The library does not return the message of a refusal, so
// its body is read here. It is in memory.
func (p pulls) merge(ctx context.Context, number int, method sdk.MergeStyle, merge scm.Merge) error {
	done, resp, err := p.repo.api(ctx).MergePullRequest(p.repo.owner, p.repo.name, int64(number), sdk.MergePullRequestOption{
		Style: method, HeadCommitId: merge.Head, Title: merge.Title, Message: merge.Message,
	})
	if err != nil || done {
		return answered(resp, err)
	}
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return fault.New(fault.Temporary, "read the answer: %w", err)
	}
	words := wordsIn(resp.StatusCode, data)
	if words == "" && resp.StatusCode == http.StatusInternalServerError && method == sdk.MergeStyleFastForwardOnly {
		words = wordsDiverged // which Gitea tells only to administrators of the server
	}
	return &refusedError{status: resp.StatusCode, words: words}
}

// wordsDiverged are in Gitea's message when a head cannot be fast-forwarded.
const wordsDiverged = "DivergingFastForwardOnly"

// merged fetches the result of a merge, which Gitea's response does not include. The
// merge itself is certain.
func (p pulls) merged(ctx context.Context, number int) scm.Merged {
	pull, _, err := p.repo.api(ctx).GetPullRequest(p.repo.owner, p.repo.name, int64(number))
	if err != nil || !pull.HasMerged {
		return scm.Merged{At: p.repo.forge.now().UTC()}
	}
	return mergedOf(pull)
}

// Messages that distinguish Gitea's refusals of a merge.
// https://github.com/go-gitea/gitea/blob/main/routers/api/v1/repo/pull.go
var (
	wordsWay     = regexp.MustCompile(`(?i)allowed merge style|` + wordsDiverged)
	wordsApart   = regexp.MustCompile(`(?i)` + wordsDiverged + `|is behind the base branch`)
	wordsMoved   = regexp.MustCompile(`(?i)head out of date`)
	wordsRace    = regexp.MustCompile(`(?i)push out of date|` + lockedRef)
	wordsLater   = regexp.MustCompile(`(?i)try again later`)
	wordsSigning = regexp.MustCompile(`(?i)won.?t sign|would not be signed|signed commits`)
)

// refusesMethod reports whether another method may be allowed.
func refusesMethod(err error) bool {
	status := statusOf(err)
	return (status == http.StatusMethodNotAllowed || status == http.StatusInternalServerError) && wordsWay.MatchString(err.Error())
}

// judgeMerge classifies a refused merge. What Gitea forbids remains forbidden until a
// user or a check acts. "Try again later" is returned for a head that has conflicts,
// and for one that Gitea is still checking; see conflicts.
func judgeMerge(noun string, err error) error {
	status, words := statusOf(err), err.Error()
	refused := &scm.RefusedError{Words: words}
	switch {
	case status != http.StatusMethodNotAllowed && status != http.StatusConflict && !refusesMethod(err):
		return explain(noun, err)
	case wordsApart.MatchString(words):
		return fault.New(fault.Temporary, "%s: Gitea answered %d: %s: %w", noun, status, words, scm.ErrBehind)
	case wordsMoved.MatchString(words):
		return fault.New(fault.Conflict, "%s: Gitea answered %d: %s", noun, status, words)
	case wordsRace.MatchString(words), wordsLater.MatchString(words):
		return fault.New(fault.Temporary, "%s: Gitea answered %d: %s", noun, status, words)
	case status == http.StatusConflict && words == "": // Gitea returns the output of Git instead
		return fault.New(fault.Temporary, "%s: Gitea answered %d: it conflicts with its base: %w", noun, status, scm.ErrBehind)
	case wordsSigning.MatchString(words):
		refused.Rule = scm.RuleSigned
	}
	return fault.New(fault.Unauthorized, "%s: Gitea answered %d: %w", noun, status, refused)
}

// look determines the outcome of a merge that was refused or got no response. Gitea
// returns "not found" for a closed pull request.
func (p pulls) look(ctx context.Context, noun string, number int, merge scm.Merge, cause error) (scm.Merged, error) {
	if status := statusOf(cause); fault.KindOf(cause) == fault.RateLimited ||
		status == http.StatusUnauthorized || status == http.StatusForbidden {
		return scm.Merged{}, cause
	}
	pull, _, err := p.repo.api(ctx).GetPullRequest(p.repo.owner, p.repo.name, int64(number))
	if err != nil {
		return scm.Merged{}, cause
	}
	current := p.translate(pull)
	if current.State != scm.StateOpen {
		if current.Head.Commit, err = p.head(ctx, current); err != nil {
			return scm.Merged{}, cause
		}
	}
	same := strings.EqualFold(current.Head.Commit, merge.Head)
	switch {
	case current.State == scm.StateMerged && same:
		return current.Merged, nil
	case !same:
		return scm.Merged{}, fault.New(fault.Conflict, "%s: its head is %.12s now", noun, current.Head.Commit)
	case current.State == scm.StateClosed:
		return scm.Merged{}, fault.New(fault.Conflict, "%s: it was closed meanwhile", noun)
	case wordsLater.MatchString(cause.Error()) && p.repo.forge.conflicts(pullKey{p.repo.info.Key, pull.Index}):
		return scm.Merged{}, fault.New(fault.Temporary, "%s: it conflicts with its base: %w: %w", noun, scm.ErrBehind, cause)
	}
	return scm.Merged{}, p.named(ctx, current.Base, cause)
}

// named adds which checks the branch requires, if Gitea reports only that not all of
// them succeeded.
func (p pulls) named(ctx context.Context, base string, cause error) error {
	refused, ok := errors.AsType[*scm.RefusedError](cause)
	if !ok || !strings.Contains(refused.Words, "required status checks") {
		return cause
	}
	branch, _, err := p.repo.api(ctx).GetRepoBranch(p.repo.owner, p.repo.name, base)
	if err != nil || len(branch.StatusCheckContexts) == 0 {
		return cause
	}
	wanted := rest.OneLine(strings.Join(branch.StatusCheckContexts, ", "))
	refused.Words += ": " + wanted
	return fault.New(fault.Unauthorized, "%w: the branch wants %s", cause, wanted)
}
