package auth

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"promoter/internal/fault"
	"promoter/internal/outbound"
)

// maxAnswer bounds the answer of a token service; the largest tokens have some
// tens of kilobytes.
const maxAnswer = 1 << 20

// Question is a request to a token service.
type Question struct {
	// What is asked for, in words: errors begin with it.
	What string
	// Advice says what to do when it is refused.
	Advice string
	Method string // empty: GET
	URL    string
	Header map[string]string
	Body   string
}

// Form is a question that posts a form.
func Form(what, advice, url string, values url.Values) Question {
	return Question{
		What: what, Advice: advice, Method: http.MethodPost, URL: url, Body: values.Encode(),
		Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
	}
}

// Answer is what came back, whole.
type Answer struct {
	Body   []byte
	Header http.Header
}

// Ask asks a service of a cloud over https.
func (m Machine) Ask(ctx context.Context, q Question) (Answer, error) {
	if !strings.HasPrefix(q.URL, "https://") {
		return Answer{}, fault.New(fault.Invalid, "%s: only https is spoken to the services of a cloud", q.What)
	}
	return ask(ctx, m.Vendor, q)
}

// AskMachine asks a service of the machine itself, in plain http at one of
// MetadataHosts, or any other that the operator named over https.
func (m Machine) AskMachine(ctx context.Context, q Question) (Answer, error) {
	address, err := url.Parse(q.URL)
	switch {
	case err != nil || address.Host == "" || address.User != nil:
		return Answer{}, fault.New(fault.Invalid, "%s: what the environment names is no URL", q.What)
	case address.Scheme == "https":
		return ask(ctx, m.Vendor, q)
	case address.Scheme != "http" || !slices.Contains(MetadataHosts(m.Env), address.Host):
		return Answer{}, fault.New(fault.Invalid, "%s: %s is not asked in plain http: it is no service of this machine", q.What, address.Host)
	}
	return ask(ctx, m.Metadata, q)
}

func ask(ctx context.Context, through http.RoundTripper, q Question) (Answer, error) {
	req, err := http.NewRequestWithContext(ctx, first(q.Method, http.MethodGet), q.URL, strings.NewReader(q.Body))
	if err != nil {
		return Answer{}, fault.New(fault.Invalid, "%s: the address is not one", q.What)
	}
	if q.Body == "" {
		req.Body, req.GetBody, req.ContentLength = nil, nil, 0
	}
	for name, value := range q.Header {
		req.Header.Set(name, value)
	}
	req.Header.Set("User-Agent", "promoter")
	// Not through a http.Client: no token service sends its clients elsewhere.
	resp, err := through.RoundTrip(req)
	if err != nil {
		return Answer{}, failed(q, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := outbound.ReadAll(resp.Body, maxAnswer)
	if err != nil {
		return Answer{}, failed(q, err)
	}
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusCreated {
		return Answer{}, refused(q, resp.StatusCode, body)
	}
	return Answer{Body: body, Header: resp.Header}, nil
}

// failed keeps the kind and the time of a failure of the way out.
func failed(q Question, err error) error {
	kind := fault.KindOf(err)
	if kind == fault.Internal {
		kind = fault.Temporary
	}
	known := &fault.Error{Kind: kind, Err: &questionError{what: q.What, err: outbound.Redact(err)}}
	known.RetryAt, _ = fault.RetryAt(err)
	return known
}

// questionError is an error with what was asked for.
type questionError struct {
	what string
	err  error
}

// Error returns what and why.
func (q *questionError) Error() string { return q.what + ": " + q.err.Error() }

// Unwrap returns the reason.
func (q *questionError) Unwrap() error { return q.err }

// refused explains a status. Of the answer only a code is shown: all else may
// hold what was sent.
func refused(q Question, status int, body []byte) error {
	words := http.StatusText(status)
	if code := code(body); code != "" {
		words = code
	}
	switch {
	case status == http.StatusTooManyRequests || strings.Contains(words, "Throttl"):
		return fault.New(fault.RateLimited, "%s: %d %s", q.What, status, words)
	case status >= 500 || status == http.StatusRequestTimeout:
		return fault.New(fault.Temporary, "%s: %d %s", q.What, status, words)
	case status >= 300 && status < 400:
		return fault.New(fault.Invalid, "%s: the service leads elsewhere, which is not followed", q.What)
	}
	return fault.New(fault.Unauthorized, "%s: %d %s: %s", q.What, status, words, q.Advice)
}

// Codes as the services write them: in JSON as "error", "code", "errors" or
// "__type" (AWS, with a name space before #), in XML as Code.
var (
	codeInXML = regexp.MustCompile(`<Code>([A-Za-z0-9._-]{1,64})</Code>`)
	codeWords = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
)

func code(body []byte) string {
	if found := codeInXML.FindSubmatch(body); found != nil {
		return string(found[1])
	}
	var known struct {
		Type  string          `json:"__type"`
		Code  string          `json:"code"`
		Error json.RawMessage `json:"error"`
		// As registries write them.
		Errors []struct {
			Code string `json:"code"`
		} `json:"errors"`
	}
	if json.Unmarshal(body, &known) != nil {
		return ""
	}
	var text string
	var nested struct {
		Status string `json:"status"`
	}
	if json.Unmarshal(known.Error, &text) != nil && json.Unmarshal(known.Error, &nested) == nil {
		text = nested.Status
	}
	_, kind, found := strings.Cut(known.Type, "#")
	if !found {
		kind = known.Type
	}
	candidates := []string{text, kind, known.Code}
	if len(known.Errors) > 0 {
		candidates = append(candidates, known.Errors[0].Code)
	}
	for _, candidate := range candidates {
		if codeWords.MatchString(candidate) {
			return candidate
		}
	}
	return ""
}

// Decode reads a JSON answer.
func (a Answer) Decode(what string, into any) error {
	if err := json.Unmarshal(a.Body, into); err != nil {
		return fault.New(fault.Temporary, "%s: the answer is not understood", what)
	}
	return nil
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
