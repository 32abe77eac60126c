package forgetest_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/scm/forgetest"
)

const route = "POST /things/{name}"

// shop is a fake with one route, which counts its items.
type shop struct {
	forgetest.Traffic
	front  *forgetest.Front
	url    string
	now    time.Time
	things int
}

func newShop(t testing.TB) *shop {
	t.Helper()
	s := &shop{now: time.Unix(1_700_000_000, 0)}
	s.front = forgetest.New(t, forgetest.Fake{
		Name: "shop", Now: func() time.Time { return s.now }, ContentType: "application/json", MaxBody: 16,
		Finish: func(answer *forgetest.Reply) { answer.Header.Set("X-Things", fmt.Sprint(s.things)) },
	})
	s.Traffic = s.front.Traffic()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.front.Serve(w, r, route, func(body []byte) *forgetest.Reply { return s.add(r, body) })
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *shop) add(r *http.Request, body []byte) *forgetest.Reply {
	s.things++
	return forgetest.Answer(http.StatusCreated, map[string]string{forgetest.WithValues(route, r).PathValue("name"): string(body)})
}

// ask adds an item and returns the response as status, headers and text.
func (s *shop) ask(t *testing.T) (*http.Response, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/things/red", strings.NewReader("ball"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return resp, string(text), err
}

// wants checks the status and text of one more response, and the number of items
// after it.
func (s *shop) wants(t *testing.T, status int, text string, things int) {
	t.Helper()
	resp, got, err := s.ask(t)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != status || got != text || resp.Header.Get("X-Things") != fmt.Sprint(things) {
		t.Errorf("answered %d %q with %s things, want %d %q with %d", resp.StatusCode, got, resp.Header.Get("X-Things"), status, text, things)
	}
}

func TestFront_Serve(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	var seen []string
	s.Watch(func(route string) { s.front.Act(func() { seen = append(seen, route) }) })
	s.wants(t, http.StatusCreated, `{"red":"ball"}`, 1)
	s.Watch(nil)
	s.wants(t, http.StatusCreated, `{"red":"ball"}`, 2)
	if diff := cmp.Diff([]string{route}, seen); diff != "" {
		t.Errorf("watched: %s", diff)
	}
	if diff := cmp.Diff(map[string]int{route: 2}, s.Requests()); diff != "" {
		t.Errorf("requests: %s", diff)
	}
	if all, writes := s.Total(); all != 2 || writes != 2 {
		t.Errorf("%d requests, %d of them write", all, writes)
	}
	if s.ResetRequests(); len(s.Requests()) != 0 {
		t.Errorf("after a reset: %v", s.Requests())
	}
}

func TestFront_injectedFailures(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.front.Fail("GET ", forgetest.Answer(http.StatusTeapot, nil)) // remains for another route
	s.front.Fail("/things", forgetest.Answer(http.StatusBadGateway, forgetest.Plain("sorry\n")))
	s.wants(t, http.StatusBadGateway, "sorry\n", 0)
	s.Lose(forgetest.AnyWrite)
	if resp, _, err := s.ask(t); err == nil {
		t.Errorf("a lost answer came: %d", resp.StatusCode)
	}
	s.wants(t, http.StatusCreated, `{"red":"ball"}`, 2)
}

func TestFront_Limit(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	told := func(time.Time) *forgetest.Reply { return forgetest.Answer(http.StatusTooManyRequests, nil) }
	s.front.Limit(s.now.Add(time.Minute), told)
	s.wants(t, http.StatusTooManyRequests, "", 0)
	s.front.Act(func() { s.now = s.now.Add(time.Minute) })
	s.wants(t, http.StatusCreated, `{"red":"ball"}`, 1)
}

// failing records what a front reports to a test.
type failing struct {
	testing.TB
	said []string
}

func (f *failing) Errorf(format string, args ...any) {
	f.said = append(f.said, fmt.Sprintf(format, args...))
}

func (f *failing) Fatal(args ...any) { f.said = append(f.said, fmt.Sprint(args...)) }

func TestFront_failuresFailTheTest(t *testing.T) {
	t.Parallel()
	watched := &failing{TB: t}
	front := forgetest.New(watched, forgetest.Fake{Name: "shop", Now: time.Now, MaxBody: 16})
	broken := errors.New("git is gone")
	front.Act(func() { panic(broken) })
	w := httptest.NewRecorder()
	front.Serve(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/things/red", nil), route, func([]byte) *forgetest.Reply { panic(broken) })
	if diff := cmp.Diff([]string{"git is gone", "shop: " + route + ": git is gone"}, watched.said); diff != "" || w.Code != http.StatusInternalServerError {
		t.Errorf("answered %d; said: %s", w.Code, diff)
	}
	defer func() {
		if recover() != "a bug" {
			t.Error("a panic that is no error was swallowed")
		}
		front.Act(func() {}) // the lock is released
	}()
	front.Act(func() { panic("a bug") })
}

func TestReply_Unless(t *testing.T) {
	t.Parallel()
	get := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	first := forgetest.Answer(http.StatusOK, []int{1}).Unless(get, "private")
	if first.Status != http.StatusOK || first.Header.Get("ETag") == "" || first.Header.Get("Cache-Control") != "private" {
		t.Errorf("first: %+v", first)
	}
	get.Header.Set("If-None-Match", first.Header.Get("ETag"))
	if again := forgetest.Answer(http.StatusOK, []int{1}).Unless(get, "private"); again.Status != http.StatusNotModified || again.Body != nil {
		t.Errorf("again: %+v", again)
	}
	if changed := forgetest.Answer(http.StatusOK, []int{2}).Unless(get, "private"); changed.Status != http.StatusOK {
		t.Errorf("changed: %+v", changed)
	}
}
