// Package web is the dashboard: pages that show what the API shows, rendered by the server.
// A page works without scripts; htmx replaces the part of it that changed when a repository
// was reconciled, or a filter was changed.
//
// Nothing comes from third parties, and no script or style is in a page itself, so that the
// Content-Security-Policy allows neither. Every text of a repository, a forge, or a registry is
// escaped by html/template.
package web

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/access"
	"promoter/internal/api"
	"promoter/internal/delivery"
	"promoter/internal/fault"
	"promoter/internal/signin"
	"promoter/internal/view"
)

// Reader answers what is not in the view.
type Reader interface {
	Status(ctx context.Context) (api.Status, error)
	History(ctx context.Context, query api.HistoryQuery) (api.History, error)
}

// Options configure the pages. What may be missing is marked so.
type Options struct {
	Sessions *access.Sessions // nil: there is no dashboard
	Badges   access.Tokens    // of badges; empty: there are none
	View     *view.View
	Reader   Reader
	Changes  *api.Changes
	// Metrics returns the delivery metrics.
	Metrics   func(ctx context.Context, query delivery.Query) (delivery.Report, error)
	Decisions api.Decisions
	Log       *slog.Logger
	Now       func() time.Time
}

type pages struct {
	Options
	templates templates
}

// Paths of the pages.
const (
	signInPath  = "/sign-in"
	signOutPath = "/sign-out"
	changesPath = "/changes"
)

// Pages returns what adds the routes. Without sessions, there is no dashboard, and without tokens
// of badges, there are none.
func Pages(options Options) func(e *echo.Echo) error {
	return func(e *echo.Echo) error {
		if err := (&badges{tokens: options.Badges, view: options.View}).route(e); err != nil || options.Sessions == nil {
			return err
		}
		parsed, err := parseTemplates()
		if err != nil {
			return fault.Wrap(fault.Internal, err)
		}
		(&pages{Options: options, templates: parsed}).route(e)
		return nil
	}
}

func (p *pages) route(e *echo.Echo) {
	e.GET(staticPath+":file", serveStatic, p.respond)
	open := []echo.MiddlewareFunc{p.respond}
	e.GET(signInPath, p.signIn, open...)
	e.POST(signInPath, p.enter, open...)
	e.POST(signOutPath, p.leave, open...)
	signedIn := []echo.MiddlewareFunc{p.respond, p.authenticate}
	e.GET("/", p.overview, signedIn...)
	e.GET("/applications/:application", p.application, signedIn...)
	deciding := []echo.MiddlewareFunc{p.respond, p.authenticate, p.requireSession}
	e.GET("/applications/:application/decide", p.showDecide, deciding...)
	e.POST("/applications/:application/decide", p.decide, deciding...)
	e.GET("/repositories/:repository", p.repository, signedIn...)
	e.GET("/history", p.history, signedIn...)
	e.GET(wherePath, p.where, signedIn...)
	e.GET(deliveryPath, p.delivery, signedIn...)
	e.GET("/activity", p.activity, signedIn...)
	e.GET(changesPath, p.changes, signedIn...)
}

// contentPolicy allows the files of staticPath, and nothing else.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// respond sets the headers of all pages, and shows errors as a page.
func (p *pages) respond(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		header := c.Response().Header()
		header.Set("Content-Security-Policy", contentPolicy)
		header.Set("Cache-Control", "no-store")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "same-origin")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		err := next(c)
		if err == nil || c.Response().Committed {
			return err
		}
		status, text := p.messageOf(c, err, "this page could not be read; the log of the service has the reason")
		return p.write(c, status, "error", page{Title: http.StatusText(status), Body: text})
	}
}

// messageOf returns the status and the message of an error for the user. Details of internal
// errors are only logged: the user gets another text.
func (p *pages) messageOf(c echo.Context, err error, internal string) (status int, text string) {
	status, text = api.StatusOf(err), err.Error()
	if known, ok := errors.AsType[*echo.HTTPError](err); ok {
		text, _ = known.Message.(string)
	} else if status >= http.StatusInternalServerError {
		p.Log.ErrorContext(c.Request().Context(), "page failed", slog.String("route", c.Path()), slog.String("error", err.Error()))
		text = internal
	}
	return status, text
}

// The keys of the principal and its session in the context of a request.
const (
	principalKey = "principal"
	sessionKey   = "session"
)

// authenticate sends requests without a session to the page that begins one.
func (p *pages) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		principal, session, ok := p.Sessions.Authenticate(c.Request())
		if !ok {
			target := signInURL(c)
			if c.Request().Header.Get("Hx-Request") != "" { // htmx would show the form inside the page
				c.Response().Header().Set("Hx-Redirect", target)
				return c.NoContent(http.StatusUnauthorized)
			}
			if c.Path() == changesPath {
				return c.NoContent(http.StatusUnauthorized)
			}
			return c.Redirect(http.StatusSeeOther, target)
		}
		if !principal.Has(access.Read) {
			return echo.NewHTTPError(http.StatusForbidden, "this needs the role "+string(access.Read))
		}
		p.Sessions.Renew(c.Response(), c.Request(), session)
		c.Set(principalKey, principal)
		c.Set(sessionKey, session)
		return next(c)
	}
}

// requireSession sends users who read public pages to the sign-in.
func (p *pages) requireSession(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if session, _ := c.Get(sessionKey).(access.Session); !session.SignedIn() {
			return c.Redirect(http.StatusSeeOther, signInURL(c))
		}
		return next(c)
	}
}

// signInURL returns the URL of the sign-in that leads back to the page of a request.
func signInURL(c echo.Context) string {
	return signInPath + "?" + url.Values{"next": {c.Request().URL.RequestURI()}}.Encode()
}

func principalOf(c echo.Context) access.Principal {
	principal, _ := c.Get(principalKey).(access.Principal)
	return principal
}

// page is the data of every template.
type page struct {
	Title string
	Path  string // of the page, to mark it in the navigation
	Shown bool   // the navigation
	User  string // who has signed in; empty: no session
	CSRF  string
	// Live is set if the page is read again after a reconciliation of Repository (HOST/OWNER/NAME;
	// empty: of any).
	Live       bool
	Repository string
	Find       string // what is searched for on the page of wherePath
	Charts     bool   // the page has tables that are drawn
	Now        time.Time
	Body       any
}

// write renders a page.
func (p *pages) write(c echo.Context, status int, name string, data page) error {
	data.Path, data.Now = c.Request().URL.Path, p.Now()
	data.Shown = c.Get(principalKey) != nil
	if session, _ := c.Get(sessionKey).(access.Session); session.SignedIn() {
		data.User, data.CSRF = principalOf(c).Name, p.Sessions.CSRF(session)
	}
	var text bytes.Buffer
	if err := p.templates[name].Execute(&text, data); err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	return c.HTMLBlob(status, text.Bytes())
}

// signInBody is the data of the page that begins a session.
type signInBody struct {
	Next, Error string
	OIDC        string // URL of the sign-in with OpenID Connect; empty: it is off
}

func (p *pages) showSignIn(c echo.Context, status int, next, problem string) error {
	body := signInBody{Next: next, Error: problem}
	if p.Sessions.OIDC != nil {
		body.OIDC = api.PathWith(signin.StartPath, map[string]string{"return": next})
	}
	return p.write(c, status, "sign-in", page{Title: "Sign in", Body: body})
}

func (p *pages) signIn(c echo.Context) error {
	next := signin.Local(c.QueryParam("next"))
	if _, session, _ := p.Sessions.Authenticate(c.Request()); session.SignedIn() {
		return c.Redirect(http.StatusSeeOther, next)
	}
	return p.showSignIn(c, http.StatusOK, next, "")
}

// maxForm is the size of a form in bytes.
const maxForm = 64 << 10

func (p *pages) enter(c echo.Context) error {
	if err := access.SameOrigin(c.Request()); err != nil {
		return err
	}
	c.Request().Body = http.MaxBytesReader(c.Response(), c.Request().Body, maxForm)
	next := signin.Local(c.FormValue("next"))
	if _, ok := p.Sessions.SignInToken(c.Response(), c.Request(), c.FormValue("token")); !ok {
		return p.showSignIn(c, http.StatusUnauthorized, next, "This is not a token of the API.")
	}
	return c.Redirect(http.StatusSeeOther, next)
}

func (p *pages) leave(c echo.Context) error {
	_, session, _ := p.Sessions.Authenticate(c.Request())
	if err := p.Sessions.VerifyCSRF(c.Request(), session); err != nil {
		return err
	}
	p.Sessions.End(c.Response(), c.Request())
	return c.Redirect(http.StatusSeeOther, signInPath)
}

func (p *pages) changes(c echo.Context) error { return p.Changes.Stream(c, principalOf(c)) }
