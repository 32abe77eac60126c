package registry

import (
	"fmt"
	"strings"
	"testing"

	"promoter/internal/fault"
)

func TestTags_moreThanOnePassMayRead(t *testing.T) {
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

func TestTags_aPauseKeepsThePlace(t *testing.T) {
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

func TestTags_aPlaceThatIsGoneIsBegunAgain(t *testing.T) {
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
