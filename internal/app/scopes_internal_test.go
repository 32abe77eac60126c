package app

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/labstack/echo/v4"

	"promoter/internal/api"
	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/store"
)

// reader is who sends requests.
type reader struct {
	token, badge string // empty: none
	cookie       *http.Cookie
	pages        int     // of a list that it reads
	names        []names // in its requests
}

func (w *tenants) reader(name, badge string) reader {
	w.Helper()
	form := url.Values{"token": {token(name)}}
	request := httptest.NewRequestWithContext(w.Context(), http.MethodPost, "https://promoter.example.com/sign-in", strings.NewReader(form.Encode()))
	request.Header.Set("Content-Type", echo.MIMEApplicationForm)
	response := httptest.NewRecorder()
	w.handler.ServeHTTP(response, request)
	cookies := response.Result().Cookies()
	if len(cookies) != 1 {
		w.Fatalf("%s did not sign in: %d %s", name, response.Code, response.Body)
	}
	return reader{token(name), token(badge), cookies[0], maxPages, combinations()}
}

// answer is all that a client receives.
type answer struct {
	Status int
	Header http.Header
	Body   string
}

// request returns a request of a reader.
func (w *tenants) request(ctx context.Context, from reader, method, path string) *http.Request {
	request := httptest.NewRequestWithContext(ctx, method, "https://promoter.example.com"+path, nil)
	if strings.HasPrefix(path, api.Prefix) && from.token != "" {
		request.Header.Set(echo.HeaderAuthorization, "Bearer "+from.token)
	} else if from.cookie != nil {
		request.AddCookie(from.cookie)
	}
	if method == http.MethodPost {
		_, session, _ := w.parts.sessions.Authenticate(request)
		body := url.Values{"csrf": {w.parts.sessions.CSRF(session)}}.Encode()
		request = httptest.NewRequestWithContext(ctx, method, request.URL.String(), strings.NewReader(body))
		request.Header.Set(echo.HeaderContentType, echo.MIMEApplicationForm)
		if from.cookie != nil {
			request.AddCookie(from.cookie)
		}
	}
	return request
}

// maxPages is more than a list of what is readable has.
const maxPages = 40

var nextPage = regexp.MustCompile(`href="([^"]*[?&;]after=[^"]*)"`)

// ask returns the answers to a request, and to those for the following pages.
func (w *tenants) ask(from reader, method, path string) (all []answer) {
	path = strings.ReplaceAll(path, "{badge}", from.badge)
	for range from.pages {
		response := httptest.NewRecorder()
		w.handler.ServeHTTP(response, w.request(w.Context(), from, method, path))
		header := response.Header().Clone()
		header.Del("X-Request-Id") // random
		one := answer{response.Code, header, response.Body.String()}
		all = append(all, one)
		next := ""
		var page struct{ Next string }
		if json.Unmarshal([]byte(one.Body), &page) == nil && page.Next != "" {
			parsed, err := url.Parse(path)
			must(w.T, err)
			query := parsed.Query()
			query.Set("after", page.Next)
			parsed.RawQuery = query.Encode()
			next = parsed.String()
		}
		if found := nextPage.FindStringSubmatch(one.Body); found != nil {
			next = html.UnescapeString(found[1])
		}
		if next == "" {
			return all
		}
		path = next
	}
	return all
}

// askAll returns the answers of all routes, by route and request.
func (w *tenants) askAll(from reader) map[string]map[string][]answer {
	w.Helper()
	all := map[string]map[string][]answer{}
	for route, row := range routeRows {
		method, _, _ := strings.Cut(route, " ")
		if row.same != "" || row.stream {
			continue
		}
		all[route] = map[string][]answer{}
		for _, template := range row.requests {
			for _, names := range from.names {
				request := names.in(template)
				if _, asked := all[route][request]; !asked {
					all[route][request] = w.ask(from, method, request)
				}
			}
		}
	}
	return all
}

// everyone may read everything. It proves that each route would show what is hidden.
const everyone = "a token of everything"

// What a principal may not read changes no answer: status, headers, and body are those of a service in
// which it does not exist, on every route and every page of a list.
func TestRoutes_hiddenIsAsAbsent(t *testing.T) {
	t.Parallel()
	for scope := range scopes {
		t.Run(scope, func(t *testing.T) {
			t.Parallel()
			databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
				w := newTenants(t, kind, scope)
				w.open()
				readers := map[string]reader{"a token": w.reader("scoped", "badge")}
				if scope == "targets" {
					readers["the public"] = reader{badge: token("badge"), pages: maxPages, names: combinations()}
					all := w.reader("everything", "anybadge")
					all.pages, all.names = 1, []names{readableNames, hiddenNames}
					readers[everyone] = all
				}
				before := map[string]map[string]map[string][]answer{}
				for name, from := range readers {
					before[name] = w.askAll(from)
				}
				w.hide()
				for name, from := range readers {
					w.compare(name, before[name], w.askAll(from))
				}
			})
		})
	}
}

// compare compares the answers without and with what is hidden.
func (w *tenants) compare(name string, before, after map[string]map[string][]answer) {
	w.Helper()
	for route, requests := range after {
		w.Run(name+" "+route, func(t *testing.T) {
			changed, answered := false, false
			for request, answers := range requests {
				diff := cmp.Diff(before[route][request], answers)
				changed = changed || diff != ""
				answered = answered || answers[0].Status == http.StatusOK
				if diff != "" && name != everyone {
					t.Errorf("%s (-absent +hidden):\n%s", request, diff)
				}
			}
			if name == everyone && !changed {
				t.Error("no request would show what is hidden")
			}
			if name == "a token" && !answered && !routeRows[route].post {
				t.Error("no request shows what is readable")
			}
		})
	}
}

// Every route is in the table: a new one needs a row that shows what it hides.
func TestRoutes_haveRows(t *testing.T) {
	t.Parallel()
	w := newTenants(t, databasetest.Kinds()[0], "targets")
	registered := map[string]bool{}
	for _, route := range w.routes {
		if route.Method != echo.RouteNotFound {
			registered[route.Method+" "+route.Path] = true
		}
	}
	for route := range registered {
		row, found := routeRows[route]
		if !found || row.same == "" && len(row.requests) == 0 {
			t.Errorf("%s has no row in routeRows: write requests that would show what a scope hides", route)
		}
	}
	for route := range routeRows {
		if !registered[route] {
			t.Errorf("%s is in routeRows, and no route", route)
		}
	}
}

// The streams of changes contain what the principal may read, and nothing else.
func TestRoutes_streamsHideChanges(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		w := newTenants(t, kind, "targets")
		w.open()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.parts.changes.Run(ctx) }()
		defer func() { stop(); must(t, <-ended) }()
		from := w.reader("scoped", "badge")
		for route, row := range routeRows {
			if !row.stream {
				continue
			}
			stream := &streamed{ResponseRecorder: httptest.NewRecorder(), texts: make(chan string, 100)}
			streaming, leave := context.WithCancel(t.Context())
			left := make(chan struct{})
			go func() {
				defer close(left)
				w.handler.ServeHTTP(stream, w.request(streaming, from, http.MethodGet, row.requests[0]))
			}()
			first := <-stream.texts
			for _, repository := range []string{hidden, shop} { // in this order also for the poll
				w.write(func(ctx context.Context, tx *database.Tx) error {
					name := strings.TrimPrefix(repository, "github.com/")
					_, err := w.parts.store.RecordReconciliation(ctx, tx, store.Repository{Key: keyOf(repository) + route, Host: "github.com", Name: name},
						store.HistoryUpdate{})
					return err
				})
			}
			if second := <-stream.texts; second != "event: reconciled\ndata: "+shop+"\n\n" {
				t.Errorf("%s: after %q came %q", route, first, second)
			}
			leave()
			<-left
		}
	})
}

// streamed is a response whose texts are received in order.
type streamed struct {
	*httptest.ResponseRecorder
	texts chan string
}

func (s *streamed) Write(text []byte) (int, error) {
	s.texts <- string(bytes.Clone(text))
	return len(text), nil
}
