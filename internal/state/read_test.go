package state_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/state"
)

func TestRead_whatPeopleWrote(t *testing.T) {
	t.Parallel()
	s := read(t, map[string]string{
		"prod/shop.json": `{"schema": 1, "hold": {"by": {"host": "github.com", "login": "ann"}, "at": "2026-11-18T12:00:00.5+01:00"}}`,
		"prod/_all.json": `{"schema": 1, "freeze": {"by": {"host": "", "login": "ben"}, "at": "2026-11-18T11:00:00Z", "until": "2027-01-01T00:00:00Z"}}`,
		"README.md":      "# not ours",
		"a/b/c.json":     "not ours",
		"Prod/shop.json": "no name of an environment",
	})
	if problems := s.Problems(); len(problems) > 0 {
		t.Error(problems)
	}
	if got := held(s, shop, noon); got != "prod frozen by ben" {
		t.Errorf("got %q", got)
	}
	if got := s.At(shop).Hold.At; !got.Equal(noon) || got.Location() != noon.Location() {
		t.Errorf("held at %v", got)
	}
	if diff := cmp.Diff([]state.Target{prod, shop}, s.Targets()); diff != "" {
		t.Error(diff)
	}
}

func TestRead_aBrokenFileHoldsItsPlace(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"no JSON":         `{"schema": 1`,
		"nothing":         ``,
		"a list":          `[]`,
		"no schema":       `{"hold": null}`,
		"schema 0":        `{"schema": 0}`,
		"schema in words": `{"schema": "one"}`,
		"a wrong type":    `{"schema": 1, "hold": 7}`,
		"a wrong time":    `{"schema": 1, "hold": {"at": "yesterday"}}`,
		"a year too far":  `{"schema": 1, "hold": {"at": "9999-12-31T23:59:59-10:00"}}`,
		"a key twice":     `{"schema": 1, "hold": null, "HOLD": {}}`,
		"a conflict":      "<<<<<<< ours\n{}\n",
		"too many wishes": `{"schema": 1, "request": {"with": ["a:1"` + strings.Repeat(`,"a:1"`, state.MaxVersions) + `]}}`,
		"a long wish":     `{"schema": 1, "request": {"with": ["` + strings.Repeat("x", 2000) + `"]}}`,
		"too large":       `{"schema": 1, "x": "` + strings.Repeat("x", 1<<20) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := read(t, map[string]string{"prod/shop.json": content, "prod/blog.json": `{"schema":1}`})
			if got := held(s, shop, noon); got != "shop in prod cannot be read" {
				t.Errorf("shop: %q", got)
			}
			if got := held(s, blog, noon); got != "" {
				t.Errorf("blog: %q", got)
			}
			problems := s.Problems()
			if len(problems) != 1 || !strings.HasPrefix(problems[0].String(), "prod/shop.json on promoter/_state: it ") {
				t.Errorf("problems: %v", problems)
			}
			next, err := s.Apply(state.Resume(shop, act("ann", 0)), state.Hold(blog, act("ann", 0)))
			if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "repair or delete the file") {
				t.Errorf("error: %v", err)
			}
			if files := next.Diff(s); len(files) != 1 || files["prod/blog.json"] == nil {
				t.Errorf("writes %q", files)
			}
		})
	}
}

func TestRead_aBrokenWideFileHoldsAllBelow(t *testing.T) {
	t.Parallel()
	s := read(t, map[string]string{"_all/_all.json": "?"})
	if got := held(s, shop, noon); got != "the repository cannot be read" {
		t.Errorf("got %q", got)
	}
}

func TestRead_aNewerSchemaStopsEverything(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{"prod/blog.json": []byte(`{"schema":1}`), "prod/shop.json": []byte(`{"schema":2,"hold":"otherwise"}`)}
	_, err := state.Read(maps.All(files))
	if fault.KindOf(err) != fault.Invalid || err.Error() != "prod/shop.json on promoter/_state: its schema is newer than 1: upgrade promoter" {
		t.Errorf("got %v", err)
	}
}

func TestRead_tooManyFiles(t *testing.T) {
	t.Parallel()
	_, err := state.Read(func(yield func(string, []byte) bool) {
		for i := 0; yield(fmt.Sprintf("prod/app-%d.json", i), []byte(`{"schema":1}`)); i++ {
		}
	})
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("got %v", err)
	}
}

// TestRead_saysWhoWroteIt checks that the state shows the author of a hold. Any
// user who can push the branch can hold a target; neither the name nor a
// bypass grants permissions.
func TestRead_saysWhoWroteIt(t *testing.T) {
	t.Parallel()
	s := read(t, map[string]string{"prod/shop.json": `{"schema": 1, "bypass": true,
		"request": {"by": {"host": "github.com", "login": "mallory", "bot": true}, "at": "2026-11-18T11:00:00Z", "bypass": ["soak"]}}`})
	want := &state.Request{Act: act("mallory", 0)}
	want.By.Bot, want.Reason, want.Bypass = true, "", []string{"soak"}
	if diff := cmp.Diff(want, s.At(shop).Request); diff != "" {
		t.Error(diff)
	}
}

// An image without a digest is written as it is parsed. Earlier releases wrote a separator without one, and nothing
// matched what they had rejected.
func TestRead_imagesWithoutADigest(t *testing.T) {
	t.Parallel()
	const by = `"by": {"login": "ann"}, "at": "2026-11-18T11:00:00Z"`
	s := read(t, map[string]string{"prod/shop.json": `{"schema": 1,
		"rejections": [{` + by + `, "images": {"web": "quay.io/acme/web:2.0.0@", "worker": "quay.io/acme/worker:@` + digestB + `"}}],
		"rollback": {` + by + `, "images": {"web": "quay.io/acme/web:1.0.0@"}},
		"request": {` + by + `, "for": {"web": "quay.io/acme/web:1.0.0@"}},
		"settled": [{"number": 7, "at": "2026-11-18T11:00:00Z", "images": {"web": "quay.io/acme/web:3.0.0@"}}]}`})
	if !rejected(t, s, shop, "quay.io/acme/web:2.0.0") || !rejected(t, s, shop, web2) || !rejected(t, s, shop, worker2) {
		t.Error("what is rejected is not matched")
	}
	if rejected(t, s, shop, "quay.io/acme/web:3.0.0") {
		t.Error("another version is rejected")
	}
	record := s.At(shop)
	for _, images := range []map[string]string{record.Rollback.Images, record.Request.For, record.Settled[0].Images, record.Rejections[0].Images} {
		for component, text := range images {
			if _, err := image.Parse(text); err != nil {
				t.Errorf("%s: %q: %v", component, text, err)
			}
		}
	}
	if number, again := record.ReopenedFor(map[string]string{"web": "quay.io/acme/web:3.0.0"}); !again || number != 7 {
		t.Errorf("reopened for #%d, %v", number, again)
	}
	allowed := apply(t, s, state.Unreject(shop, state.Unrejection{Act: act("ben", 5), Images: map[string]string{"web": "quay.io/acme/web:2.0.0"}}))
	if rejected(t, allowed, shop, "quay.io/acme/web:2.0.0") {
		t.Error("it is still rejected after unreject")
	}
}
