package history

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"promoter/internal/printable"
	"promoter/internal/promotion"
	"promoter/internal/pullrequest"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/scm"
	"promoter/internal/store"
)

// Limits of what is stored of the source of a component.
const (
	maxSourceCommits      = 10
	maxSourcePullRequests = 100
	maxSubject            = 100 // runes
)

// addSourceChanges adds to a target what its open pull request brings: the source commits of each
// change, as its body has them.
func addSourceChanges(one *store.Target, report outcome.Report, d promotion.Decision) {
	for _, effect := range report.Effects {
		if !slices.ContainsFunc(effect.Decisions, func(one promotion.Decision) bool { return one.Target == d.Target }) {
			continue
		}
		for _, move := range d.Moves {
			change, read := effect.Changes[pullrequest.KeyOf(move)]
			if known := slices.ContainsFunc(one.Detail.Sources, func(one store.SourceChange) bool {
				return one.Component == move.Component
			}); read && !known {
				one.Detail.Sources = append(one.Detail.Sources, sourceOf(move.Component, change))
			}
		}
		addPullRequests(one.Wanted, effect.Changes, d.Moves)
	}
}

// addPullRequests adds the pull requests of the source to the versions that bring them.
func addPullRequests(versions []store.EventVersion, changes map[pullrequest.ChangeKey]pullrequest.Change, moves []promotion.Move) {
	for i, version := range versions {
		if move, moved := promotion.MoveOf(moves, version.Component); moved && len(version.SourcePullRequests) == 0 {
			versions[i].SourcePullRequests = pullRequestsOf(changes[pullrequest.KeyOf(move)].Source)
		}
	}
}

// pullRequestsOf returns the pull requests that the commits of a change name, each once.
func pullRequestsOf(source scm.Change) (all []string) {
	if source.Removes {
		return nil
	}
	for _, commit := range source.Commits {
		if commit.PullRequest.Number == 0 || len(all) == maxSourcePullRequests {
			continue
		}
		if one := source.Source + "#" + strconv.Itoa(commit.PullRequest.Number); !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}

func sourceOf(component string, change pullrequest.Change) store.SourceChange {
	source := change.Source
	one := store.SourceChange{
		Component: component, Source: source.Source, URL: source.Comparison.URL, Removes: source.Removes,
		Total: max(source.Total, len(source.Commits)), Release: source.Release.URL, Unknown: change.Unknown(),
	}
	for _, commit := range source.Commits[:min(len(source.Commits), maxSourceCommits)] {
		subject, _, _ := strings.Cut(commit.Message, "\n")
		one.Commits = append(one.Commits, store.SourceCommit{
			ID: commit.ID, Subject: cmp.Or(printable.ShortLine(subject, maxSubject), "(no message)"),
			Author: printable.ShortLine(commit.Author, maxSubject),
			At:     commit.Committed, Number: commit.PullRequest.Number, URL: commit.PullRequest.URL,
		})
	}
	return one
}
