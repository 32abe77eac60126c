package history

import (
	"cmp"
	"slices"
	"strings"

	"promoter/internal/engine"
	"promoter/internal/printable"
	"promoter/internal/promotion"
	"promoter/internal/pullrequest"
	"promoter/internal/store"
)

// Limits of what is stored of the source of a component.
const (
	maxSourceCommits = 10
	maxSubject       = 100 // runes
)

// sourcesOf returns what the open pull request of a target brings: the source commits of each
// change, as its body has them.
func sourcesOf(report engine.Report, d promotion.Decision) []store.SourceChange {
	var all []store.SourceChange
	for _, effect := range report.Effects {
		if !slices.ContainsFunc(effect.Decisions, func(one promotion.Decision) bool { return one.Target == d.Target }) {
			continue
		}
		for _, move := range d.Moves {
			change, read := effect.Changes[pullrequest.KeyOf(move)]
			if known := slices.ContainsFunc(all, func(one store.SourceChange) bool { return one.Component == move.Component }); read && !known {
				all = append(all, sourceOf(move.Component, change))
			}
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
			ID: commit.ID, Subject: cmp.Or(printable.ShortLine(subject, maxSubject), "(no message)"), Author: printable.ShortLine(commit.Author, maxSubject),
			At: commit.Committed, Number: commit.PullRequest.Number, URL: commit.PullRequest.URL,
		})
	}
	return one
}
