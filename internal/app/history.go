package app

import (
	"context"
	"sync"

	"promoter/internal/api"
	"promoter/internal/connect"
	"promoter/internal/landing"
	"promoter/internal/onboarding"
	"promoter/internal/service/history"
	"promoter/internal/store"
	"promoter/internal/workspace"
)

// GitHistory is a history that was read from repositories.
type GitHistory struct {
	History  api.History
	Omitted  int      // events over the limit of the query
	Failures []Result // repositories that could not be read
}

// HistoryFromGit reads the history from the repositories, without a service: landings
// from the trailers on the branches of environments, and the user decisions that are in
// effect. It has one page.
func HistoryFromGit(ctx context.Context, c *connect.Connections, query api.HistoryQuery, options RunOptions) (GitHistory, error) {
	var mutex sync.Mutex
	var events []store.Event
	results, err := forAll(ctx, c, readOnly(options), nil,
		func(ctx context.Context, _ *onboarding.Batch, w *workspace.Workspace, result *Result) (err error) {
			var landed []landing.Landed
			result.Report, landed, err = w.Reconciler.HistoryFromGit(ctx, query.Since)
			observed := history.Observed(w.Repository.SCM.Info(), result.Report, landed, c.Server.Now())
			mutex.Lock()
			defer mutex.Unlock()
			events = append(events, observed...)
			return err
		})
	if err != nil {
		return GitHistory{}, err
	}
	var read GitHistory
	read.History, read.Omitted = history.Select(events, query, c.Server.Now())
	for _, result := range results {
		if result.Err != nil || result.Report.Unusable != "" {
			read.Failures = append(read.Failures, result)
		}
	}
	return read, nil
}
