package api

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"promoter/internal/access"
)

// Reconciler lets repositories be reconciled at once.
type Reconciler interface {
	// Reconcile lets one repository be reconciled at once, for a principal with the role operate, or admin, for
	// a target of it. The repository is HOST/OWNER/NAME, the end of that, or a key.
	Reconcile(ctx context.Context, by access.Principal, repository string) (Reconciling, error)
}

// Reconciling is a repository that is reconciled at once.
type Reconciling struct {
	Schema     int    `json:"schema"`
	Repository string `json:"repository"` // HOST/OWNER/NAME
	Key        string `json:"key"`
}

// reconcile lets a repository be reconciled. It changes nothing by itself, as a webhook.
func (a *API) reconcile(c echo.Context) error {
	if _, err := Parameters(c); err != nil {
		return err
	}
	name, err := PathParameter(c, "repository")
	if err != nil {
		return err
	}
	reconciling, err := a.Reconciler.Reconcile(c.Request().Context(), principalOf(c), name)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, reconciling)
}
