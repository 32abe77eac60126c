package registry

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"

	"promoter/internal/image"
)

// An image costs one request for each period in which nothing is new, however many
// repositories and environments follow it: its list of tags, or the digest of its moving
// tag. The digest of the selected tag is requested with the first list, with one that
// changed, when it may be promoted, and at its turn.
func TestSelect_requestsInOnePeriod(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) *fake{
		"in process": func(t *testing.T) *fake { t.Helper(); return newFake(t) },
		"docker-registry": func(t *testing.T) *fake {
			t.Helper()
			return serve(t, program(t, debianVariable, "docker-registry"), "")
		},
		"distribution": func(t *testing.T) *fake { t.Helper(); return serve(t, program(t, threeVariable, "registry"), "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testRequestsInOnePeriod(t, open(t))
		})
	}
}

func testRequestsInOnePeriod(t *testing.T, f *fake) {
	t.Helper()
	push := func(day_ int, tag string) string {
		return pushTo(t, f.host, authn.Anonymous, "acme/web", built{created: day(day_)}.image(t), tag)
	}
	for n := range 25 {
		push(1, fmt.Sprintf("1.%d.0", n))
	}
	written := push(2, "1.25.0")
	push(2, "latest")
	listed := Request{
		Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Semver: ">=1"}), DigestOnly: true,
		InUse: func(v image.Version) bool { return v.Digest == written },
	}
	moving := Request{Repository: listed.Repository, Policy: mustPolicy(t, image.Selection{Tag: "latest"})}
	newest := Request{Repository: listed.Repository, Policy: mustPolicy(t, image.Selection{Newest: `^1\.`}), InUse: listed.InUse}
	c, begin := newClient(t, Options{}), time.Now().Add(-time.Hour)
	// period has several repositories follow the image as of a time.
	period := func(minutes, turn int, r Request) (Selection, string) {
		t.Helper()
		f.reset()
		r.AsOf, r.MovedAsOf = begin.Add(time.Duration(minutes)*time.Minute), begin.Add(time.Duration(turn)*time.Minute)
		var all sync.WaitGroup
		var s Selection
		for range 3 {
			batch := c.Batch()
			for i := range 3 {
				all.Go(func() {
					got, err := batch.For(repositoryKey(fmt.Sprintf("a/%d", i))).Select(t.Context(), r)
					if err != nil || !got.Found {
						t.Errorf("%+v, %v", got, err)
					}
				})
			}
			all.Wait() // a webhook about something else triggers them again
		}
		asked := fmt.Sprintf("%d lists, %d digests", f.count("tags/list"), f.count("HEAD"))
		s = mustSelect(t, c.For("a/1"), r)
		return s, asked
	}
	check := func(what, want string, minutes, turn int, r Request, selected string) {
		t.Helper()
		if s, asked := period(minutes, turn, r); asked != want || s.Version.Digest != selected {
			t.Errorf("%s: %s, want %s; selected %s %s, want %s", what, asked, want, s.Version.Tag, s.Version.Digest, selected)
		}
	}
	check("first period", "1 lists, 1 digests", 5, -30, listed, written)
	check("nothing new", "1 lists, 0 digests", 10, -30, listed, written)
	check("nothing new", "1 lists, 0 digests", 15, -30, listed, written)
	check("at its turn", "1 lists, 1 digests", 20, 20, listed, written)
	check("after its turn", "1 lists, 0 digests", 25, 20, listed, written)
	check("a webhook", "1 lists, 1 digests", 26, 26, listed, written)

	fresh := push(3, "1.26.0")
	check("the list changed", "1 lists, 1 digests", 30, 20, listed, fresh)
	check("not in the files yet", "1 lists, 1 digests", 35, 20, listed, fresh)
	written = fresh
	check("in the files", "1 lists, 0 digests", 40, 20, listed, fresh)

	moved := push(4, "1.26.0")
	check("pushed again, before its turn", "1 lists, 0 digests", 45, 20, listed, fresh)
	check("pushed again, at its turn", "1 lists, 1 digests", 50, 50, listed, moved)

	latest := mustSelect(t, c.For("a/1"), moving).Version.Digest
	check("a moving tag", "0 lists, 1 digests", 55, 20, moving, latest)
	check("a moving tag, nothing new", "0 lists, 1 digests", 60, 20, moving, latest)
	latest = push(5, "latest")
	check("a moving tag moved", "0 lists, 1 digests", 65, 20, moving, latest)

	written = moved
	check("newest, first", "1 lists, 27 digests", 70, 70, newest, moved)
	check("newest, nothing new", "1 lists, 0 digests", 75, 70, newest, moved)
	check("newest, at its turn", "1 lists, 27 digests", 80, 80, newest, moved)
}

// Runs keep what they read with the time of their start. A list or digest that is the same is not written
// to the folder again by each of them.
func TestSelect_runsWithACacheWriteWhatChanged(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	push := func(day_ int, tag string) string {
		return pushTo(t, f.host, authn.Anonymous, "acme/web", built{created: day(day_)}.image(t), tag)
	}
	listed := push(1, "1.0.0")
	push(2, "latest")
	folder, clock := t.TempDir(), time.Now()
	run := func(after time.Duration, r Request, want string) {
		t.Helper()
		clock = clock.Add(after)
		f.reset()
		c := newClient(t, Options{CacheDir: folder, Now: func() time.Time { return clock }})
		r.KeptAsOf, r.MovedAsOf = clock, clock.Truncate(time.Hour)
		mustSelect(t, c.For("a/1"), r)
		if err := c.Flush(); err != nil {
			t.Error(err)
		}
		got := fmt.Sprintf("%d lists, %d digests, written %t", f.count("tags/list"), f.count("HEAD"), c.options.Cache.written.Load())
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	byList := Request{
		Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Semver: ">=1"}), DigestOnly: true,
		InUse: func(v image.Version) bool { return v.Digest == listed },
	}
	clock = clock.Truncate(time.Hour)
	run(time.Minute, byList, "1 lists, 1 digests, written true")
	run(time.Minute, byList, "1 lists, 0 digests, written false")
	run(time.Hour, byList, "1 lists, 1 digests, written true")
	run(time.Minute, byList, "1 lists, 0 digests, written false")
	moving := Request{Repository: byList.Repository, Policy: mustPolicy(t, image.Selection{Tag: "latest"}), DigestOnly: true}
	run(time.Minute, moving, "0 lists, 1 digests, written true")
	run(time.Minute, moving, "0 lists, 1 digests, written false")
	push(3, "latest")
	run(time.Minute, moving, "0 lists, 1 digests, written true")
}
