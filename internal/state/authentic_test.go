package state_test

import (
	"fmt"
	"slices"
	"testing"

	"promoter/internal/state"
)

// ignored returns what Authentic ignores, as texts.
func ignored(all []state.Ignored) (texts []string) {
	for _, one := range all {
		texts = append(texts, one.String())
	}
	return texts
}

func TestAuthentic_usersMayOnlyStopMore(t *testing.T) {
	t.Parallel()
	end, later := after(60), after(90)
	sealed := apply(t, state.State{}, state.Hold(shop, act("ann", 1)), state.Reject(shop, reject(1, web2)),
		state.Freeze("prod", act("ann", 1), &end), state.FirstSeen(blog, "v1:a", "", after(5)), state.Closed(blog, 7, "x", after(1)))
	request := state.Request{Act: act("mallory", 2)}
	for name, c := range map[string]struct {
		change  state.Change
		want    state.Change // of the sealed state; nil: none
		ignored []string
	}{
		"hold":                 {state.Hold(blog, act("ben", 2)), state.Hold(blog, act("ben", 2)), nil},
		"another hold":         {with(shop, func(r *state.Record) { hold := act("mallory", 9); r.Hold = &hold }), nil, []string{"hold of shop in prod"}},
		"reject":               {state.Reject(blog, reject(2, worker2)), state.Reject(blog, reject(2, worker2)), nil},
		"freeze":               {state.Freeze(state.All, act("ben", 2), nil), state.Freeze(state.All, act("ben", 2), nil), nil},
		"longer freeze":        {state.Freeze("prod", act("ben", 2), &later), state.Freeze("prod", act("ben", 2), &later), nil},
		"thaw":                 {state.Thaw("prod"), nil, []string{"freeze of prod"}},
		"resume":               {state.Resume(shop, act("mallory", 2)), nil, []string{"hold, resumption of shop in prod"}},
		"unreject":             {state.Unreject(shop, state.Unrejection{Act: act("mallory", 9), Images: reject(0, web2).Images}), nil, []string{"rejections, unrejections of shop in prod"}},
		"request":              {state.AddRequest(shop, request), nil, []string{"request of shop in prod"}},
		"rollback":             {state.Rollback(blog, state.RolledBack{Act: act("mallory", 2), Images: map[string]string{"web": web2}}), state.Hold(blog, act("mallory", 2)), []string{"rollback of blog in prod"}},
		"earlier time":         {with(blog, func(r *state.Record) { r.Seen[0].At = after(-999) }), nil, []string{"seen of blog in prod"}},
		"available":            {state.FirstAvailable(shop, state.Version{Component: "web", Digest: digestA, At: after(-999)}), nil, []string{"versions of shop in prod"}},
		"close of promoter":    {state.Closed(blog, 8, "x", after(1)), nil, []string{"closings of blog in prod"}},
		"comment processed":    {state.MarkProcessed(noon, state.ProcessedComment{ID: 3, At: noon}), nil, []string{"commentsFrom, processedComments of the repository"}},
		"everything is gone":   {func(state.State) state.State { return state.State{} }, nil, []string{"freeze of prod", "closings, seen of blog in prod", "hold, rejections of shop in prod"}},
		"nothing":              {state.Hold(shop, act("ben", 3)), nil, nil},
		"rejections reordered": {with(shop, func(r *state.Record) { slices.Reverse(r.Rejections) }), nil, nil},
	} {
		want := sealed
		if c.want != nil {
			want = apply(t, sealed, c.want)
		}
		got, out := state.Authentic(sealed, apply(t, sealed, c.change), noon)
		if whole := fmt.Sprint(ignored(out)); whole != fmt.Sprint(c.ignored) {
			t.Errorf("%s: ignored %s", name, whole)
		}
		if t.Run(name, func(t *testing.T) { same(t, want, got) }); t.Failed() {
			break
		}
	}
}

func with(target state.Target, change func(*state.Record)) state.Change {
	return func(s state.State) state.State { return s.With(target, change) }
}

func TestAuthentic_withoutSealNothingLoosens(t *testing.T) {
	t.Parallel()
	given := apply(t, state.State{}, state.AddRequest(shop, state.Request{Act: act("mallory", 1)}), state.Hold(blog, act("ann", 1)), state.ResumeWithin(prod, act("mallory", 2)), state.Hold(blog, act("ann", 3)))
	got, _ := state.Authentic(state.State{}, given, noon)
	same(t, apply(t, state.State{}, state.Hold(blog, act("ann", 3))), got)
}

// A user who floods a record with rejections does not displace the ones that are there.
func TestAuthentic_floodedRejectionsStay(t *testing.T) {
	t.Parallel()
	sealed := apply(t, state.State{}, state.Reject(shop, reject(0, web2)))
	for flood := range 3 {
		given := sealed.With(shop, func(r *state.Record) {
			r.Rejections = nil
			for i := range 400 {
				r.Rejections = append(r.Rejections, state.Rejection{Act: act("mallory", i), Number: flood*1000 + i, Images: map[string]string{"x": "quay.io/x/x:" + fmt.Sprint(flood, "-", i)}})
			}
		})
		sealed, _ = state.Authentic(sealed, given, noon)
		if !rejected(t, sealed, shop, web2) {
			t.Fatalf("lost in flood %d", flood)
		}
	}
}

// A file that cannot be read holds its target, and what was sealed is kept.
func TestAuthentic_unreadableFileHolds(t *testing.T) {
	t.Parallel()
	sealed := apply(t, state.State{}, state.Reject(shop, reject(1, web2)))
	broken := read(t, map[string]string{"prod/shop.json": "{", "prod/blog.json": "{"})
	got, out := state.Authentic(sealed, broken, noon)
	if len(out) != 2 || len(got.Problems()) > 0 || !rejected(t, got, shop, web2) || held(got, shop, noon) == "" || held(got, blog, noon) == "" {
		t.Errorf("ignored %v; %v", ignored(out), whole(got))
	}
	if got = apply(t, got, state.ResumeWithin(prod, act("ann", 5))); held(got, shop, noon) != "" {
		t.Error("a resume does not end it")
	}
}
