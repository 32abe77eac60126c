package app

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"promoter/internal/engine"
	"promoter/internal/pullrequest"
	"promoter/internal/suggest"
)

// page collects what the pull request tells. Registries are asked once, for what
// would be proposed first; what cannot be known is said, and stops nothing.
func (a *asking) page(ctx context.Context, made *suggest.Suggestion) pullrequest.Onboarding {
	page := pullrequest.Onboarding{Base: a.base, Applications: made.Applications, Files: usesOf(made)}
	for i := range made.Components {
		c := &made.Components[i]
		shown := pullrequest.OnboardingComponent{Name: c.Name, Repository: c.Repository.String(), Select: c.Selected(), Present: c.Current}
		if !c.Active {
			shown.Off = c.Reason
		}
		page.Components = append(page.Components, shown)
	}
	for _, e := range made.Environments {
		page.Environments = append(page.Environments, pullrequest.OnboardingEnvironment{Name: e.Name, Paths: e.Paths, After: e.After})
	}
	for _, w := range made.Warnings {
		page.Warnings = append(page.Warnings, pullrequest.OnboardingWarning{Text: w.Text, Advice: w.Advice})
	}
	a.foresee(ctx, made.Text, &page)
	return page
}

// foresee looks as a pass would after the merge.
func (a *asking) foresee(ctx context.Context, text string, page *pullrequest.Onboarding) {
	then := *a.reconciler
	then.Objects, then.DryRun = offered{Objects: a.reconciler.Objects, at: a.at, text: []byte(text)}, true
	report, err := then.Observe(ctx)
	if page.Decisions = report.Decisions; err != nil {
		page.Unknown = append(page.Unknown, err.Error())
	}
	if report.Unusable != "" {
		page.Unknown = append(page.Unknown, report.Unusable)
	}
	for _, trouble := range report.Errors {
		page.Unknown = append(page.Unknown, trouble.What+": "+trouble.Err.Error())
	}
}

// usesOf counts the references that could be changed, by file.
func usesOf(made *suggest.Suggestion) []pullrequest.OnboardingUse {
	counts := map[string]int{}
	for _, r := range made.Inside {
		counts[r.Position.File]++
	}
	var uses []pullrequest.OnboardingUse
	for _, file := range slices.Sorted(maps.Keys(counts)) {
		uses = append(uses, pullrequest.OnboardingUse{File: file, Count: counts[file]})
	}
	return uses
}

// offered are the objects of a repository as if the config were merged.
type offered struct {
	engine.Objects
	at   string
	text []byte
}

// Read implements engine.Contents.
func (o offered) Read(commit, path string, limit int64) ([]byte, error) {
	if commit == o.at && path == ConfigFile {
		return bytes.Clone(o.text), nil
	}
	return o.Objects.Read(commit, path, limit)
}
