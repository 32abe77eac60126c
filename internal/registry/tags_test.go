package registry

import (
	"fmt"
	"io"
	"net/http"
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

func TestTags_everyWayToPage(t *testing.T) {
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

func TestTags_theSizeIsRemembered(t *testing.T) {
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

func TestTags_aListThatFailsIsAnError(t *testing.T) {
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
		"far too large":   {body(`{"tags":["` + strings.Repeat("a", maxAnswer) + `"]}`), fault.Invalid},
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

func TestTags_thePageAfterFails(t *testing.T) {
	t.Parallel()
	f := paged(t, 3000, &pager{link: true, failAfter: "1.0.2", status: 502})
	s, err := newClient(t, Options{}).For("a/1").Select(t.Context(), webRequest(t, f))
	if s.Found || fault.KindOf(err) != fault.Temporary {
		t.Errorf("selected %+v from part of a list: %v", s, err)
	}
}

func TestTags_aNextPageWithoutAList(t *testing.T) {
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

func TestTags_anEmptyList(t *testing.T) {
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

func TestTags_linksThatAreNone(t *testing.T) {
	t.Parallel()
	for _, link := range []string{"x", "<", "</v2/a/tags/list?last=b", "<>", `</v2/a/tags/list>; rel="next"`, `<%zz?a>; rel="next"`} {
		if got, err := nextCursor(link); fault.KindOf(err) != fault.Invalid {
			t.Errorf("nextCursor(%q) = %q, %v", link, got, err)
		}
	}
}

// A proxy may put a link of its own before that of the registry; a list that
// ends there would have lost its best tag.
func TestTags_aLinkThatIsNotTheRegistrys(t *testing.T) {
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
