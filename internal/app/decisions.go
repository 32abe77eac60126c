package app

import (
	"context"

	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/onboarding"
	"promoter/internal/repo"
	"promoter/internal/state"
	"promoter/internal/workspace"
)

// Decisions reads the user decisions of all repositories. They are in the reports, without
// anything else.
func Decisions(ctx context.Context, c *connect.Connections, options RunOptions) ([]Result, error) {
	return forAll(ctx, c, readOnly(options), nil,
		func(ctx context.Context, _ *onboarding.Batch, w *workspace.Workspace, result *Result) error {
			read, err := w.Reconciler.Clients.StateBranch().State(ctx)
			for _, problem := range read.Problems() {
				result.Report.Errors = append(result.Report.Errors,
					repo.PartialError{What: state.Branch, Err: fault.New(fault.Invalid, "%s", problem)})
			}
			if err == nil {
				// Which targets are gone is only shown: without it, the decisions are listed all the same.
				if located, problem := w.Reconciler.Clients.Located(ctx, read); problem == nil {
					read = located
				}
			}
			result.Report.UserDecisions = []state.State{read}
			return err
		})
}
