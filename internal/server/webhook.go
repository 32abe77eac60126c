package server

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"

	"promoter/internal/fault"
	"promoter/internal/webhook"
)

// maxBody bounds what a sender may post, in bytes.
const maxBody = 2 << 20

// receiver is one with its limit.
type receiver struct {
	*webhook.Receiver
	name    string // empty: the decoy
	limiter *rate.Limiter
	room    room
}

func (s *Server) limited(one *webhook.Receiver) *receiver {
	return &receiver{Receiver: one, name: one.Name(), limiter: rate.NewLimiter(rate.Limit(s.Rate), s.Burst)}
}

// webhook takes one delivery. An unknown receiver is asked like a known one, so
// that neither the answer nor the time tells which names there are.
func (s *Server) webhook(c echo.Context) error {
	begin := s.Now()
	to := s.receiverOf(c.Param("receiver"))
	var hints accepted
	err := s.survived(c, func() (err error) {
		hints, err = s.take(c, to, begin)
		return err
	})
	if err == nil {
		err = c.JSON(http.StatusAccepted, hints)
	} else {
		s.fail(err, c)
		s.refused(c, to, begin, err)
	}
	s.Observe(Observation{Receiver: to.name, Status: c.Response().Status, Events: hints.Hints, Took: s.Now().Sub(begin)})
	return err
}

// accepted is the answer to a webhook that was taken.
type accepted struct {
	Delivery string `json:"delivery,omitempty"`
	Hints    int    `json:"hints"`
	Ignored  string `json:"ignored,omitempty"` // why nothing comes of it
}

func (s *Server) take(c echo.Context, to *receiver, at time.Time) (accepted, error) {
	if !to.limiter.AllowN(at, 1) {
		return accepted{}, fault.Limited(at.Add(time.Second), errors.New("this receiver gets more than it may"))
	}
	from := &held{Reader: http.MaxBytesReader(c.Response(), c.Request().Body, maxBody), in: &to.room}
	defer from.leave()
	body, err := readBody(c.Request(), from, at)
	if err != nil {
		return accepted{}, err
	}
	request := webhook.Request{Header: c.Request().Header, PathSecret: c.Param("secret"), Body: body}
	delivery, err := to.Receive(c.Request().Context(), request)
	if err != nil {
		return accepted{}, err
	}
	told := accepted{Delivery: delivery.ID, Hints: len(delivery.Events), Ignored: delivery.Ignored}
	taken := Accepted{
		Delivery: delivery, Receiver: to.name, Sender: to.Kind(), At: at,
		Header: to.LoggableHeaders(c.Request().Header), Body: body,
	}
	if err := s.keep(c.Request(), taken); err != nil {
		return accepted{}, err
	}
	return told, nil
}

// readBody reads a body of known bounds. One that is compressed is refused: no sender
// does that, and a small one can be made to become a large one.
func readBody(r *http.Request, from io.Reader, at time.Time) ([]byte, error) {
	if coding := r.Header.Get(echo.HeaderContentEncoding); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, echo.NewHTTPError(http.StatusUnsupportedMediaType, "the body is compressed: send it as it is")
	}
	body, err := io.ReadAll(from)
	if err != nil {
		return nil, unread(err, at)
	}
	return body, nil
}

// unread says why a body could not be read.
func unread(err error, at time.Time) error {
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return echo.NewHTTPError(http.StatusRequestEntityTooLarge, "the body is larger than 2 MiB")
	}
	if errors.Is(err, errNoRoom) {
		return fault.Limited(at.Add(time.Second), err)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return echo.NewHTTPError(http.StatusRequestTimeout, "the body did not come within 30 seconds")
	}
	return fault.New(fault.Invalid, "the body cannot be read")
}
