package state_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/state"
)

const heldFile = `{
  "schema": 1,
  "hold": {
    "by": {
      "host": "github.com",
      "login": "ann"
    },
    "at": "2026-11-18T11:00:00Z",
    "reason": "a < b & \"c\""
  },
  "closings": [
    {
      "number": 7,
      "reason": "nothing differs",
      "at": "2026-11-18T11:01:00Z"
    }
  ]
}
`

func TestDiff_writesWhatPeopleCanRead(t *testing.T) {
	t.Parallel()
	a := act("ann", 0)
	a.At = a.At.Local().Add(700_000_000)
	a.Reason = `a < b & "c"`
	s := apply(t, state.State{}, state.Hold(shop, a), state.Closed(shop, 7, "nothing differs", after(1)))
	if diff := cmp.Diff(map[string]string{"prod/shop.json": heldFile}, whole(s)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestDiff_writesWhatChangedAlone(t *testing.T) {
	t.Parallel()
	before := read(t, map[string]string{
		"prod/shop.json": heldFile,
		"prod/blog.json": heldFile,
		"dev/shop.json":  `{"schema":1,"freeze":{"by":{"host":"","login":"x"},"at":"2026-11-18T11:00:00Z"}}`,
	})
	if files := before.Diff(before); len(files) > 0 {
		t.Errorf("nothing changed, writes %q", files)
	}
	s := apply(t, before, state.Resume(blog, act("ann", 1)), state.Closed(shop, 7, "once more", after(9)))
	files := s.Diff(before)
	if len(files) != 1 || files["prod/blog.json"] == nil {
		t.Errorf("writes %q", files)
	}
	gone := before.With(shop, func(r *state.Record) { *r = state.Record{} })
	files = gone.Diff(before)
	if content, there := files["prod/shop.json"]; len(files) != 1 || !there || content != nil {
		t.Errorf("writes %q", files)
	}
}

func TestDiff_keepsWhatLaterReleasesWrote(t *testing.T) {
	t.Parallel()
	before := read(t, map[string]string{"prod/shop.json": `{
  "schema": 1,
  "note": {"z": 1, "a": [1.50, 2]},
  "hold": {"by": {"host": "github.com", "login": "ann", "tenant": 12}, "at": "2026-11-18T11:00:00Z", "ticket": "OPS-1"},
  "request": {"ticket": "OPS-2", "by": {"host": "github.com", "login": "ann"}, "at": "2026-11-18T11:00:00Z"},
  "closings": [{"number": 7, "reason": "x", "at": "2026-11-18T11:00:00Z", "url": "https://example.com/7"}]
}`})
	request := *before.At(shop).Request
	s := apply(t, before, state.Closed(shop, 8, "y", after(1)), state.BindRequest(shop, request, "v1:a"), state.Resume(shop, act("ben", 1)))
	want := `{
  "schema": 1,
  "resumption": {
    "by": {
      "host": "github.com",
      "login": "ben"
    },
    "at": "2026-11-18T11:01:00Z",
    "reason": "because"
  },
  "request": {
    "by": {
      "host": "github.com",
      "login": "ann"
    },
    "at": "2026-11-18T11:00:00Z",
    "snapshot": "v1:a",
    "ticket": "OPS-2"
  },
  "closings": [
    {
      "number": 7,
      "reason": "x",
      "at": "2026-11-18T11:00:00Z",
      "url": "https://example.com/7"
    },
    {
      "number": 8,
      "reason": "y",
      "at": "2026-11-18T11:01:00Z"
    }
  ],
  "note": {
    "z": 1,
    "a": [
      1.50,
      2
    ]
  }
}
`
	if diff := cmp.Diff(want, string(s.Diff(before)["prod/shop.json"])); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}

	// Another hold is another decision, so unknown keys of the first do not
	// apply to it.
	ended := before.With(shop, func(r *state.Record) { r.Hold = nil })
	again := apply(t, ended, state.Hold(shop, act("cho", 5)))
	if text := string(again.Diff(before)["prod/shop.json"]); strings.Contains(text, "OPS-1") || !strings.Contains(text, "OPS-2") {
		t.Errorf("writes %s", text)
	}
	// A record that is empty for this release may have content for another.
	empty := before.With(shop, func(r *state.Record) { r.Hold, r.Request, r.Closings = nil, nil, nil })
	if text := string(empty.Diff(before)["prod/shop.json"]); !strings.Contains(text, `"note"`) {
		t.Errorf("writes %q", text)
	}
}

// FuzzRead checks that reading fails only in the documented ways and that
// written state reads back equal.
func FuzzRead(f *testing.F) {
	f.Add([]byte(heldFile))
	f.Add([]byte(`{"schema":1,"x":{"a":1},"hold":{"at":"2026-11-18T11:00:00.7+01:00","t":1},"rejections":[null,{"images":{"a":"b"},"n":0}]}`))
	f.Add([]byte(`{"schema":2}`))
	f.Add([]byte(`{"schema":1,"commentsFrom":"2026-11-11T00:00:00Z","processedComments":[{"id":1,"at":"9999-12-31T23:59:59Z","reply":{"number":1}},{"id":1}]}`))
	f.Add([]byte(`{"schema":1,"seen":[],"Closings":[{"number":1}],"request":{"with":null}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		before, err := state.Read(maps.All(map[string][]byte{"prod/shop.json": content}))
		if err != nil || len(before.Problems()) > 0 {
			return
		}
		same(t, before, read(t, whole(before)))
		changed := apply(t, before, state.Closed(shop, 1<<30, "x", noon), state.Hold(shop, act("ann", 0)))
		again := read(t, whole(changed))
		if problems := again.Problems(); len(problems) > 0 {
			t.Fatalf("wrote %q: %v", whole(changed), problems)
		}
		same(t, changed, again)
		if diff := cmp.Diff(changed.At(shop).Hold, again.At(shop).Hold); diff != "" {
			t.Error(diff)
		}
	})
}
