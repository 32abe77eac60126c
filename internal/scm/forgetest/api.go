package forgetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"promoter/internal/git/gittest"
)

// Reply is a response of an API before it is sent.
type Reply struct {
	Status int
	Header http.Header
	Body   any // sent as JSON, Plain unchanged; nil: none
}

// Plain is a body that is not JSON. Its reply has its own content type.
type Plain string

// Answer returns a reply without headers.
func Answer(status int, body any) *Reply {
	return &Reply{Status: status, Header: http.Header{}, Body: body}
}

// Unless returns the reply with an ETag of its body and of some headers of the request, or
// "not modified" if the client has it already.
func (a *Reply) Unless(r *http.Request, cacheControl string, vary ...string) *Reply {
	if r.Method != http.MethodGet || a.Status != http.StatusOK {
		return a
	}
	sum := sha256.New()
	sum.Write(a.Text())
	for _, header := range vary {
		sum.Write([]byte(r.Header.Get(header)))
	}
	tag := fmt.Sprintf(`W/"%x"`, sum.Sum(nil))
	a.Header.Set("ETag", tag)
	a.Header.Set("Cache-Control", cacheControl)
	if r.Header.Get("If-None-Match") == tag {
		a.Status, a.Body = http.StatusNotModified, nil
	}
	return a
}

// Text returns the body as it is sent.
func (a *Reply) Text() []byte {
	if plain, is := a.Body.(Plain); is {
		return []byte(plain)
	}
	text, err := json.Marshal(a.Body)
	if err != nil {
		panic(err) // values are created by a fake
	}
	return text
}

// send writes the reply, its JSON with this content type.
func (a *Reply) send(w http.ResponseWriter, contentType string) {
	maps.Copy(w.Header(), a.Header)
	if a.Body == nil {
		w.WriteHeader(a.Status)
		return
	}
	if _, is := a.Body.(Plain); !is {
		w.Header().Set("Content-Type", contentType)
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Text()) // the client may be gone
}

// Page is a page of a list, counted from 1.
type Page struct{ Number, Size int }

// PageOf parses the parameters of a request. A missing or invalid size is the
// standard one; it is never more than most.
func PageOf(number, size string, standard, most int) Page {
	return Page{Number: bounded(number, 1, 1<<20), Size: bounded(size, standard, most)}
}

func bounded(text string, standard, most int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return standard
	}
	return min(n, most)
}

// Last returns the number of the last page of a list of this length.
func (p Page) Last(length int) int { return max(1, (length+p.Size-1)/p.Size) }

// Cut returns the elements of a page.
func Cut[T any](p Page, all []T) []T {
	begin := min((p.Number-1)*p.Size, len(all))
	return all[begin:min(begin+p.Size, len(all))]
}

// DrawSignature returns the author or the committer of a commit as GitHub and Gitea do.
func DrawSignature(by gittest.Author) map[string]any {
	return map[string]any{"name": by.Name, "email": by.Email, "date": by.At.UTC().Format(time.RFC3339)}
}

// DrawAll converts the elements of a list for a call.
func DrawAll[C, T, O any](c C, all []T, draw func(C, T) O) []O {
	drawn := []O{}
	for _, one := range all {
		drawn = append(drawn, draw(c, one))
	}
	return drawn
}

// Links returns the Link header of a page of a list of this length: the same query for
// the other pages.
func (p Page) Links(address string, query url.Values, length int) string {
	var links []string
	if p.Number > 1 {
		links = append(links, Link(address, query, p.Number-1, "prev"), Link(address, query, 1, "first"))
	}
	if last := p.Last(length); p.Number < last {
		links = append(links, Link(address, query, p.Number+1, "next"), Link(address, query, last, "last"))
	}
	return strings.Join(links, ", ")
}

// Link returns an entry of the Link header: the same query for another page.
func Link(address string, query url.Values, page int, relation string) string {
	other := maps.Clone(query)
	other.Set("page", strconv.Itoa(page))
	return fmt.Sprintf("<%s?%s>; rel=%q", address, other.Encode(), relation)
}

// Read decodes the JSON body of a request strictly. An unknown key fails the test,
// and so does text that was truncated in the middle of a character. On error, the
// request is to be rejected.
func (f *Front) Read(route string, body []byte, into any) error {
	if !utf8.Valid(body) || bytes.Contains(body, []byte(`\ufffd`)) || bytes.ContainsRune(body, utf8.RuneError) {
		f.t.Errorf("%s: %s: the body is no whole text: %.200q", f.fake.Name, route, body)
	}
	err := decode(body, into)
	if err != nil {
		f.t.Errorf("%s: %s: body %s: %v", f.fake.Name, route, body, err)
	}
	return err
}

func decode(body []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("JSON: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("more than one value")
	}
	return nil
}

// Routes are the endpoints of an API by "METHOD /route".
type Routes[E any] struct{ mux *http.ServeMux }

// held makes an endpoint a handler for the multiplexer, which only finds it.
type held[E any] struct{ endpoint E }

// ServeHTTP is never called.
func (held[E]) ServeHTTP(http.ResponseWriter, *http.Request) {}

// NewRoutes returns these routes.
func NewRoutes[E any](endpoints map[string]E) Routes[E] {
	mux := http.NewServeMux()
	for pattern, one := range endpoints {
		mux.Handle(pattern, held[E]{one})
	}
	mux.Handle("/", http.NotFoundHandler())
	return Routes[E]{mux}
}

// Find returns the endpoint of a request, false if there is none.
func (r Routes[E]) Find(request *http.Request) (endpoint E, route string, found bool) {
	handler, route := r.mux.Handler(request)
	known, found := handler.(held[E])
	return known.endpoint, route, found
}

// Below returns a request without the prefix of the API.
func Below(r *http.Request, prefix string) *http.Request {
	inner := r.Clone(r.Context())
	inner.URL.Path = strings.TrimPrefix(r.URL.Path, prefix)
	inner.URL.RawPath = strings.TrimPrefix(r.URL.EscapedPath(), prefix)
	return inner
}

// Bearer returns the token of the Authorization header, empty if it is not one.
func Bearer(r *http.Request) string {
	kind, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "bearer") && !strings.EqualFold(kind, "token") {
		return ""
	}
	return text
}

// WithValues returns a request with its path values, which a multiplexer otherwise
// sets only for handlers that it calls itself.
func WithValues(pattern string, r *http.Request) *http.Request {
	found := r
	mux := http.NewServeMux()
	mux.HandleFunc(pattern, func(_ http.ResponseWriter, r *http.Request) { found = r })
	mux.ServeHTTP(nil, r)
	return found
}
