// Package api is the HTTP API under /api/v1: its resources as JSON, and their routes. What
// answers is behind small interfaces that other packages implement.
//
// Each request is authenticated (package access), and answered within the scope of its token.
// Errors are problem details (problem.go). openapi.yaml describes all of it; a test
// compares it with the requests and responses of every route.
package api

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/access"
	"promoter/internal/delivery"
	"promoter/internal/fault"
	"promoter/internal/view"
)

// Schema is the version of the JSON of the API. It increases with incompatible changes.
const Schema = 1

// Admin answers the commands of the service's operators.
type Admin interface {
	Status(ctx context.Context) (Status, error)
	History(ctx context.Context, query HistoryQuery) (History, error)
	Replay(ctx context.Context, request Replay) (Replayed, error)
}

// Options configure an API.
type Options struct {
	Sessions   *access.Sessions // with the tokens; nil: there is no API
	Admin      Admin
	Snapshots  Snapshots  // nil: not found
	Decisions  Decisions  // nil: not found
	Reconciler Reconciler // nil: not found
	View       *view.View
	Changes    *Changes
	// Metrics returns the delivery metrics; nil: not found.
	Metrics func(ctx context.Context, query delivery.Query) (delivery.Report, error)
	Now     func() time.Time
}

// Description is the OpenAPI description of the API, as YAML.
//
//go:embed openapi.yaml
var Description []byte

// API has the handlers of the routes.
type API struct{ Options }

// Prefix is the path below which all routes are.
const Prefix = "/api/v1"

// Register adds the routes. Errors of handlers are for Respond.
func Register(e *echo.Echo, options Options) {
	a := &API{Options: options}
	if a.Sessions == nil || a.Admin == nil {
		return
	}
	e.GET(Prefix+"/openapi.yaml", func(c echo.Context) error { // it contains nothing secret
		return c.Blob(http.StatusOK, "application/yaml", Description)
	})
	group := e.Group(Prefix, a.authenticate)
	group.GET("/status", a.status, requires(access.Read))
	group.GET("/history", a.history, requires(access.Read))
	group.POST("/replay", a.replay, requires(access.Admin))
	if a.View != nil {
		group.GET("/applications", a.applications, requires(access.Read))
		group.GET("/applications/:application", a.application, requires(access.Read))
		group.GET("/repositories/:repository", a.repository, requires(access.Read))
		group.GET("/where", a.where, requires(access.Read))
		a.lists(group)
	}
	if a.Changes != nil {
		group.GET("/changes", a.changes, requires(access.Read))
	}
	if a.Metrics != nil {
		group.GET("/metrics", a.metrics, requires(access.Read))
	}
	if a.Decisions != nil {
		group.POST("/decisions", a.decide, requires(access.Operate))
	}
	if a.Reconciler != nil {
		group.POST("/repositories/:repository/reconcile", a.reconcile, requires(access.Operate))
	}
	if a.Snapshots != nil {
		group.GET("/snapshots/:environment", a.snapshotsIn, requires(access.Read))
		group.GET("/runs/:snapshot", a.run, requires(access.Read))
		group.GET("/bindings", a.bindings, requires(access.Read))
	}
}

var errToken = errors.New("a wrong or missing token")

// principalKey is the key of the principal in the context of a request.
const principalKey = "principal"

// authenticate refuses requests without a token, unless the browser is signed in or everything
// of the request is public. Where a token is given, it decides alone.
func (a *API) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		principal, ok := a.Sessions.Tokens.Authenticate(r.Header)
		if r.Header.Get(echo.HeaderAuthorization) == "" {
			var session access.Session
			principal, session, ok = a.Sessions.Authenticate(r)
			if ok && a.Sessions.VerifyCSRF(r, session) != nil {
				if !session.SignedIn() {
					return fault.Wrap(fault.Unauthorized, errToken)
				}
				return Forbidden(access.ErrCSRF.Error())
			}
			a.Sessions.Renew(c.Response(), r, session)
		}
		if !ok {
			return fault.Wrap(fault.Unauthorized, errToken)
		}
		c.Set(principalKey, principal)
		c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
		return next(c)
	}
}

// requires refuses principals without a role. Whether they have it for a target is decided
// where the target is known.
func requires(role access.Role) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if !principalOf(c).Has(role) {
				return Forbidden("this needs a token with the role " + string(role))
			}
			return next(c)
		}
	}
}

// principalOf returns who sent a request; without authentication, a principal that may nothing.
func principalOf(c echo.Context) access.Principal {
	principal, _ := c.Get(principalKey).(access.Principal)
	return principal
}
