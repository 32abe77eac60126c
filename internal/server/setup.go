package server

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// Setup makes a GitHub App in a browser: a page with one button at
// /setup/NAME/SECRET, GitHub's own page, and back to /setup/NAME. Who knows the
// secret sees the button; who brings back what a button sent along has made the App.
type Setup struct {
	Name    string // of the forge
	Secret  secret.String
	Creator AppCreator

	states states
}

// AppCreator knows which App is wanted, and keeps it.
type AppCreator interface {
	// Preview says what the button sends, and refuses where nothing can come of it.
	Preview(ctx context.Context) (AppPreview, error)
	// Create fetches the App of the code, once, and keeps its credentials. After a
	// Temporary or RateLimited fault the same code may be tried again.
	Create(ctx context.Context, code string) (CreatedApp, error)
}

// AppPreview is an App that can be made.
type AppPreview struct {
	GitHub      string // the host, for people
	Owner       string // the organization; empty: the person's own account
	Action      string // where the button leads
	Manifest    string // what it sends, JSON
	Permissions []AppPermission
	Events      []string
	Hook        string // where webhooks are posted to; empty: there is none
}

// AppPermission is one that the App asks for.
type AppPermission struct{ Title, For string }

// CreatedApp is an App that was made.
type CreatedApp struct {
	Name    string
	Install string   // the page on which it is installed
	Next    []string // what is to be done beside that, in sentences
}

// SetupPath is the address of the page below that of the server, and BackPath where
// GitHub sends the browser.
func SetupPath(name, secret string) string {
	return SetupCallbackPath(name) + "/" + url.PathEscape(secret)
}

// SetupCallbackPath is where GitHub sends the browser back to.
func SetupCallbackPath(name string) string { return "/setup/" + url.PathEscape(name) }

// NewSetupServer makes a Server that answers one set-up and nothing else, to
// browsers that ask for one of these hosts: another name that leads here is another
// site's.
func NewSetupServer(options Options, hosts ...string) (*Server, error) {
	s := &Server{Options: options, echo: echo.New()}
	s.echo.HideBanner, s.echo.HidePort = true, true
	s.echo.HTTPErrorHandler = s.fail
	s.echo.Use(s.identify, s.record, only(hosts))
	return s, s.routeSetups()
}

// only refuses requests for other hosts.
func only(hosts []string) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if !slices.Contains(hosts, c.Request().Host) {
				return echo.NewHTTPError(http.StatusMisdirectedRequest, "nothing is here under this name")
			}
			return next(c)
		}
	}
}

// setups answers for all of them.
type setups struct {
	byName map[string]*Setup
	decoy  *Setup // stands for every name that is none
	pages  *setupPages
	log    *slog.Logger
	now    func() time.Time
}

func (s *Server) routeSetups() error {
	if len(s.Setups) == 0 {
		return nil
	}
	pages, err := newSetupPages()
	if err != nil {
		return err
	}
	all := &setups{byName: map[string]*Setup{}, decoy: &Setup{Secret: secret.New(rand.Text())}, pages: pages, log: s.Log, now: s.Now}
	for _, one := range s.Setups {
		all.byName[one.Name] = one
	}
	s.echo.GET("/setup/:forge/:secret", all.offer)
	s.echo.GET("/setup/:forge", all.back)
	return nil
}

func (s *setups) named(c echo.Context) *Setup {
	if one, ok := s.byName[c.Param("forge")]; ok {
		return one
	}
	return s.decoy
}

// errSetup is the same for an unknown forge, a wrong secret and a wrong state.
var errSetup = fault.Wrap(fault.Unauthorized, errors.New(
	"nothing can be set up at this address: it is wrong, or it was used already, or it was opened more than an hour or a restart ago; open the first page again, and if it offers an App, delete the one that GitHub may show already"))

// offer shows the button.
func (s *setups) offer(c echo.Context) error {
	one := s.named(c)
	if !same(c.Param("secret"), one.Secret.Reveal()) || one == s.decoy {
		return s.pages.failed(c, errSetup)
	}
	available, err := one.Creator.Preview(c.Request().Context())
	if err != nil {
		return s.pages.failed(c, err)
	}
	to, err := url.Parse(available.Action)
	if err != nil {
		return s.pages.failed(c, fault.Wrap(fault.Internal, err))
	}
	to.RawQuery = url.Values{"state": {one.states.mint(s.now())}}.Encode()
	return s.pages.offer(c, available, to)
}

// back takes what GitHub sends the browser back with. A state that no button had is
// not looked at any further.
func (s *setups) back(c echo.Context) error {
	one, state := s.named(c), c.QueryParam("state")
	if !one.states.take(state, s.now()) {
		return s.pages.failed(c, errSetup)
	}
	code := c.QueryParam("code")
	if code == "" {
		return s.pages.failed(c, fault.New(fault.Invalid, "GitHub sent no code back, so no App was made: open the first page again to begin anew"))
	}
	made, err := one.Creator.Create(c.Request().Context(), code)
	if err != nil { // there may be an App that nobody has the key of, and the browser may be gone
		s.log.ErrorContext(c.Request().Context(), "the set-up of an App failed", slog.String("forge", one.Name), slog.Any("error", err))
		if kind := fault.KindOf(err); kind == fault.Temporary || kind == fault.RateLimited {
			one.states.giveBack(state, s.now())
		}
		return s.pages.failed(c, err)
	}
	return s.pages.made(c, made)
}

// same compares in a time that says nothing about either.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
