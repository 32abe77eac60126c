package github

import (
	"context"
	"net/http"

	gogithub "github.com/google/go-github/v62/github"
)

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
