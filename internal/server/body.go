package server

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/api"
	"promoter/internal/fault"
)

// Limits of the bodies of requests.
const (
	maxBody = 2 << 20  // of a webhook, a report, or a snapshot, in bytes
	maxForm = 64 << 10 // of all others, in bytes

	// maxSourceBuffered and maxBuffered limit the incomplete bodies in memory, in bytes: of
	// one address, and of all.
	maxSourceBuffered = 16 << 20
	maxBuffered       = 64 << 20

	// maxBodies and maxBodiesPerAddress limit the bodies that are being received.
	maxBodies           = 1024
	maxBodiesPerAddress = 128

	// drainTimeout is how long the rest of a body that no handler read may take to arrive before
	// the connection is closed.
	drainTimeout = time.Second
)

// bodyLimit returns how long the body of a request may be, in bytes. Zero: no handler reads it.
func bodyLimit(method, route string) int64 {
	switch {
	case method != http.MethodPost || route == "":
		return 0
	case strings.HasPrefix(route, "/webhooks/"), route == api.Prefix+"/evidence", route == api.Prefix+"/snapshots":
		return maxBody
	default:
		return maxForm
	}
}

var (
	errBudgetExceeded = errors.New("too many incomplete bodies are buffered")
	errDisplaced      = errors.New("the body arrived slower than those of other requests of this address, or of all")
)

// limitBody limits the body of each request before any handler: its size, the memory of all bodies,
// and how many are received at once. What no handler reads is not received.
func (s *Server) limitBody(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.Body == nil || r.Body == http.NoBody {
			return next(c)
		}
		connection := connectionOf(r)
		if connection != nil {
			connection.setIdle(true)
		}
		limit := bodyLimit(r.Method, c.Path())
		if limit == 0 {
			ignoreBody(c)
			return next(c)
		}
		at, address := s.Now(), api.SourceOf(c.RealIP())
		control := http.NewResponseController(c.Response())
		displaced := &atomic.Bool{}
		receiving := s.bodies.add(address, false, func() {
			displaced.Store(true)
			_ = control.SetReadDeadline(time.Unix(1, 0))
		})
		if receiving == nil {
			ignoreBody(c)
			return fault.Limited(at.Add(time.Second), errBudgetExceeded)
		}
		body := &bodyReader{
			Reader: http.MaxBytesReader(c.Response().Writer, r.Body, limit), Closer: r.Body,
			all: &s.sources.buffered, source: &s.sources.of(c.RealIP(), at).buffered,
			receiving: receiving, connection: connection, displaced: displaced,
		}
		defer body.release()
		r.Body = body
		err := next(c)
		late := errors.Is(body.failed, os.ErrDeadlineExceeded) || errors.Is(body.failed, errDisplaced)
		if !body.ended && !late {
			_ = control.SetReadDeadline(time.Now().Add(drainTimeout)) //nolint:forbidigo // the connection has this clock
		}
		if body.failed != nil && err != nil && !c.Response().Committed {
			return bodyFault(body.failed, limit, at)
		}
		return err
	}
}

// ignoreBody answers without the body of a request. With HTTP/1, the connection is closed then:
// otherwise net/http would wait for the body before it responds.
func ignoreBody(c echo.Context) {
	c.Request().Body = http.NoBody
	if c.Request().ProtoMajor == 1 {
		c.Response().Header().Set(echo.HeaderConnection, "close")
	}
	_ = http.NewResponseController(c.Response()).SetReadDeadline(time.Now().Add(drainTimeout)) //nolint:forbidigo // as above
}

// readBody reads the whole body.
func readBody(r *http.Request, at time.Time) ([]byte, error) {
	// No sender compresses bodies, and a small compressed body can be very large.
	if coding := r.Header.Get(echo.HeaderContentEncoding); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, echo.NewHTTPError(http.StatusUnsupportedMediaType, "the body is compressed: send it uncompressed")
	}
	content, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, bodyFault(err, maxBody, at)
	}
	return content, nil
}

// bodyFault returns the error of a body that could not be read.
func bodyFault(err error, limit int64, at time.Time) error {
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		size := "2 MiB"
		if limit < maxBody {
			size = "64 KiB"
		}
		return echo.NewHTTPError(http.StatusRequestEntityTooLarge, "the body is larger than "+size)
	}
	if errors.Is(err, errBudgetExceeded) || errors.Is(err, errDisplaced) {
		return fault.Limited(at.Add(time.Second), err)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return echo.NewHTTPError(http.StatusRequestTimeout, "the body did not arrive within 30 seconds")
	}
	return fault.New(fault.Invalid, "the body cannot be read")
}

// bodyReader reads a body of limited size as long as the budgets allow.
type bodyReader struct {
	io.Reader
	io.Closer
	all, source *atomic.Int64
	receiving   *held
	connection  *held // nil: the request shares it
	displaced   *atomic.Bool
	size        int64
	ended       bool
	failed      error // other than the end
}

// Read implements io.Reader.
func (r *bodyReader) Read(p []byte) (int, error) {
	if r.failed != nil {
		return 0, r.failed
	}
	n, err := r.Reader.Read(p)
	r.size += int64(n)
	source, all := r.source.Add(int64(n)), r.all.Add(int64(n))
	switch {
	case source > maxSourceBuffered || all > maxBuffered:
		n, err = 0, errBudgetExceeded
	case r.displaced.Load() && errors.Is(err, os.ErrDeadlineExceeded):
		err = errDisplaced
	}
	switch {
	case errors.Is(err, io.EOF):
		r.ended = true
		r.receiving.release() // the client has done its part
		if r.connection != nil {
			r.connection.setIdle(false)
		}
	case err != nil:
		r.failed = err
	}
	return n, err
}

// release returns the bytes to the budgets when the body is not used any more.
func (r *bodyReader) release() {
	r.receiving.release()
	r.source.Add(-r.size)
	r.all.Add(-r.size)
}
