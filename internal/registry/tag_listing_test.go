package registry

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/image"
)

// paged makes a registry with n tags that lists them in the way of p.
func paged(t testing.TB, n int, p *pager) *fake {
	t.Helper()
	f := newFake(t)
	p.digest = f.push(t, "acme/web", built{created: day(1)}, "0")
	p.tags = manyTags(n)
	f.answer = p.serve
	f.reset()
	return f
}

func webRequest(t testing.TB, f *fake) Request {
	t.Helper()
	return Request{Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Semver: ">=1"})}
}

func TestTags_paginationStyles(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		pager pager
		n     int
		asked int // tag list requests
	}{
		{"10,000 tags with links", pager{link: true}, 10_000, 10},
		{"10,000 tags in pages that are cut smaller", pager{link: true, clamp: 500}, 10_000, 20},
		{"page size refused: halved until taken", pager{link: true, most: 100}, 1000, 4 + 17},
		{"page size refused down to one", pager{link: true, most: 1}, 5, 9 + 5},
		{"cut at the page without a link", pager{}, 2500, 3},
		{"cut at the page without a link, to the tag", pager{}, 2000, 3},
		{"no paging at all", pager{ignoreAll: true}, 2500, 1},
		{"no paging, and as many as a page has", pager{ignoreAll: true}, 1000, 2},
		{"one page", pager{link: true}, 7, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := paged(t, tc.n, &tc.pager)
			s := mustSelect(t, newClient(t, Options{}).For("a/1"), webRequest(t, f))
			if want := fmt.Sprintf("1.0.%d", tc.n-1); !s.Found || s.Version.Tag != want {
				t.Errorf("selected %+v, want %s", s, want)
			}
			if got := f.count("tags/list"); got != tc.asked {
				t.Errorf("asked for %d pages, want %d", got, tc.asked)
			}
		})
	}
}

func TestTags_remembersAcceptedPageSize(t *testing.T) {
	t.Parallel()
	f := paged(t, 100, &pager{link: true, most: 60})
	c := newClient(t, Options{Limits: Limits{PageSize: 100}})
	mustSelect(t, c.For("a/1"), webRequest(t, f))
	f.reset()
	mustSelect(t, c.For("a/1"), webRequest(t, f))
	if got := f.count("tags/list"); got != 2 {
		t.Errorf("asked for %d pages, want 2 of 50", got)
	}
}

func TestTags_failedListIsAnError(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request)
		kind   fault.Kind
	}{
		"fails":           {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, fault.Temporary},
		"cut in a page":   {body(`{"tags":["1.0.0"`), fault.Temporary},
		"nothing":         {body(``), fault.Temporary},
		"not JSON":        {body(`<html>`), fault.Temporary},
		"another shape":   {body(`{"tags":{"a":1}}`), fault.Invalid},
		"a broken link":   {linked("nonsense"), fault.Invalid},
		"an empty link":   {linked("</v2/acme/web/tags/list>"), fault.Invalid},
		"a circle":        {linked("</v2/acme/web/tags/list?last=x>"), fault.Invalid},
		"shorter":         {short, fault.Temporary},
		"far too large":   {body(`{"tags":["` + strings.Repeat("a", maxResponse) + `"]}`), fault.Invalid},
		"the name is odd": {body(strings.Repeat("[", 20_000)), fault.Temporary},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.push(t, "acme/web", built{created: day(1)}, "1.0.0")
			f.answer = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, "/tags/list") {
					return false
				}
				tc.answer(w, r)
				return true
			}
			s, err := newClient(t, Options{}).For("a/1").Select(t.Context(), webRequest(t, f))
			if s.Found || fault.KindOf(err) != tc.kind {
				t.Errorf("selected %+v, err = %v (%s), want %s", s, err, fault.KindOf(err), tc.kind)
			}
		})
	}
}

func body(text string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

func linked(link string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", link)
		_, _ = io.WriteString(w, `{"tags":["1.0.0"]}`)
	}
}

func short(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	_, _ = io.WriteString(w, `{"tags":["1.0.0",`)
}

func TestTags_failedPageIsAnError(t *testing.T) {
	t.Parallel()
	f := paged(t, 3000, &pager{link: true, failAfter: "1.0.2", status: 502})
	s, err := newClient(t, Options{}).For("a/1").Select(t.Context(), webRequest(t, f))
	if s.Found || fault.KindOf(err) != fault.Temporary {
		t.Errorf("selected %+v from part of a list: %v", s, err)
	}
}

func TestTags_nextPageWithoutList(t *testing.T) {
	t.Parallel()
	p := &pager{link: true, clamp: 100}
	f := paged(t, 250, p)
	f.answer = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("last") != "" {
			_, _ = io.WriteString(w, `{"errors":[{"code":"UNKNOWN"}]}`)
			return true
		}
		return p.serve(w, r)
	}
	s, err := newClient(t, Options{}).For("a/1").Select(t.Context(), webRequest(t, f))
	if s.Found || fault.KindOf(err) != fault.Temporary || !strings.Contains(err.Error(), "no list of tags") {
		t.Errorf("selected %+v, %v", s, err)
	}
}

func TestTags_emptyList(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{"empty": `{"tags":[]}`, "null": `{"tags":null}`, "no key": `{}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.push(t, "acme/web", built{created: day(1)}, "1.0.0")
			f.answer = func(w http.ResponseWriter, r *http.Request) bool {
				if strings.HasSuffix(r.URL.Path, "/tags/list") {
					_, _ = io.WriteString(w, answer)
					return true
				}
				return false
			}
			s := mustSelect(t, newClient(t, Options{}).For("a/1"), webRequest(t, f))
			if diff := cmp.Diff(Selection{Reason: "the registry lists no tags"}, s); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTags_linksAreOnlyQueries(t *testing.T) {
	t.Parallel()
	for link, want := range map[string]string{
		"": "",
		`</v2/a/tags/list?last=b&n=5>; rel="next"`:                                       "last=b&n=5",
		`<https://evil.example/v2/?next_page=x>; rel=next`:                               "next_page=x",
		`</v2/a/tags/list?last=b>`:                                                       "last=b",
		`</v2/a/tags/list?last=b>; rel="prev"`:                                           "",
		`</style.css>; rel=preload; as=style, </v2/a/tags/list?last=b>; rel="next"`:      "last=b",
		`</v2/a/tags/list?last=a>; rel="prev first",</v2/a/tags/list?last=c>; REL= next`: "last=c",
		`</v2/a/tags/list?last=a,b>; rel="next last"; title="x"`:                         "last=a,b",
		`</next?last=x>; rel="prefetch"; title="next"`:                                   "",
	} {
		got, err := nextCursor(link)
		if err != nil || got != want {
			t.Errorf("nextCursor(%q) = %q, %v", link, got, err)
		}
	}
}

func TestTags_refusesInvalidLinks(t *testing.T) {
	t.Parallel()
	for _, link := range []string{"x", "<", "</v2/a/tags/list?last=b", "<>", `</v2/a/tags/list>; rel="next"`, `<%zz?a>; rel="next"`} {
		if got, err := nextCursor(link); fault.KindOf(err) != fault.Invalid {
			t.Errorf("nextCursor(%q) = %q, %v", link, got, err)
		}
	}
}

// A proxy may put a link of its own before that of the registry; a list that
// ends there would have lost its best tag.
func TestTags_ignoresLinksOfProxies(t *testing.T) {
	t.Parallel()
	p := &pager{link: true, clamp: 100}
	f := paged(t, 250, p)
	f.answer = func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Add("Link", "</style.css>; rel=preload")
		return p.serve(w, r)
	}
	if s := mustSelect(t, newClient(t, Options{}).For("a/1"), webRequest(t, f)); !s.Found || s.Version.Tag != "1.0.249" {
		t.Errorf("selected %+v", s)
	}
}

func FuzzNextCursor(f *testing.F) {
	f.Add(`</v2/a/tags/list?last=b&n=5>; rel="next"`)
	f.Add("<>")
	f.Fuzz(func(t *testing.T, link string) {
		cursor, err := nextCursor(link)
		if err != nil || cursor == "" {
			return
		}
		if query, err := pageQuery(cursor, 10); err == nil && query.Get("n") != "10" {
			t.Errorf("%q lost the page size", link)
		}
	})
}

func BenchmarkSelect10000Tags(b *testing.B) {
	f := paged(b, 10_000, &pager{link: true})
	c, r := newClient(b, Options{}), webRequest(b, f)
	for b.Loop() {
		if s := mustSelect(b, c.For("a/1"), r); !s.Found {
			b.Fatal(s.Reason)
		}
	}
}

func TestTags_readsLongListsInSeveralBatches(t *testing.T) {
	t.Parallel()
	for name, folder := range map[string]string{"in one process": "", "in one process each": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := paged(t, 2500, &pager{link: true})
			options := Options{Limits: Limits{Tags: 1000, PageSize: 500}, CacheDir: folder}
			c := newClient(t, options)
			pass := func() Selection {
				if folder != "" {
					if err := c.Flush(); err != nil {
						t.Fatal(err)
					}
					c = newClient(t, options)
				}
				return mustSelect(t, c.For("a/1"), webRequest(t, f))
			}
			for _, read := range []int{1000, 2000} {
				s := pass()
				if s.Found || !s.Incomplete || !strings.Contains(s.Reason, fmt.Sprintf("%d are read", read)) {
					t.Fatalf("selected %+v after %d tags", s, read)
				}
			}
			if s := pass(); !s.Found || s.Version.Tag != "1.0.2499" {
				t.Fatalf("selected %+v at the end", s)
			}
			if got := f.count("tags/list"); got != 5 {
				t.Errorf("asked for %d pages, want 5: the next pass goes on", got)
			}
			// The next round begins again, with the whole list standing in.
			if s := pass(); !s.Found || s.Version.Tag != "1.0.2499" {
				t.Errorf("selected %+v in the next round", s)
			}
		})
	}
}

func TestTags_continuesAfterRateLimit(t *testing.T) {
	t.Parallel()
	p := &pager{link: true, failAfter: "1.0.2", status: 429}
	f := paged(t, 3000, p)
	c := newClient(t, Options{Limits: Limits{PageSize: 100}})
	_, err := c.For("a/1").Select(t.Context(), webRequest(t, f))
	if fault.KindOf(err) != fault.RateLimited {
		t.Fatalf("err = %v", err)
	}
	if at, ok := fault.RetryAt(err); !ok || at.IsZero() {
		t.Errorf("the fault names no time: %v", err)
	}
	read := f.count("tags/list")
	p.failAfter = ""
	f.reset()
	// A new client of the process after the pause: the host is asked again.
	c.transport.inner = newOutbound(t)
	c.sessions = map[scope]*session{}
	if s := mustSelect(t, c.For("a/1"), webRequest(t, f)); !s.Found || s.Version.Tag != "1.0.2999" {
		t.Fatalf("selected %+v", s)
	}
	if got := f.count("tags/list"); got != 30-read+1 {
		t.Errorf("asked for %d pages after %d, want the rest of 30", got, read)
	}
}

func TestTags_restartsAfterInvalidCursor(t *testing.T) {
	t.Parallel()
	p := &pager{link: true}
	f := paged(t, 250, p)
	c := newClient(t, Options{Limits: Limits{Tags: 100, PageSize: 100}})
	mustSelect(t, c.For("a/1"), webRequest(t, f))
	p.failAfter, p.status = "1", 404
	if _, err := c.For("a/1").Select(t.Context(), webRequest(t, f)); err == nil {
		t.Fatal("no error")
	}
	p.failAfter = ""
	f.reset()
	mustSelect(t, c.For("a/1"), webRequest(t, f))
	if f.count("tags/list?n=100") != 1 {
		t.Errorf("asked %v, want the beginning", f.asked)
	}
}

// pager serves a tag list of its own in the ways of different registries; all
// its tags lead to one image.
type pager struct {
	tags   []string
	digest string

	most      int  // larger pages are refused; zero: none are
	clamp     int  // larger pages are cut to this; zero: none are
	link      bool // names the next page
	ignoreAll bool // neither n nor last is used
	failAfter string
	status    int // of a failure
}

func (p *pager) serve(w http.ResponseWriter, r *http.Request) bool {
	if strings.HasSuffix(r.URL.Path, "/tags/list") {
		p.list(w, r)
		return true
	}
	before, tag, found := strings.Cut(r.URL.Path, "/manifests/")
	if found && slices.Contains(p.tags, tag) {
		r.URL.Path = before + "/manifests/" + p.digest
	}
	return false
}

func (p *pager) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	n, last := len(p.tags), query.Get("last")
	if asked, err := strconv.Atoi(query.Get("n")); err == nil {
		n = asked
	}
	if p.most > 0 && n > p.most && query.Get("n") != "" {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"errors":[{"code":"PAGINATION_NUMBER_INVALID"}]}`)
		return
	}
	if p.clamp > 0 {
		n = min(n, p.clamp)
	}
	if p.failAfter != "" && last >= p.failAfter {
		w.WriteHeader(p.status)
		return
	}
	rest := p.tags
	if at, found := slices.BinarySearch(p.tags, last); last != "" {
		if found {
			at++
		}
		rest = p.tags[at:]
	}
	if p.ignoreAll {
		rest, n = p.tags, len(p.tags)
	}
	tags := rest[:min(n, len(rest))]
	if p.link && len(tags) < len(rest) && len(tags) > 0 {
		w.Header().Add("Link", fmt.Sprintf(`<http://elsewhere.example%s?last=%s&n=%d>; rel="next"`, r.URL.Path, url.QueryEscape(tags[len(tags)-1]), n))
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"name": "acme/web", "tags": tags})
}

// manyTags makes 1.0.0 to 1.0.N-1 in the order of a registry.
func manyTags(n int) []string {
	tags := make([]string, n)
	for i := range tags {
		tags[i] = fmt.Sprintf("1.0.%d", i)
	}
	slices.Sort(tags)
	return tags
}
