package api

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"promoter/internal/fault"
)

// Replay requests that a stored delivery is accepted again.
type Replay struct {
	ID       string `json:"id"`
	Receiver string `json:"receiver"` // empty: any
	DryRun   bool   `json:"dryRun"`   // only return what it means
}

// Replayed is what a delivery means now.
type Replayed struct {
	Schema       int      `json:"schema"`
	Receiver     string   `json:"receiver"`
	ID           string   `json:"id"`
	EventType    string   `json:"eventType"`
	Events       []string `json:"events"`
	Ignored      string   `json:"ignored,omitempty"` // why there are no events
	Repositories []string `json:"repositories"`      // the keys of those that it triggers
}

// maxRequest limits the body of a request, in bytes.
const maxRequest = 64 << 10

// replay is for principals that may read all repositories: a delivery belongs to none of them.
func (a *API) replay(c echo.Context) error {
	if principalOf(c).Restricted() {
		return Forbidden("a delivery may be about any repository: this needs a token for all of them")
	}
	var request Replay
	body := json.NewDecoder(http.MaxBytesReader(c.Response(), c.Request().Body, maxRequest))
	if err := body.Decode(&request); err != nil || request.ID == "" {
		return fault.New(fault.Invalid, "the request names no delivery")
	}
	replayed, err := a.Admin.Replay(c.Request().Context(), request)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, replayed)
}
