package github

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

// methodsOf returns the allowed merge methods in the order in which they are tried:
// one that keeps our commit, one that copies it, one that creates another. GitHub
// reports them only to users who may push; unknown ones are tried.
func methodsOf(found *gogithub.Repository) []string {
	var methods []string
	for _, method := range []struct {
		name    string
		allowed *bool
	}{
		{"merge", found.AllowMergeCommit}, {"rebase", found.AllowRebaseMerge}, {"squash", found.AllowSquashMerge},
	} {
		if method.allowed == nil || *method.allowed {
			methods = append(methods, method.name)
		}
	}
	return methods
}

// Merge merges with the first method that the repository and the rules of the base
// allow. If those could not be read, the next one is tried. If GitHub refuses, or its
// response is lost, the pull request is read before a result is returned.
func (p pulls) Merge(ctx context.Context, number int, merge scm.Merge) (scm.Merged, error) {
	noun := p.repo.noun("merge of pull request %d", number)
	err := fault.New(fault.Unauthorized, "%s: %w", noun, &scm.RefusedError{Words: "the repository allows no merge method"})
	for _, method := range p.repo.methodsInto(merge.Base) {
		var merged scm.Merged
		if merged, err = p.merge(ctx, number, method, merge); err == nil {
			return merged, nil
		}
		again := refusesMethod(err)
		if err = judgeMerge(noun, err); !again {
			return p.look(ctx, noun, number, merge, err)
		}
	}
	return scm.Merged{}, err
}

// merge requests one method. A rebase keeps the commit message.
func (p pulls) merge(ctx context.Context, number int, method string, merge scm.Merge) (scm.Merged, error) {
	options := &gogithub.PullRequestOptions{SHA: merge.Head, MergeMethod: method}
	var message string
	if method != "rebase" {
		options.CommitTitle, message = merge.Title, merge.Message
	}
	done, _, err := p.repo.forge.api.PullRequests.Merge(ctx, p.repo.owner, p.repo.name, number, message, options)
	if err != nil {
		return scm.Merged{}, err
	}
	return scm.Merged{Commit: strings.ToLower(done.GetSHA()), At: p.repo.forge.now().UTC()}, nil
}

// Messages that distinguish GitHub's refusals of a merge. They are undocumented.
var (
	wordsMethod = regexp.MustCompile(`(?i)(merge commits|squash merges|rebase merges) are not allowed|must not contain merge commits|` +
		`merge method .*not allowed|verified signature|automatically signed`)
	wordsMoved     = regexp.MustCompile(`(?i)head branch was modified`)
	wordsBehind    = regexp.MustCompile(`(?i)out of date|not up to date|is behind|conflict`)
	wordsTransient = regexp.MustCompile(`(?i)base branch was modified|merge already in progress`)
	wordsUnclear   = regexp.MustCompile(`(?i)not mergeable`)
	wordsQueue     = regexp.MustCompile(`(?i)merge queue`)
	wordsSigned    = regexp.MustCompile(`(?i)verified signature|signed commits|automatically signed`)
	wordsLinear    = regexp.MustCompile(`(?i)must not contain merge commits|linear history`)
)

// wordsBefore is the prefix of a ruleset's message, without information.
const wordsBefore = "Repository rule violations found; "

// refusesMethod reports whether another method may be allowed.
func refusesMethod(err error) bool {
	answer := refused(err)
	return answer != nil && wordsMethod.MatchString(answer.Message)
}

// judgeMerge classifies a refused merge. What GitHub forbids remains forbidden until
// a user or a check acts.
func judgeMerge(noun string, err error) error {
	answer := refused(err)
	if answer == nil || answer.Response.StatusCode != http.StatusMethodNotAllowed && !refusesMethod(err) {
		return explain(noun, err)
	}
	words := strings.TrimPrefix(wordsOf(answer), wordsBefore)
	prefix := fmt.Sprintf("%s: GitHub answered %d", noun, answer.Response.StatusCode)
	switch {
	case wordsMoved.MatchString(words):
		return fault.New(fault.Conflict, "%s: %s", prefix, words)
	case wordsTransient.MatchString(words), wordsUnclear.MatchString(words):
		return fault.New(fault.Temporary, "%s: %s", prefix, words)
	case wordsBehind.MatchString(words):
		return fault.New(fault.Temporary, "%s: %s: %w", prefix, words, scm.ErrBehind)
	default:
		return fault.New(fault.Unauthorized, "%s: %w", prefix, &scm.RefusedError{Rule: ruleOf(words), Words: words})
	}
}

// ruleOf returns the rule for which waiting does not help.
func ruleOf(words string) string {
	switch {
	case wordsQueue.MatchString(words):
		return scm.RuleQueue
	case wordsSigned.MatchString(words):
		return scm.RuleSigned
	case wordsLinear.MatchString(words):
		return scm.RuleLinear
	default:
		return ""
	}
}

// look determines the outcome of a merge that was refused or got no response.
func (p pulls) look(ctx context.Context, noun string, number int, merge scm.Merge, cause error) (scm.Merged, error) {
	if fault.KindOf(cause) == fault.RateLimited {
		return scm.Merged{}, cause
	}
	switch statusOf(cause) {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return scm.Merged{}, cause
	}
	pull, _, err := p.repo.forge.api.PullRequests.Get(ctx, p.repo.owner, p.repo.name, number)
	if err != nil {
		return scm.Merged{}, cause
	}
	same := strings.EqualFold(pull.GetHead().GetSHA(), merge.Head)
	switch {
	case pull.GetMerged() && same:
		return mergedOf(pull), nil
	case !same:
		return scm.Merged{}, fault.New(fault.Conflict, "%s: its head is %.12s now", noun, pull.GetHead().GetSHA())
	case pull.GetState() == "closed":
		return scm.Merged{}, fault.New(fault.Conflict, "%s: it was closed meanwhile", noun)
	}
	return scm.Merged{}, blocked(noun, pull, cause)
}

// blocked reads the state of the pull request if the message reports only that it
// cannot be merged.
func blocked(noun string, pull *gogithub.PullRequest, cause error) error {
	if !wordsUnclear.MatchString(cause.Error()) {
		return cause
	}
	switch state := pull.GetMergeableState(); state {
	case "blocked", "draft":
		words := &scm.RefusedError{Words: "its state is " + state}
		return fault.New(fault.Unauthorized, "%w: %w", cause, words)
	case "dirty", "behind":
		return fault.New(fault.Temporary, "%s: GitHub calls it %s: %w", noun, state, scm.ErrBehind)
	default:
		return fault.New(fault.Temporary, "%s: GitHub is still computing whether it can be merged", noun)
	}
}
