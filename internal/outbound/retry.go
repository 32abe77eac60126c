package outbound

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"promoter/internal/fault"
)

// Times between two attempts. The first doubles with every attempt or refusal.
const (
	firstBackoff = 250 * time.Millisecond
	firstPause   = time.Second     // after a refusal that names no time
	longestPause = 5 * time.Minute // of those
	longestAsked = time.Hour       // of a Retry-After: a server's mistake must end
	drained      = 64 << 10        // bytes read of an answer that is not wanted
)

// attempt sends the request, again where that is safe and may help. A server
// error that stays is the answer; a refusal that stays is a RateLimited fault.
func (c *Client) attempt(req *http.Request, h *host, via http.RoundTripper) (*http.Response, error) {
	for n := 1; ; n++ {
		if err := h.turn(req.Context()); err != nil {
			return nil, err
		}
		resp, err := c.observed(req, via)
		last := n >= c.options.Attempts || !repeatable(req)
		if until, refused := c.refusal(resp, h); refused {
			discard(resp)
			if last {
				return nil, h.limited(until)
			}
		} else if last || req.Context().Err() != nil || !worthRepeating(resp, err) {
			return settled(h, resp, err)
		} else {
			discard(resp)
			if err := sleep(req.Context(), jittered(firstBackoff<<(n-1))); err != nil {
				return nil, fault.Wrap(kindOfFailure(err), err)
			}
		}
		if err := rewind(req); err != nil {
			return nil, err
		}
	}
}

func settled(h *host, resp *http.Response, err error) (*http.Response, error) {
	why, down := failed(resp, err)
	if down {
		h.fail(h.now(), why)
	} else if err == nil {
		h.forgive()
	}
	if err != nil {
		return nil, fault.Wrap(kindOfFailure(err), inWords(h.name, err))
	}
	return resp, nil
}

// inWords says for people what a failure of the network means.
func inWords(host string, err error) error {
	var named *net.DNSError
	var timed net.Error
	switch {
	case errors.As(err, &named) && named.IsNotFound:
		return fmt.Errorf("there is no host %s: %w", hostname(host), err)
	case errors.As(err, &timed) && timed.Timeout():
		return fmt.Errorf("%s did not answer in time: %w", host, err)
	}
	return err
}

// refusal says that the host wants no requests for a time, and until when. All
// requests to the host wait then, and none to another.
func (c *Client) refusal(resp *http.Response, h *host) (time.Time, bool) {
	if resp == nil {
		return time.Time{}, false
	}
	now := c.options.Now()
	asked, named := retryAfter(resp.Header.Get("Retry-After"), now)
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
	case http.StatusServiceUnavailable:
		if !named {
			return time.Time{}, false
		}
	default:
		return time.Time{}, false
	}
	return h.refuse(now, asked, named), true
}

// retryAfter reads the header of RFC 9110, section 10.2.3: seconds or a date.
func retryAfter(value string, now time.Time) (time.Duration, bool) {
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(at.Sub(now), 0), true
	}
	return 0, false
}

// repeatable says that sending the request twice is the same as once.
func repeatable(req *http.Request) bool {
	if hasBody(req) && req.GetBody == nil {
		return false
	}
	switch req.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	}
	return false
}

func hasBody(req *http.Request) bool { return req.Body != nil && req.Body != http.NoBody }

func rewind(req *http.Request) error {
	if req.GetBody == nil {
		return nil
	}
	fresh, err := req.GetBody()
	if err != nil {
		return fault.New(fault.Internal, "the body of a request cannot be sent again")
	}
	req.Body = fresh
	return nil
}

// worthRepeating says that the next attempt may go better.
func worthRepeating(resp *http.Response, err error) bool {
	if err != nil {
		return passing(err)
	}
	switch resp.StatusCode {
	case http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// passing knows the failures of a network that go away by themselves.
func passing(err error) bool {
	var named *net.DNSError
	if errors.As(err, &named) {
		return named.IsTimeout || named.IsTemporary
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return true
	}
	for _, known := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.EPIPE} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// jittered spreads a wait over its upper half, so that clients who failed
// together do not come back together.
func jittered(d time.Duration) time.Duration {
	return d/2 + rand.N(d/2+1)
}

func discard(resp *http.Response) {
	if resp == nil {
		return
	}
	_, _ = io.CopyN(io.Discard, resp.Body, drained)
	_ = resp.Body.Close()
}
