package api

import (
	_ "embed" // of the description
	"net/http"

	"github.com/labstack/echo/v4"
)

// Description is the OpenAPI description of the API, as YAML.
//
//go:embed openapi.yaml
var Description []byte

// describe answers with the description. It contains nothing secret.
func (a *API) describe(c echo.Context) error {
	return c.Blob(http.StatusOK, "application/yaml", Description)
}
