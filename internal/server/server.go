package server

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"

	"promoter/internal/secret"
	"promoter/internal/webhook"
)

// Options wire a Server.
type Options struct {
	// Receivers take webhooks, each at /webhooks/NAME.
	Receivers []*webhook.Receiver
	// Inbox keeps what they take.
	Inbox Inbox
	// Ready says whether webhooks can be kept at this moment.
	Ready func(ctx context.Context) error
	// Metrics answers /metrics; nil: there are none.
	Metrics http.Handler
	// Admin answers the API to whoever shows its token; nil: there is none.
	Admin AdminAPI
	Token secret.String
	// Setups make GitHub Apps, each at /setup/NAME. None: there is no such address.
	Setups []*Setup
	// Trace is told of a webhook that was proven before it is kept, gives the context
	// that it is kept with, and is told how it was answered; nil: nobody follows. The
	// traceparent is the sender's own, if it has one.
	Trace func(ctx context.Context, taken Accepted, traceparent string) (context.Context, func(status int, err error))
	// Observe is told of every webhook; nil: nobody is.
	Observe func(Observation)
	// TLS is spoken on the listener; nil: plain http.
	TLS *tls.Config
	Log *slog.Logger
	Now func() time.Time
	// Rate is how many requests a receiver takes in a second, and Burst how many at
	// once. Zero: 50 and 200.
	Rate, Burst int
}

// Inbox makes webhooks durable.
type Inbox interface {
	// Accept keeps a delivery. When it returns nil, the delivery is on the disk and what
	// it hints at will be looked at.
	Accept(ctx context.Context, taken Accepted) error
}

// Accepted is a delivery that was proven and read, with what it was read from.
type Accepted struct {
	webhook.Delivery
	Receiver string // its name
	Sender   string // its kind
	At       time.Time
	Header   http.Header // without credentials
	Body     []byte
}

// Observation is how one webhook ended.
type Observation struct {
	Receiver string // empty: there is none of that name
	Status   int    // of HTTP
	Events   int
	Took     time.Duration
}

// Server answers requests. It is an http.Handler.
type Server struct {
	Options
	echo  *echo.Echo
	decoy *receiver // stands for every name that is none

	refusals *rate.Limiter // of their lines in the log

	mu        sync.RWMutex
	receivers map[string]*receiver
}

// Defaults of the limits on one receiver.
const (
	defaultRate  = 50
	defaultBurst = 200
)

// New makes a Server. Inbox, Ready, Log and Now are required.
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
	s := &Server{Options: options, echo: echo.New(), receivers: map[string]*receiver{}}
	s.refusals = rate.NewLimiter(rate.Every(refusalEvery), refusalsAtOnce)
	for _, one := range options.Receivers {
		s.receivers[one.Name()] = s.limited(one)
	}
	decoy, err := newDecoy()
	if err != nil {
		return nil, err
	}
	s.decoy = s.limited(decoy)
	s.route()
	return s, s.routeSetups()
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.echo.ServeHTTP(w, r) }

// route names every address that there is. A GET of a webhook is 405 and of
// anything else 404, which the library does.
func (s *Server) route() {
	s.echo.HideBanner, s.echo.HidePort = true, true
	s.echo.HTTPErrorHandler = s.fail
	s.echo.Use(s.identify, s.record)
	s.echo.POST("/webhooks/:receiver", s.webhook)
	s.echo.POST("/webhooks/:receiver/:secret", s.webhook)
	s.echo.Match([]string{http.MethodGet, http.MethodHead}, "/healthz", alive)
	s.echo.Match([]string{http.MethodGet, http.MethodHead}, "/readyz", s.ready)
	if s.Admin != nil && !s.Token.IsZero() {
		api := s.echo.Group("/api/v1", s.shown)
		api.GET("/status", s.status)
		api.GET("/history", s.history)
		api.POST("/replay", s.replay)
	}
	if s.Metrics != nil {
		s.echo.GET("/metrics", echo.WrapHandler(s.Metrics))
	}
}

// alive says that the process answers; whether it can work is for ready to say.
func alive(c echo.Context) error {
	return c.String(http.StatusOK, "ok\n")
}

// readyWithin is how long the database may take to answer.
const readyWithin = 3 * time.Second

func (s *Server) ready(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), readyWithin)
	defer cancel()
	if err := s.Ready(ctx); err != nil {
		return c.String(http.StatusServiceUnavailable, "not ready: "+err.Error()+"\n")
	}
	return c.String(http.StatusOK, "ready\n")
}
