package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/access"
	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/verb"
)

// Decisions records user decisions.
type Decisions interface {
	// Decide records a decision of a principal on the state branch, and lets the repository be
	// reconciled. It needs the role operate, or admin, for each target. A decision that is in effect
	// already changes nothing.
	Decide(ctx context.Context, by access.Principal, decision Decision) (Decided, error)
}

// Decision is what a user decides.
type Decision struct {
	Repository  string     `json:"repository"` // HOST/OWNER/NAME, the end of that, or a key; empty: there is only one
	Verb        verb.Verb  `json:"verb"`
	Environment string     `json:"environment,omitempty"` // empty: all, with All
	Application string     `json:"application,omitempty"` // or a pattern; empty: all, with All
	All         bool       `json:"all,omitempty"`         // of what is not named: without it, a decision about several targets is refused
	DryRun      bool       `json:"dryRun,omitempty"`      // nothing is recorded
	Reason      string     `json:"reason,omitempty"`
	With        []string   `json:"with,omitempty"`   // promote: COMPONENT or REPOSITORY, with :TAG, @DIGEST, or both
	Bypass      []string   `json:"bypass,omitempty"` // promote, rollback: conditions and gates
	Images      []string   `json:"images,omitempty"` // reject, unreject: as With
	To          string     `json:"to,omitempty"`     // rollback: a commit or a snapshot; empty: the previous versions
	Until       *time.Time `json:"until,omitempty"`  // freeze
	// Downstream rolls back also each target downstream that has the versions.
	Downstream bool `json:"downstream,omitempty"`
	// For is what a user who promotes saw, as images by component: if something else waits by now, nothing is
	// recorded. Empty: what waits now.
	For map[string]string `json:"for,omitempty"`
}

// Decided is a decision that was recorded.
type Decided struct {
	Schema     int               `json:"schema"`
	Repository string            `json:"repository"`
	Verb       verb.Verb         `json:"verb"`
	By         User              `json:"by"`
	Subject    string            `json:"subject"` // of the commit
	Targets    []DecidedTarget   `json:"targets"`
	Images     map[string]string `json:"images,omitempty"`    // reject, unreject, rollback: by component
	Effects    []string          `json:"effects"`             // what it changed, what was in effect before, and what stops it
	Unchanged  bool              `json:"unchanged,omitempty"` // it was in effect before, so nothing was written
	DryRun     bool              `json:"dryRun,omitempty"`    // nothing was written: this is what would be
	// Downstream are the targets downstream that have the versions that a rollback leaves.
	Downstream []DecidedDownstream `json:"downstream,omitempty"`
	// Promotions is what a promote or a rollback will bring to each target, and what holds that.
	Promotions []DecidedPromotion `json:"promotions,omitempty"`
}

// DecidedDownstream is a target that has versions that a target upstream is rolled back from.
type DecidedDownstream struct {
	Environment string            `json:"environment"`
	Application string            `json:"application"`
	Images      map[string]string `json:"images"`            // that it has, by component
	To          map[string]string `json:"to,omitempty"`      // to which it is rolled back too
	Command     string            `json:"command,omitempty"` // that rolls it back; empty: it is rolled back
}

// DecidedPromotion is what a decision will bring to a target, and all that keeps it from landing now.
type DecidedPromotion struct {
	Environment string                `json:"environment"`
	Application string                `json:"application"`
	State       promotion.State       `json:"state"`
	Reason      string                `json:"reason"`
	Until       *time.Time            `json:"until,omitempty"` // when the reason may change by itself
	Moves       []DecidedMove         `json:"moves"`
	Conditions  []promotion.Condition `json:"conditions"` // that have not passed
	Gates       []promotion.Condition `json:"gates"`      // that have not passed
}

// DecidedMove is the change of one component.
type DecidedMove struct {
	Component string `json:"component"`
	From      string `json:"from,omitempty"` // a tag, or a digest
	To        string `json:"to"`             // a tag, or a digest
	Image     string `json:"image"`          // that it leads to
}

// User is who decided.
type User struct {
	Host  string `json:"host,omitempty"` // of the forge that knows the user
	Login string `json:"login"`
}

// DecidedTarget is what a decision applies to; _all stands for all.
type DecidedTarget struct {
	Environment string `json:"environment"`
	Application string `json:"application"`
}

// decide records a decision. An unknown field is an error: a misspelled environment would
// otherwise be a decision about all of them.
func (a *API) decide(c echo.Context) error {
	if _, err := Parameters(c); err != nil {
		return err
	}
	var decision Decision
	body := json.NewDecoder(http.MaxBytesReader(c.Response(), c.Request().Body, maxRequest))
	body.DisallowUnknownFields()
	if err := body.Decode(&decision); err != nil {
		return fault.New(fault.Invalid, "the decision cannot be read: %w", err)
	}
	if err := body.Decode(&struct{}{}); !errors.Is(err, io.EOF) {
		return fault.New(fault.Invalid, "the request has more than one decision")
	}
	decided, err := a.Decisions.Decide(c.Request().Context(), principalOf(c), decision)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, decided)
}
