package outbound

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"syscall"
	"time"

	"promoter/internal/fault"
)

const (
	firstBackoff = 250 * time.Millisecond // between two attempts; doubles with each
	drained      = 64 << 10               // bytes read of a response that is discarded
)

// attempt sends the request, and again where that is safe and may help. A server error
// that remains is the response; a refusal that remains is a RateLimited fault.
func (c *Client) attempt(req *http.Request, h *host, via http.RoundTripper) (*http.Response, error) {
	for n := 1; ; n++ {
		if err := h.wait(req.Context()); err != nil {
			return nil, err
		}
		begin := h.now()
		resp, err := c.observed(req, via)
		if err == nil {
			h.responded(h.now().Sub(begin))
		}
		last := n >= c.options.Attempts || !repeatable(req)
		until, refused := c.refusal(resp, h)
		switch {
		case refused:
			discard(resp)
			if last {
				return nil, h.limited(until)
			}
		case last || req.Context().Err() != nil || !worthRetrying(resp, err):
			if reason := failure(resp, err); reason != "" {
				h.fail(h.now(), reason)
			} else if err == nil {
				h.succeed()
			}
			if err != nil {
				return nil, fault.Wrap(kindOfFailure(err), describe(h.name, err))
			}
			return resp, nil
		default:
			discard(resp)
			if err := Sleep(req.Context(), jittered(firstBackoff<<(n-1))); err != nil {
				return nil, fault.Wrap(kindOfFailure(err), err)
			}
		}
		if req.GetBody != nil {
			body, err := req.GetBody()
			if err != nil {
				return nil, fault.New(fault.Internal, "the body of a request cannot be sent again")
			}
			req.Body = body
		}
	}
}

// refusal reports whether the host refuses requests for some time, and until when. All
// requests to the host then wait, and none to another.
func (c *Client) refusal(resp *http.Response, h *host) (time.Time, bool) {
	if resp == nil {
		return time.Time{}, false
	}
	now := c.options.Now()
	asked, named := RetryAfter(resp.Header.Get("Retry-After"), now)
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable && named {
		return h.refuse(now, asked, named), true
	}
	return time.Time{}, false
}

// RetryAfter parses the header of RFC 9110, section 10.2.3: seconds or a date.
func RetryAfter(value string, now time.Time) (time.Duration, bool) {
	if value == "" {
		return 0, false
	}
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(at.Sub(now), 0), true
	}
	return 0, false
}

// repeatable reports whether sending the request twice has the same effect as once.
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

// worthRetrying reports whether the next attempt may succeed.
func worthRetrying(resp *http.Response, err error) bool {
	if err == nil {
		switch resp.StatusCode {
		case http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway,
			http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		}
		return false
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return dns.IsTimeout || dns.IsTemporary
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return true
	}
	transient := []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.EPIPE}
	return slices.ContainsFunc(transient, func(one error) bool { return errors.Is(err, one) })
}

// unreachableError is the failure of a request without a response.
type unreachableError struct {
	host string
	err  error
}

// Error returns the failure.
func (u *unreachableError) Error() string { return u.err.Error() }

// Unwrap returns the failure.
func (u *unreachableError) Unwrap() error { return u.err }

// Unreachable returns the host from which a request got no response, or to which it was
// not sent because the host limits requests or failed several times, and the cause. It
// reports false for errors of responses.
func Unreachable(err error) (host, cause string, ok bool) {
	if limit, ok := errors.AsType[*limitError](err); ok {
		return limit.host, limit.Error(), true
	}
	if failed, ok := errors.AsType[*unreachableError](err); ok {
		return failed.host, Scrub(failed.Error()), true
	}
	return "", "", false
}

// describe explains a network failure to users.
func describe(host string, err error) error {
	return &unreachableError{host, explained(host, err)}
}

func explained(host string, err error) error {
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Errorf("there is no host %s: %w", Hostname(host), err)
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%s did not answer in time: %w", host, err)
	}
	return err
}

// jittered spreads a wait over its upper half, so that clients that failed together do
// not return together.
func jittered(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }

func discard(resp *http.Response) {
	if resp == nil {
		return
	}
	_, _ = io.CopyN(io.Discard, resp.Body, drained)
	_ = resp.Body.Close()
}
