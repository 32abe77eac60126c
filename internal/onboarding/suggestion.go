package onboarding

import (
	"bytes"
	"context"
	"fmt"

	"promoter/internal/config"
	"promoter/internal/imports"
	"promoter/internal/promotion"
	"promoter/internal/pullrequest"
	"promoter/internal/repo"
	"promoter/internal/suggest"
)

// suggestConfig generates a config for the files of the default branch.
func (o *offer) suggestConfig(ctx context.Context) (*suggest.Suggestion, error) {
	files, err := o.workspace.Files(ctx, o.commit)
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", o.base, err)
	}
	found, err := imports.Find(ctx, files, o.maxSize)
	if err != nil {
		return nil, fmt.Errorf("scan the files of %s: %w", o.base, err)
	}
	found.ForPullRequest = true
	return suggest.Config(found.Found)
}

// prepare previews the first reconciliation, lets the config begin carefully if it would
// propose much, and collects what the pull request shows. What cannot be determined is
// shown as such, and stops nothing.
func (o *offer) prepare(ctx context.Context, suggestion *suggest.Suggestion) pullrequest.Onboarding {
	decisions, unknown := o.preview(ctx, suggestion.Text)
	before := suggestion.Text
	suggestion.Begin(pullrequest.Starts(pullrequest.FirstReconciliation(decisions)))
	if suggestion.Text != before {
		decisions, unknown = o.preview(ctx, suggestion.Text)
	}
	return pullrequest.Onboarding{Base: o.base, Suggestion: suggestion, Decisions: decisions, Unknown: unknown}
}

// preview observes the repository as the first reconciliation after the merge will, which
// queries the registries.
func (o *offer) preview(ctx context.Context, text string) (decisions []promotion.Decision, unknown []string) {
	merged := *o.reconciler
	merged.Clients.Objects = withConfig{Objects: o.reconciler.Clients.Objects, commit: o.commit, text: []byte(text)}
	merged.Clients.ReadOnly = true
	merged.Cache = nil // its decisions are those of another config
	report, err := merged.Preview(ctx)
	if err != nil {
		unknown = append(unknown, err.Error())
	}
	if report.Unusable != "" {
		unknown = append(unknown, report.Unusable)
	}
	for _, one := range report.Errors {
		unknown = append(unknown, one.What+": "+one.Err.Error())
	}
	return report.Decisions, unknown
}

// withConfig are the objects of a repository as if the config were merged.
type withConfig struct {
	repo.Objects
	commit string
	text   []byte
}

// Read implements repo.Contents.
func (o withConfig) Read(commit, path string, limit int64) ([]byte, error) {
	if commit == o.commit && path == config.FileName {
		return bytes.Clone(o.text), nil
	}
	return o.Objects.Read(commit, path, limit)
}
