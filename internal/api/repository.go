package api

import (
	"context"
	"slices"

	"github.com/labstack/echo/v4"

	"promoter/internal/access"
	"promoter/internal/view"
)

// RepositoryDetail is one repository: the state of its queue, and what its last reconciliation
// found.
type RepositoryDetail struct {
	Queue     Repository      `json:"queue"`
	Found     view.Repository `json:"found"`
	Receivers []Receiver      `json:"receivers"` // of health reports, that the config names
}

// RepositoryReader reads details of repositories.
type RepositoryReader struct {
	View   *view.View
	Status func(ctx context.Context) (Status, error)
}

// Read returns one repository within what a principal may read.
func (r RepositoryReader) Read(ctx context.Context, p access.Principal, repository string) (RepositoryDetail, error) {
	detail := RepositoryDetail{Receivers: []Receiver{}}
	found, err := r.View.Repository(ctx, p, repository)
	if err != nil {
		return detail, err
	}
	detail.Found = found
	status, err := r.Status(ctx)
	if err != nil {
		return detail, err
	}
	detail.Queue = Repository{Name: found.Repository, Key: found.Key, State: StateIdle}
	readable := status.Within(p).Repositories
	if i := slices.IndexFunc(readable, func(one Repository) bool { return one.Key == found.Key }); i >= 0 {
		detail.Queue = readable[i]
	}
	if found.Partial {
		return detail, nil
	}
	for _, receiver := range status.Receivers {
		if slices.Contains(receiver.Repositories, found.Repository) {
			receiver.Repositories = []string{found.Repository} // others may be outside of the scope
			detail.Receivers = append(detail.Receivers, receiver)
		}
	}
	return detail, nil
}

func (a *API) repository(c echo.Context) error {
	if _, err := Parameters(c); err != nil {
		return err
	}
	name, err := PathParameter(c, "repository")
	if err != nil {
		return err
	}
	found, err := RepositoryReader{View: a.View, Status: a.Admin.Status}.Read(c.Request().Context(), principalOf(c), name)
	return respond(c, found, err)
}
