package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"promoter/internal/api"
	"promoter/internal/fault"
	"promoter/internal/secret"
)

// Setup creates a GitHub App in a browser: a page with one button at
// /setup/NAME/SECRET, GitHub's own page, and back to /setup/NAME. The secret gives
// access to the button; the state that the button sends gives access to the callback.
type Setup struct {
	Name    string // of the forge
	Secret  secret.String
	Creator AppCreator

	states states
}

// AppCreator describes and creates an App.
type AppCreator interface {
	// Preview returns what the button sends, or why no App can be created.
	Preview(ctx context.Context) (AppPreview, error)
	// Create fetches the App of the code and stores its credentials. After a Temporary or
	// RateLimited fault, the same code may be tried again.
	Create(ctx context.Context, code string) (CreatedApp, error)
}

// AppPreview is an App that can be created.
type AppPreview struct {
	GitHub      string // the host, for display
	Owner       string // the organization; empty: the user's own account
	Action      string // URL of the form
	Manifest    string // what the form sends, JSON
	Permissions []AppPermission
	Events      []string
	Hook        string // URL of webhooks; empty: none
}

// AppPermission is a permission that the App requests.
type AppPermission struct{ Title, For string }

// CreatedApp is an App that was created.
type CreatedApp struct {
	Name    string
	Install string   // the page that installs it
	Next    []string // what else is to be done, in sentences
}

// SetupPath is the path of the first page.
func SetupPath(name, secret string) string {
	return SetupCallbackPath(name) + "/" + url.PathEscape(secret)
}

// SetupCallbackPath is the path that GitHub redirects the browser to.
func SetupCallbackPath(name string) string { return "/setup/" + url.PathEscape(name) }

// NewSetupServer returns a Server that only answers set-ups, to requests with one of
// these hosts: other names that resolve to this address belong to other sites.
func NewSetupServer(options Options, hosts ...string) (*Server, error) {
	s := newServer(options, func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if !slices.Contains(hosts, c.Request().Host) {
				return echo.NewHTTPError(http.StatusMisdirectedRequest, "nothing is here under this name")
			}
			return next(c)
		}
	})
	return s, s.routeSetups()
}

// setups answers the pages of all set-ups.
type setups struct {
	byName  map[string]*Setup
	unknown *Setup // replaces names that do not exist
	page    *template.Template
	style   string // hash of the style sheet, for the content security policy
	log     *slog.Logger
	now     func() time.Time
}

//go:embed setup.html
var setupHTML string

//go:embed setup.css
var setupCSS string

func (s *Server) routeSetups() error {
	if len(s.Setups) == 0 {
		return nil
	}
	page, err := template.New("setup").Parse(setupHTML)
	if err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	sum := sha256.Sum256([]byte(setupCSS))
	all := &setups{
		byName:  map[string]*Setup{},
		unknown: &Setup{Secret: secret.New(rand.Text())},
		page:    page,
		style:   "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'",
		log:     s.Log,
		now:     s.Now,
	}
	for _, one := range s.Setups {
		all.byName[one.Name] = one
	}
	s.echo.GET("/setup/:forge/:secret", all.preview)
	s.echo.GET("/setup/:forge", all.callback)
	return nil
}

func (s *setups) named(c echo.Context) *Setup {
	if one, ok := s.byName[c.Param("forge")]; ok {
		return one
	}
	return s.unknown
}

// errSetup is the same for an unknown forge, a wrong secret, and a wrong state.
var errSetup = fault.Wrap(fault.Unauthorized, errors.New(
	"nothing can be set up at this address: it is wrong, was used already, or was opened more than an hour or a restart ago; "+
		"open the first page again, and if it offers an App, delete the one that GitHub may show already"))

// preview shows the button.
func (s *setups) preview(c echo.Context) error {
	one := s.named(c)
	if !equal(c.Param("secret"), one.Secret.Reveal()) || one == s.unknown {
		return s.writeError(c, errSetup)
	}
	app, err := one.Creator.Preview(c.Request().Context())
	if err != nil {
		return s.writeError(c, err)
	}
	to, err := url.Parse(app.Action)
	if err != nil {
		return s.writeError(c, fault.Wrap(fault.Internal, err))
	}
	to.RawQuery = url.Values{"state": {one.states.create(s.now())}}.Encode()
	return s.write(c, http.StatusOK, to.Scheme+"://"+to.Host,
		setupPage{Title: "Set promoter up on " + app.GitHub, Preview: &app, Action: to.String()})
}

// callback receives the browser from GitHub. Without a state of a button, nothing else
// of the request is used.
func (s *setups) callback(c echo.Context) error {
	one, state := s.named(c), c.QueryParam("state")
	if !one.states.take(state, s.now()) {
		return s.writeError(c, errSetup)
	}
	code := c.QueryParam("code")
	if code == "" {
		return s.writeError(c, fault.New(fault.Invalid,
			"GitHub sent no code, so no App was created: open the first page again to start over"))
	}
	app, err := one.Creator.Create(c.Request().Context(), code)
	if err != nil { // there may be an App whose key is lost, and the browser may have gone
		s.log.ErrorContext(c.Request().Context(), "App set-up failed", slog.String("forge", one.Name), slog.Any("error", err))
		if kind := fault.KindOf(err); kind == fault.Temporary || kind == fault.RateLimited {
			one.states.add(openState{state, s.now()})
		}
		return s.writeError(c, err)
	}
	return s.write(c, http.StatusOK, "'none'", setupPage{Title: app.Name + " was created", Created: &app})
}

// setupPage is the data of the template: one of Preview, Created, and Error.
type setupPage struct {
	Title   string
	Style   template.CSS
	Preview *AppPreview
	Action  string
	Created *CreatedApp
	Error   string
}

// writeError shows an error to the user, who has presented a secret.
func (s *setups) writeError(c echo.Context, err error) error {
	text := err.Error()
	first, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[size:] + "."
	return s.write(c, api.StatusOf(err), "'none'", setupPage{Title: "Set-up of promoter", Error: text})
}

// write sends a page without scripts that may send a form to one site only. The referrer
// has no path, because the path contains the secret.
func (s *setups) write(c echo.Context, status int, formTo string, data setupPage) error {
	data.Style = template.CSS(setupCSS) //nolint:gosec // our own file
	var text bytes.Buffer
	if err := s.page.Execute(&text, data); err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	header := c.Response().Header()
	header.Set("Content-Security-Policy",
		"default-src 'none'; style-src "+s.style+"; form-action "+formTo+"; frame-ancestors 'none'; base-uri 'none'")
	header.Set("Referrer-Policy", "strict-origin")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	return c.HTMLBlob(status, text.Bytes())
}

// Limits of states: their lifetime, which is that of GitHub's page, and how many pages
// may be open at once. The oldest state is dropped first.
const (
	stateLifetime = time.Hour
	maxStates     = 64
	stateSize     = 32 // bytes
)

// states are what the buttons of open pages send. Each is valid once.
type states struct {
	mu   sync.Mutex
	open []openState
}

type openState struct {
	text string
	at   time.Time
}

func (s *states) create(now time.Time) string {
	raw := make([]byte, stateSize)
	_, _ = rand.Read(raw) // it never fails
	text := base64.RawURLEncoding.EncodeToString(raw)
	s.add(openState{text, now})
	return text
}

func (s *states) add(one openState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, one)
	if more := len(s.open) - maxStates; more > 0 {
		s.open = slices.Delete(s.open, 0, more)
	}
}

// take removes a state, and reports whether it was valid.
func (s *states) take(text string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := false
	s.open = slices.DeleteFunc(s.open, func(one openState) bool {
		expired, match := now.Sub(one.at) > stateLifetime, equal(one.text, text)
		found = found || match && !expired
		return expired || match
	})
	return found
}
