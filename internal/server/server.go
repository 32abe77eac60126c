package server

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"

	"promoter/internal/api"
	"promoter/internal/fault"
	"promoter/internal/secret"
	"promoter/internal/signin"
	"promoter/internal/webhook"
	"promoter/internal/webhook/credential"
)

// Options configure a Server.
type Options struct {
	// Receivers accept webhooks, each at /webhooks/NAME.
	Receivers []*webhook.Receiver
	// Inbox stores accepted webhooks.
	Inbox Inbox
	// Ready reports whether webhooks can be stored at the moment.
	Ready func(ctx context.Context) error
	// API answers /api/v1 to requests with one of its tokens; without tokens: not found.
	API api.Options
	// SignIn signs users in with OpenID Connect; nil: not found.
	SignIn *signin.Provider
	// Pages, if set, adds the routes of the dashboard.
	Pages func(e *echo.Echo) error
	// Setups create GitHub Apps, each at /setup/NAME.
	Setups []*Setup
	// Trace, if set, is called with each webhook before it is stored. It returns the
	// context to store it with, and a function that receives the result. The traceparent is
	// that of the sender, if any.
	Trace func(ctx context.Context, accepted Accepted, traceparent string) (context.Context, func(status int, err error))
	// Observe, if set, is called after every webhook.
	Observe func(Observation)
	// Limited, if set, is called when a limit of clients ended or refused something: connections,
	// requests, or bodies.
	Limited func(limit string)
	// TLS is the configuration of the listener; nil: plain HTTP.
	TLS *tls.Config
	Log *slog.Logger
	Now func() time.Time
	// Proxies are the networks of proxies in front of the server, whose X-Forwarded-For
	// names the address of a client.
	Proxies []netip.Prefix
	// Rate is how many authenticated events per second a receiver accepts, and Burst how
	// many at once. Zero: 100 and 1,000.
	Rate, Burst int
}

// Server answers requests. It is an http.Handler.
type Server struct {
	Options
	echo     *echo.Echo
	refusals *rate.Limiter // of log lines about refused webhooks
	sources  *sources
	open     *bounds // connections
	requests *bounds // of HTTP/2
	bodies   *bounds // that are being received

	mu        sync.RWMutex
	receivers map[string]*receiver
	unknown   *receiver // replaces receivers that do not exist
}

// Default limits of one receiver.
const (
	defaultRate  = 100
	defaultBurst = 1000 // not less than the events of one delivery
)

// New returns a Server. Inbox, Ready, Log, and Now are required.
func New(options Options) (*Server, error) {
	if options.Rate <= 0 {
		options.Rate = defaultRate
	}
	if options.Burst <= 0 {
		options.Burst = defaultBurst
	}
	if options.Observe == nil {
		options.Observe = func(Observation) {}
	}
	s := newServer(options)
	for _, one := range options.Receivers {
		s.Add(one)
	}
	unknown, err := newUnknownReceiver()
	if err != nil {
		return nil, err
	}
	s.unknown = s.limited(unknown)
	s.echo.POST("/webhooks/:receiver", s.webhook)
	s.echo.POST("/webhooks/:receiver/:secret", s.webhook)
	s.echo.POST(api.Prefix+"/evidence", s.evidence)
	s.echo.Match([]string{http.MethodGet, http.MethodHead}, "/healthz", func(c echo.Context) error {
		return c.String(http.StatusOK, "ok\n") // the process answers; /readyz reports whether it can work
	})
	s.echo.Match([]string{http.MethodGet, http.MethodHead}, "/readyz", s.ready)
	api.Register(s.echo, s.API)
	if s.API.Snapshots != nil { // receivers may post too, so it verifies the credential itself
		s.echo.POST(api.Prefix+"/snapshots", s.postSnapshot)
	}
	if s.SignIn != nil {
		s.echo.GET(signin.StartPath, s.signIn(s.SignIn.Start))
		s.echo.GET(signin.CallbackPath, s.signIn(s.SignIn.Callback))
	}
	if s.Pages != nil {
		if err := s.Pages(s.echo); err != nil {
			return nil, err
		}
	}
	return s, s.routeSetups()
}

// signIn answers with text where a sign-in fails: the user reads it in a browser.
func (s *Server) signIn(handle func(http.ResponseWriter, *http.Request) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := handle(c.Response(), c.Request())
		if err == nil || c.Response().Committed {
			return nil
		}
		status := api.StatusOf(err)
		if status == http.StatusUnauthorized {
			status = http.StatusForbidden // 401 would ask for a token
		}
		c.Response().Header().Set("X-Content-Type-Options", "nosniff")
		c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
		return c.String(status, "Not signed in: "+api.PublicMessage(err)+"\n")
	}
}

// newServer returns a Server without routes.
func newServer(options Options, middleware ...echo.MiddlewareFunc) *Server {
	s := &Server{Options: options, echo: echo.New(), receivers: map[string]*receiver{}, sources: newSources()}
	s.refusals = rate.NewLimiter(rate.Every(refusalEvery), refusalBurst)
	if s.Limited == nil {
		s.Limited = func(string) {}
	}
	s.open = newBounds(maxConnections, maxConnectionsPerAddress, func() { s.Limited("connections") })
	s.requests = newBounds(maxRequests, maxRequestsPerAddress, func() { s.Limited("requests") })
	s.bodies = newBounds(maxBodies, maxBodiesPerAddress, func() { s.Limited("bodies") })
	s.echo.IPExtractor = addressOf(options.Proxies)
	s.echo.HideBanner, s.echo.HidePort = true, true
	s.echo.HTTPErrorHandler = s.respondError
	s.echo.Use(append([]echo.MiddlewareFunc{s.logRequest, s.limitBody}, middleware...)...)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor == 1 {
		s.echo.ServeHTTP(w, r)
		return
	}
	s.serveStream(w, r)
}

// Route is a route that the server answers.
type Route struct{ Method, Path string }

// Routes lists the routes. Segments that begin with a colon are parameters.
func (s *Server) Routes() (all []Route) {
	for _, one := range s.echo.Routes() {
		all = append(all, Route{one.Method, one.Path})
	}
	return all
}

// readyTimeout is how long the database may take to answer.
const readyTimeout = 3 * time.Second

func (s *Server) ready(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), readyTimeout)
	defer cancel()
	if err := s.Ready(ctx); err != nil {
		return c.String(http.StatusServiceUnavailable, "not ready: "+err.Error()+"\n")
	}
	return c.String(http.StatusOK, "ready\n")
}

// requestIDHeader identifies a request in the log and in the response. The value that a
// client sends is ignored.
const requestIDHeader = "X-Request-Id"

func requestID(c echo.Context) string { return c.Response().Header().Get(requestIDHeader) }

// logRequest assigns an ID to each request, handles its error, and logs it with its
// route: the path may contain a secret.
func (s *Server) logRequest(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Header().Set(requestIDHeader, rand.Text())
		begin := s.Now()
		if err := s.recovered(c, func() error { return next(c) }); err != nil {
			s.respondError(err, c)
		}
		attributes := []slog.Attr{
			slog.String("request", requestID(c)),
			slog.String("method", c.Request().Method),
			slog.String("route", c.Path()),
			slog.Int("status", c.Response().Status),
			slog.Duration("took", s.Now().Sub(begin)),
		}
		s.Log.LogAttrs(c.Request().Context(), slog.LevelDebug, "request", attributes...)
		return nil
	}
}

// recovered turns a panic into an error of its request. net/http would close the
// connection, and log it at the level of errors of clients.
func (s *Server) recovered(c echo.Context, do func() error) (err error) {
	defer func() {
		value := recover()
		if value == nil {
			return
		}
		if value == http.ErrAbortHandler { //nolint:errorlint // the value of a panic is not wrapped
			panic(value)
		}
		log := s.Log.With(slog.String("request", requestID(c)), slog.String("route", c.Path()))
		log.ErrorContext(c.Request().Context(), "request panicked", slog.String("panic", fmt.Sprint(value)),
			slog.String("stack", string(debug.Stack())))
		err = fault.Defect(value)
	}()
	return do()
}

// Limits of a client.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 60 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
)

// Listen serves the listener until the context ends. Then it finishes the requests in
// progress, for at most the drain time, and returns nil.
func (s *Server) Listen(ctx context.Context, listener net.Listener, drain time.Duration) error {
	server := &http.Server{
		Handler: s, MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		ConnState: observeConnection, ConnContext: withConnection, HTTP2: http2(),
		ErrorLog: slog.NewLogLogger(netLog{s.Log.Handler()}, slog.LevelDebug),
	}
	serve := server.Serve
	if s.TLS != nil { // with HTTP/2
		server.TLSConfig = s.TLS.Clone()
		serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	listener = &boundedListener{Listener: listener, open: s.open, proxies: s.Proxies}
	ended := make(chan error, 1)
	go func() { ended <- serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("listen on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	if err := server.Shutdown(draining); err != nil {
		return errors.Join(fmt.Errorf("finish requests in progress: %w", err), server.Close())
	}
	return nil
}

// netLog receives the log of net/http at the debug level. Nearly all of it is about
// errors of clients; an Accept error is an error of this process, for instance too many
// open files.
type netLog struct{ slog.Handler }

// Enabled implements slog.Handler: Handle decides with the message.
func (l netLog) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (l netLog) Handle(ctx context.Context, record slog.Record) error {
	if strings.HasPrefix(record.Message, "http: Accept error") {
		record.Level = slog.LevelError
	}
	if !l.Handler.Enabled(ctx, record.Level) {
		return nil
	}
	return l.Handler.Handle(ctx, record)
}

// respondError answers with an error. Details of internal errors are only logged.
func (s *Server) respondError(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	if _, isHTTP := errors.AsType[*echo.HTTPError](err); !isHTTP && api.StatusOf(err) >= http.StatusInternalServerError {
		s.Log.ErrorContext(c.Request().Context(), "request failed", slog.String("request", requestID(c)), slog.String("error", err.Error()))
	}
	api.Respond(c, err, s.Now())
}

// equal compares texts in constant time, which does not depend on their length either.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// newUnknownReceiver returns a receiver with a random secret, which replaces receivers
// that do not exist. It takes as long as one that verifies signatures.
func newUnknownReceiver() (*webhook.Receiver, error) {
	return webhook.New(webhook.Options{Kind: "github", Credential: credential.Options{Secret: secret.New(rand.Text())}})
}
