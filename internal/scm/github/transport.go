package github

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/scm/rest"
)

// limits describes how GitHub reports its rate limits.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
func limits() rest.Limits { return rest.Limits{Prefix: "X-Ratelimit-", Refused: limited} }

// limited reports whether a response is a rate limit, and returns its message. A
// missing permission is a 403 too.
func limited(resp *http.Response, data []byte) (words string, refused bool) {
	if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusTooManyRequests {
		return "", false
	}
	var body struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(data, &body) // no message if this fails
	message := strings.ToLower(body.Message)
	limits := strings.Contains(message, "rate limit") || strings.Contains(message, "abuse detection")
	spent := resp.Header.Get("X-RateLimit-Remaining") == "0" || resp.Header.Get("Retry-After") != ""
	return rest.OneLine(body.Message), resp.StatusCode == http.StatusTooManyRequests || spent || limits
}

// credential is a credential that can be replaced.
type credential interface {
	// begin identifies the current credential before it is used.
	begin(ctx context.Context) (int, error)
	// answered inspects the response to a request with the credential, which was
	// rejected as often before. It reports whether to repeat the request, and after
	// what wait: the credential was rejected, and either it is too new, or there is, or
	// can be, another one.
	answered(used, rejected int, answer *http.Response) (wait time.Duration, again bool)
}

// maxRejected is how often one request is repeated: after three waits for a new token,
// and with another one.
const maxRejected = 4

// again repeats a rejected request.
type again struct {
	next       http.RoundTripper
	credential credential
	sleep      func(ctx context.Context, wait time.Duration) error
}

// RoundTrip sends the request, and repeats it as long as its credential asks for it.
func (a *again) RoundTrip(req *http.Request) (*http.Response, error) {
	attempt := req
	for rejected := 0; ; rejected++ {
		resp, wait, another, err := a.once(attempt, rejected)
		if err != nil || !another || rejected == maxRejected || req.Body != nil && req.GetBody == nil {
			return resp, err
		}
		if attempt = req.Clone(req.Context()); req.GetBody != nil {
			if attempt.Body, err = req.GetBody(); err != nil {
				return resp, nil //nolint:nilerr // the response holds the error
			}
		}
		_ = resp.Body.Close() // in memory
		if err := a.sleep(req.Context(), wait); err != nil {
			return nil, err
		}
	}
}

func (a *again) once(req *http.Request, rejected int) (resp *http.Response, wait time.Duration, another bool, err error) {
	used, err := a.credential.begin(req.Context())
	if err == nil {
		resp, err = a.next.RoundTrip(req)
	} else if req.Body != nil {
		_ = req.Body.Close() // nothing was sent
	}
	if err != nil {
		return nil, 0, false, err
	}
	wait, another = a.credential.answered(used, rejected, resp)
	return resp, wait, another, nil
}

// renewing lets a forge repeat rejected requests with a new credential.
func (f *Forge) renewing(c credential, sleep func(ctx context.Context, wait time.Duration) error) {
	client := f.api.Client()
	client.Transport = &again{next: client.Transport, credential: c, sleep: sleep}
	api := gogithub.NewClient(client)
	api.BaseURL, api.UserAgent = f.api.BaseURL, f.api.UserAgent
	f.api = api
}
