package server

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"

	"promoter/internal/api"
	"promoter/internal/fault"
	kind "promoter/internal/receiver"
	"promoter/internal/webhook"
)

// Inbox makes webhooks durable.
type Inbox interface {
	// Accept stores a delivery. When it returns nil, the delivery and the work that it
	// triggers are on disk.
	Accept(ctx context.Context, accepted Accepted) error
}

// Accepted is a delivery that was verified and decoded, with its source.
type Accepted struct {
	webhook.Delivery
	Receiver string // its name
	Sender   string // its kind
	At       time.Time
	Header   http.Header // without credentials
	Body     []byte
}

// Observation is the result of one webhook.
type Observation struct {
	Receiver string // empty: unknown
	Status   int    // of HTTP
	Events   int
	Took     time.Duration
}

// receiver is a webhook receiver with its limit of authenticated events.
type receiver struct {
	Receiver *webhook.Receiver
	name     string // empty: the unknown receiver
	events   *rate.Limiter
}

func (s *Server) limited(one *webhook.Receiver) *receiver {
	return &receiver{Receiver: one, name: one.Name(), events: rate.NewLimiter(rate.Limit(s.Rate), s.Burst)}
}

// Add adds a receiver, or replaces that of the same name.
func (s *Server) Add(one *webhook.Receiver) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.receivers[one.Name()] = s.limited(one)
}

// receipt is the response to an accepted webhook.
type receipt struct {
	Delivery string `json:"delivery,omitempty"`
	Events   int    `json:"events"`
	Ignored  string `json:"ignored,omitempty"` // why it triggers nothing
	Run      string `json:"run,omitempty"`     // the path of the run of a posted snapshot
}

// webhook handles one delivery. An unknown receiver is handled like a known one, so that
// neither the response nor its time reveals which receivers exist.
func (s *Server) webhook(c echo.Context) error {
	s.mu.RLock()
	to, ok := s.receivers[c.Param("receiver")]
	s.mu.RUnlock()
	if !ok {
		to = s.unknown
	}
	return s.deliver(c, to)
}

// evidence handles a report about health. Its credential is that of a receiver, which it does
// not name.
func (s *Server) evidence(c echo.Context) error {
	s.mu.RLock()
	names := slices.Sorted(maps.Keys(s.receivers))
	to := s.unknown
	for _, name := range names { // asks all of them: the time reveals nothing
		one := s.receivers[name]
		request := webhook.Request{Header: c.Request().Header}
		if one.Receiver.Kind() == kind.Evidence && one.Receiver.Authenticates(c.Request().Context(), request) && to == s.unknown {
			to = one
		}
	}
	s.mu.RUnlock()
	if to == s.unknown { // the header has the credential
		ignoreBody(c)
	}
	return s.deliver(c, to)
}

// deliver handles a delivery to a receiver.
func (s *Server) deliver(c echo.Context, to *receiver) error {
	begin := s.Now()
	var accepted receipt
	err := s.recovered(c, func() (err error) {
		accepted, err = s.accept(c, to, begin)
		return err
	})
	if err == nil {
		err = c.JSON(http.StatusAccepted, accepted)
	} else {
		s.respondError(err, c)
		s.logRefusal(c, to, begin, err)
	}
	s.Observe(Observation{Receiver: to.name, Status: c.Response().Status, Events: accepted.Events, Took: s.Now().Sub(begin)})
	return err
}

// accept reads, verifies, decodes, and stores a delivery. Whatever fails before the
// credential is proven is charged to the address that it comes from; only the events of
// authenticated deliveries are charged to the receiver.
func (s *Server) accept(c echo.Context, to *receiver, at time.Time) (receipt, error) {
	r, from := c.Request(), s.sources.of(c.RealIP(), at)
	content, err := readBody(r, at)
	if err != nil {
		return receipt{}, from.charge(at, err)
	}
	delivery, err := to.Receiver.Receive(r.Context(), webhook.Request{Header: r.Header, PathSecret: c.Param("secret"), Body: content})
	if fault.KindOf(err) == fault.Unauthorized {
		return receipt{}, from.charge(at, err)
	}
	if err != nil {
		return receipt{}, err
	}
	if !to.events.AllowN(at, min(len(delivery.Events), to.events.Burst())) {
		return receipt{}, fault.Limited(at.Add(time.Second), errors.New("this receiver gets more events than it accepts"))
	}
	run := ""
	if delivery.Snapshot != nil && to.Receiver.Posts() {
		requested, err := s.request(c, to.name, *delivery.Snapshot)
		if err != nil {
			return receipt{}, err
		}
		run = requested.Run
	}
	accepted := Accepted{
		Delivery: delivery, Receiver: to.name, Sender: to.Receiver.Kind(), At: at,
		Header: to.Receiver.LoggableHeaders(r.Header), Body: content,
	}
	if err := s.persist(r, accepted); err != nil {
		return receipt{}, err
	}
	return receipt{Delivery: delivery.ID, Events: len(delivery.Events), Ignored: delivery.Ignored, Run: run}, nil
}

// pullTypes are the types, in lower case, of notifications that an image was pulled. There
// are as many as pulls, including those of promoter itself, and they trigger nothing.
// https://distribution.github.io/distribution/about/notifications/
// https://goharbor.io/docs/main/working-with-projects/project-configuration/configure-webhooks/
var pullTypes = map[string]bool{"pull": true, "pull_artifact": true, "pullimage": true, "harbor.artifact.pulled": true}

// persist stores a delivery that has events, and reports the result to the tracer. The
// sender's trace is in the header https://www.w3.org/TR/trace-context/#traceparent-header.
func (s *Server) persist(r *http.Request, accepted Accepted) (err error) {
	ctx := r.Context()
	if s.Trace != nil {
		var end func(int, error)
		ctx, end = s.Trace(ctx, accepted, r.Header.Get("Traceparent"))
		defer func() {
			if err != nil {
				end(api.StatusOf(err), err)
				return
			}
			end(http.StatusAccepted, nil)
		}()
	}
	if len(accepted.Events) > 0 {
		return s.Inbox.Accept(ctx, accepted)
	}
	level := slog.LevelInfo
	if pullTypes[strings.ToLower(accepted.EventType)] {
		level = slog.LevelDebug
	}
	log := s.Log.With(slog.String("receiver", accepted.Receiver), slog.String("delivery", accepted.ID))
	log.Log(ctx, level, "webhook received", slog.String("event", accepted.EventType), slog.Int("events", 0),
		slog.String("ignored", accepted.Ignored))
	return nil
}

// Refusals are logged some at once and then rarely, so that they cannot fill a disk. The
// limit is common to all names, known or not, so that it does not reveal which receivers
// exist. The metrics count all.
const (
	refusalBurst = 20
	refusalEvery = 10 * time.Second
)

// unknownReceiver replaces unknown names in the log, as in the metrics.
const unknownReceiver = "(unknown)"

// logRefusal logs a webhook that its sender must correct. Internal errors have a log line
// already.
func (s *Server) logRefusal(c echo.Context, to *receiver, at time.Time, err error) {
	status := c.Response().Status
	if status >= http.StatusInternalServerError || !s.refusals.AllowN(at, 1) {
		return
	}
	log := s.Log.With(slog.String("receiver", cmp.Or(to.name, unknownReceiver)), slog.String("request", requestID(c)))
	log.WarnContext(c.Request().Context(), "webhook refused", slog.Int("status", status), slog.String("error", api.PublicMessage(err)))
}
