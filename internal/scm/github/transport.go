package github

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

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
	refused = resp.StatusCode == http.StatusTooManyRequests ||
		resp.Header.Get("X-RateLimit-Remaining") == "0" || resp.Header.Get("Retry-After") != "" ||
		strings.Contains(message, "rate limit") || strings.Contains(message, "abuse detection")
	return rest.OneLine(body.Message), refused
}

// credential is a credential that can be replaced.
type credential interface {
	// begin identifies the current credential before it is used.
	begin(ctx context.Context) (int, error)
	// answered inspects the response to a request with the credential. It reports
	// whether to repeat the request: the credential was rejected, and there is, or
	// can be, another one.
	answered(used int, answer *http.Response) (again bool)
}

// again repeats a rejected request once, with another credential.
type again struct {
	next       http.RoundTripper
	credential credential
}

// RoundTrip sends the request at most twice.
func (a *again) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, another, err := a.once(req)
	if err != nil || !another || req.Body != nil && req.GetBody == nil {
		return resp, err
	}
	second := req.Clone(req.Context())
	if req.GetBody != nil {
		if second.Body, err = req.GetBody(); err != nil {
			return resp, nil //nolint:nilerr // the first response holds the error
		}
	}
	_ = resp.Body.Close() // in memory
	resp, _, err = a.once(second)
	return resp, err
}

func (a *again) once(req *http.Request) (resp *http.Response, another bool, err error) {
	used, err := a.credential.begin(req.Context())
	if err == nil {
		resp, err = a.next.RoundTrip(req)
	} else if req.Body != nil {
		_ = req.Body.Close() // nothing was sent
	}
	if err != nil {
		return nil, false, err
	}
	return resp, a.credential.answered(used, resp), nil
}

// renewing lets a forge repeat rejected requests with a new credential.
func (f *Forge) renewing(c credential) {
	client := f.api.Client()
	client.Transport = &again{next: client.Transport, credential: c}
	api := gogithub.NewClient(client)
	api.BaseURL, api.UserAgent = f.api.BaseURL, f.api.UserAgent
	f.api = api
}
