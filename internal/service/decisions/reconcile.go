package decisions

import (
	"context"
	"log/slog"

	"promoter/internal/access"
	"promoter/internal/api"
)

// Reconcile implements api.Reconciler. A request costs a reconciliation, so it counts as a decision of the principal.
func (a *API) Reconcile(ctx context.Context, by access.Principal, repository string) (reconciling api.Reconciling, err error) {
	if err := a.budget.spend(by.Name); err != nil {
		return reconciling, err
	}
	stored, err := a.service.TriggerOne(ctx, choice(by, repository))
	if err != nil {
		return reconciling, api.Authenticated(err)
	}
	name := stored.Host + "/" + stored.Name
	a.log.InfoContext(ctx, "reconciliation requested", slog.String("repository", stored.Name), slog.String("key", stored.Key),
		slog.String("principal", by.Name))
	return api.Reconciling{Schema: api.Schema, Repository: name, Key: stored.Key}, nil
}
