package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"promoter/internal/api"
)

// repositoryBody is one repository.
type repositoryBody struct {
	api.RepositoryDetail
	ApplicationsURL, HistoryURL string
}

// repository shows one repository: its reconciliation, its config, and what is wrong with its files.
func (p *pages) repository(c echo.Context) error {
	if _, err := api.Parameters(c); err != nil {
		return err
	}
	name, err := api.PathParameter(c, "repository")
	if err != nil {
		return err
	}
	detail, err := api.RepositoryReader{View: p.View, Status: p.Reader.Status}.Read(c.Request().Context(), principalOf(c), name)
	if err != nil {
		return err
	}
	only := map[string]string{"repository": detail.Found.Repository}
	body := repositoryBody{detail, api.PathWith("/", only), api.PathWith("/history", only)}
	return p.write(c, http.StatusOK, "repository", page{
		Title: detail.Found.Repository, Live: true, Repository: detail.Found.Repository, Body: body,
	})
}
