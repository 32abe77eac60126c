package state_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/state"
)

func TestHold_theWidestIsNamed(t *testing.T) {
	t.Parallel()
	s := apply(t, state.State{}, state.Hold(shop, act("ann", 0)))
	if got := held(s, shop, noon); got != "shop in prod held by ann" {
		t.Errorf("got %q", got)
	}
	if got := held(s, blog, noon); got != "" {
		t.Errorf("the neighbor is held: %q", got)
	}
	s = apply(t, s, state.Hold(prod, act("ben", 1)))
	if got := held(s, blog, noon); got != "prod held by ben" {
		t.Errorf("got %q", got)
	}
	s = apply(t, s, state.Hold(everyone, act("cho", 2)))
	if got := held(s, shop, noon); got != "the repository held by cho" {
		t.Errorf("got %q", got)
	}
}

// A second decision of the same kind does not replace the user and reason of the first.
func TestHold_keepsTheFirst(t *testing.T) {
	t.Parallel()
	until := after(60)
	back := func(who string, minute int) state.Change {
		return state.Rollback(shop, state.RolledBack{Act: act(who, minute), Images: map[string]string{"web": web2}})
	}
	first := apply(t, state.State{}, state.Hold(prod, act("ann", 0)), state.Freeze("dev", act("ann", 0), &until), back("ann", 0))
	same(t, first, apply(t, first, state.Hold(prod, act("ben", 1)), state.Freeze("dev", act("ben", 1), &until), back("ben", 1)))
	longer := apply(t, first, state.Freeze("dev", act("ben", 1), nil))
	if got := held(longer, state.Target{Environment: "dev", Application: "shop"}, noon); got != "dev frozen by ben" {
		t.Errorf("with another end: %q", got)
	}
}

// A resume is about exactly its target: the hold of another application, or of what is within it, stays.
func TestResume_exactlyItsTarget(t *testing.T) {
	t.Parallel()
	s := apply(t, state.State{}, state.Hold(prod, act("ann", 0)), state.Hold(shop, act("ann", 0)), state.Hold(blog, act("bob", 0)))
	s = apply(t, s, state.Resume(prod, act("ben", 2)))
	if s.At(prod).Hold != nil || s.At(shop).Hold == nil || s.At(blog).Hold == nil {
		t.Errorf("resume of prod: %v", whole(s))
	}
	s = apply(t, s, state.Resume(shop, act("ben", 3)))
	if s.At(shop).Hold != nil || s.At(blog).Hold == nil {
		t.Errorf("resume of shop: %v", whole(s))
	}
}

// A wide resume leaves alone what nothing stopped, and still covers it.
func TestResumeWithin_touchesOnlyWhatIsStopped(t *testing.T) {
	t.Parallel()
	s := apply(t, state.State{}, state.Hold(shop, act("ann", 0)), state.FirstSeen(blog, "v1:1", "", after(0)), state.ResumeWithin(everyone, act("ben", 2)))
	if s.At(shop).Hold != nil || s.At(shop).Resumed == nil || s.At(blog).Resumed != nil || !s.ResumedAt(blog).Equal(after(2)) {
		t.Errorf("resumed: %v", whole(s))
	}
}

func TestFreeze_passesByItself(t *testing.T) {
	t.Parallel()
	until := after(60)
	s := apply(t, state.State{}, state.Freeze("prod", act("ann", 0), &until))
	if got := held(s, shop, after(59)); got != "prod frozen by ann" {
		t.Errorf("before: %q", got)
	}
	if got := held(s, shop, until); got != "" {
		t.Errorf("at the end: %q", got)
	}
	s = apply(t, s, state.Resume(prod, act("ben", 5)))
	if got := held(s, shop, after(10)); got != "prod frozen by ann" {
		t.Errorf("resume thawed: %q", got)
	}
	s = apply(t, s, state.Thaw("prod"), state.Freeze(state.All, act("cho", 6), nil))
	if got := held(s, shop, after(1_000_000)); got != "the repository frozen by cho" {
		t.Errorf("without an end: %q", got)
	}
	same(t, apply(t, state.State{}, state.Resume(prod, act("ben", 5))), apply(t, s, state.Thaw(state.All)))
}

func TestReject_anyOfTheVersions(t *testing.T) {
	t.Parallel()
	s := apply(t, state.State{}, state.Reject(shop, reject(0, web2, worker2)))
	for text, want := range map[string]bool{
		web2:                                    true,
		worker2:                                 true,
		"quay.io/acme/worker:3@" + digestB:      true, // the same digest under another tag
		"quay.io/acme/web:2.0.0":                true, // the digest is unknown
		"quay.io/mirror/web:2.0.0":              false,
		"quay.io/acme/worker:3.0.0":             false,
		"quay.io/acme/web:2.0.0@" + digestOf(1): false, // the tag was moved to another digest
		"quay.io/acme/web@" + digestA:           true,
	} {
		if got := rejected(t, s, shop, text); got != want {
			t.Errorf("%s: rejected %v, want %v", text, got, want)
		}
	}
	if rejected(t, s, blog, web2) {
		t.Error("rejected in another place")
	}
	s = apply(t, s, state.Reject(everyone, reject(0, web2)))
	if !rejected(t, s, blog, web2) || !rejected(t, s, state.Target{Environment: "dev", Application: "x"}, web2) {
		t.Error("not rejected everywhere")
	}
}

func digestOf(n int) string { return fmt.Sprintf("sha256:%064x", n) }

// A resume ends holds, rollbacks, and failures, and nothing else.
func TestResume_keepsWhatUsersRejected(t *testing.T) {
	t.Parallel()
	back := state.RolledBack{Act: state.Act{By: identity.User{Login: "promoter", Bot: true}, At: after(1)}, Images: map[string]string{"worker": worker2}, Automatic: true}
	failure := state.Failure{Snapshot: "v1:a", At: after(1), Back: back.Images}
	s := apply(t, state.State{},
		state.Reject(shop, reject(0, web2)), state.Fail(shop, failure, &back, map[string]string{"worker": "quay.io/acme/worker:3@" + digestOf(3)}),
		state.Hold(shop, act("ann", 1)), state.ReopenedOnce(shop, 7, after(1)), state.Resume(shop, act("ben", 2)))
	r := s.At(shop)
	if !rejected(t, s, shop, web2) || held(s, shop, noon) != "" || r.Reopened != nil || r.Rollback != nil || len(r.Failures) > 0 {
		t.Errorf("got: %v", whole(s))
	}
	if rejected(t, s, shop, "quay.io/acme/worker:3@"+digestOf(3)) {
		t.Error("a version that failed stays rejected")
	}
	if got := s.ResumedAt(shop); !got.Equal(after(2)) {
		t.Errorf("resumed at %v", got)
	}
	if got := s.ResumedAt(blog); !got.IsZero() {
		t.Errorf("the neighbor was resumed at %v", got)
	}
	s = apply(t, s, state.Reject(shop, reject(1, worker2))) // a close from before, seen only now
	if !rejected(t, s, shop, worker2) {
		t.Error("a resume undid a close")
	}
	// The clock of the second user who resumes may be slow.
	s = apply(t, s, state.Resume(shop, act("cho", 1)))
	if got := s.At(shop).Resumed.By.Login; got != "ben" {
		t.Errorf("resumed by %s", got)
	}
}

// Unreject allows exactly the named versions of the target again.
func TestUnreject_exactlyTheVersions(t *testing.T) {
	t.Parallel()
	allow := func(target state.Target, minutes int, images ...string) state.Change {
		return state.Unreject(target, state.Unrejection{Act: act("ben", minutes), Images: reject(0, images...).Images})
	}
	before := apply(t, state.State{}, state.Reject(shop, reject(0, web2, worker2)), state.Reject(blog, reject(0, web2)), state.Hold(shop, act("ann", 1)))
	s := apply(t, before, allow(shop, 2, web2))
	if rejected(t, s, shop, web2) || !rejected(t, s, shop, worker2) || !rejected(t, s, blog, web2) || held(s, shop, noon) == "" {
		t.Errorf("got %v", whole(s))
	}
	same(t, s, apply(t, s, allow(shop, 2, web2)))
	same(t, s, apply(t, s, state.Reject(shop, reject(1, web2)))) // a close of before, seen only now
	if s := apply(t, s, state.Reject(shop, reject(3, web2))); !rejected(t, s, shop, web2) {
		t.Error("a later close has no effect")
	}
	if s := apply(t, before, allow(shop, -1, web2)); !rejected(t, s, shop, web2) {
		t.Error("an older act ended a later rejection")
	}
	if s := apply(t, before, allow(prod, 2, "quay.io/acme/web:2.0.0")); rejected(t, s, shop, web2) || rejected(t, s, blog, web2) || !rejected(t, s, shop, worker2) {
		t.Errorf("by its tag, in all of prod: %v", whole(s))
	}
	everywhere := apply(t, before, state.Reject(everyone, reject(0, web2)), allow(shop, 2, web2))
	if !rejected(t, everywhere, shop, web2) {
		t.Error("a rejection of the repository ended in one place")
	}
}

// The resume of an earlier release also ended rejections, closes, and reverts. It still does.
func TestUnrejectedAt_resumeOfAnEarlierRelease(t *testing.T) {
	t.Parallel()
	s := read(t, map[string]string{"prod/_all.json": `{"schema":1,"resumed":{"by":{"login":"ann"},"at":"2026-11-18T11:05:00Z"}}`})
	same(t, s, apply(t, s, state.Reject(shop, reject(4, web2))))
	if s = apply(t, s, state.Reject(shop, reject(6, web2)), state.Resume(prod, act("ann", 7))); !rejected(t, s, shop, web2) || !s.ResumedAt(shop).Equal(after(7)) {
		t.Errorf("got %v", whole(s))
	}
}

func TestRequest_isBoundToItsSnapshot(t *testing.T) {
	t.Parallel()
	first := state.Request{Act: act("ann", 0), With: []string{web2}}
	s := apply(t, state.State{}, state.AddRequest(shop, first), state.BindRequest(shop, first, "v1:abc"), state.AddRequest(shop, first))
	if got := s.At(shop).Request.Snapshot; got != "v1:abc" {
		t.Errorf("bound to %q", got)
	}
	second := state.Request{Act: act("ben", 1)}
	s = apply(t, s, state.AddRequest(shop, second), state.BindRequest(shop, first, "v1:abc"), state.RemoveRequest(shop, first))
	if got := s.At(shop).Request; got == nil || got.By.Login != "ben" || got.Snapshot != "" {
		t.Errorf("the second request became %v", got)
	}
	s = apply(t, s, state.RemoveRequest(shop, second))
	if got := whole(s); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
}

// Two commands of one user in one second ask for different things.
func TestRequest_ofTheSameSecondReplacesAnother(t *testing.T) {
	t.Parallel()
	first := state.Request{Act: act("ann", 1), With: []string{"r.example.com/web:1.4.1"}}
	second := first
	second.Bypass = []string{"soak"}
	s := apply(t, state.State{}, state.AddRequest(shop, first), state.AddRequest(shop, second))
	if got := s.At(shop).Request; got == nil || len(got.Bypass) != 1 {
		t.Errorf("the request is %+v", got)
	}
}

func TestRequest_verifiedUserReplacesUnverified(t *testing.T) {
	t.Parallel()
	unverified := state.Request{Act: state.Act{By: identity.Unverified("ann"), At: noon}}
	s := apply(t, state.State{}, state.AddRequest(shop, unverified), state.AddRequest(shop, state.Request{Act: act("ben", 1)}))
	if got := s.At(shop).Request.By.Login; got != "ben" {
		t.Errorf("requested by %s", got)
	}
	unverified.At = after(2)
	s = apply(t, s, state.AddRequest(shop, unverified))
	if got := s.At(shop).Request.By.Login; got != "ben" {
		t.Errorf("requested by %s", got)
	}
}

func TestRollback_holdsUntilResume(t *testing.T) {
	t.Parallel()
	back := state.RolledBack{Act: act("ann", 1), Images: map[string]string{"web": web2}}
	s := apply(t, state.State{}, state.AddRequest(shop, state.Request{Act: act("ben", 0)}), state.Rollback(shop, back))
	if r := s.At(shop); r.Request != nil || r.Rollback == nil || held(s, shop, noon) != "shop in prod held by ann" {
		t.Errorf("got %v", whole(s))
	}
	s = apply(t, s, state.Resume(shop, act("ann", 2)))
	if r := s.At(shop); r.Rollback != nil || held(s, shop, noon) != "" {
		t.Errorf("got %v", whole(s))
	}
}

func TestClosed_tellsOurOwnFromPeoples(t *testing.T) {
	t.Parallel()
	s := apply(t, state.State{}, state.Closed(shop, 7, "nothing differs", after(1)), state.Closed(shop, 7, "again", after(2)))
	want := []state.Closing{{Number: 7, Reason: "nothing differs", At: after(1)}}
	if diff := cmp.Diff(want, s.At(shop).Closings); diff != "" {
		t.Error(diff)
	}
	s = apply(t, s, state.ReopenedOnce(shop, 7, after(1)), state.ReopenedOnce(shop, 9, after(2)))
	if got := s.At(shop).Reopened.Number; got != 7 {
		t.Errorf("reopened %d", got)
	}
}

func TestFirstSeen_beginsAnewAfterAnother(t *testing.T) {
	t.Parallel()
	s := apply(t, state.State{},
		state.FirstSeen(shop, "v1:a", "", after(0)), state.FirstSeen(shop, "v1:a", "", after(1)), state.FirstSeen(shop, "v1:b", "", after(2)))
	if at, found := s.SeenSince(shop, "v1:a"); !found || !at.Equal(after(0)) {
		t.Errorf("a seen at %v, %v", at, found)
	}
	s = apply(t, s, state.FirstSeen(shop, "v1:a", "", after(3)))
	if at, _ := s.SeenSince(shop, "v1:a"); !at.Equal(after(3)) {
		t.Errorf("a came back at %v", at)
	}
	if _, found := s.SeenSince(shop, "v1:c"); found {
		t.Error("c was never there")
	}
}

func TestFirstOffered_keepsTheFirstTime(t *testing.T) {
	t.Parallel()
	v := state.Version{Component: "web", Tag: "2.0.0", Digest: digestA, At: after(0)}
	later := v
	later.At = after(9)
	s := apply(t, state.State{}, state.FirstAvailable(prod, v), state.FirstAvailable(prod, later))
	if at, found := s.AvailableSince(prod, later); !found || !at.Equal(after(0)) {
		t.Errorf("offered at %v, %v", at, found)
	}
	later.Digest = digestB
	if _, found := s.AvailableSince(prod, later); found {
		t.Error("other bits were never offered")
	}
}

func TestLists_areBounded(t *testing.T) {
	t.Parallel()
	s := state.State{}.With(shop, func(r *state.Record) {
		for i := range 300 {
			r.Seen = append(r.Seen, state.Seen{Snapshot: digestOf(i), At: after(i)})
			r.Closings = append(r.Closings, state.Closing{Number: i, At: after(i)})
			r.Rejections = append(r.Rejections, state.Rejection{Act: act("ann", i), Number: i})
			r.Versions = append(r.Versions, state.Version{Component: "web", Digest: digestOf(i), At: after(i)})
		}
	})
	s = apply(t, s, state.FirstAvailable(shop, state.Version{Component: "rare", Digest: digestA, At: noon}))
	r := s.At(shop)
	if len(r.Seen) != 20 || len(r.Closings) != 50 || len(r.Rejections) != 200 || len(r.Versions) != 51 {
		t.Errorf("kept %d, %d, %d, %d", len(r.Seen), len(r.Closings), len(r.Rejections), len(r.Versions))
	}
	if r.Seen[19].Snapshot != digestOf(299) || r.Closings[0].Number != 250 || r.Versions[0].Digest != digestOf(250) {
		t.Error("the newest entries were not kept")
	}
}

func TestLists_neverMakeAFileThatCannotBeRead(t *testing.T) {
	t.Parallel()
	images := map[string]string{}
	for i := range 400 {
		images[fmt.Sprintf("component-%d", i)] = fmt.Sprintf("registry.example.com/%s/%d@%s", strings.Repeat("x", 60), i, digestOf(i))
	}
	s := state.State{}
	for i := range 40 {
		r := state.Rejection{Act: act("ann", i), Images: images, Number: i}
		s = apply(t, s, state.Reject(shop, r))
	}
	again := read(t, whole(s))
	if problems := again.Problems(); len(problems) > 0 {
		t.Fatal(problems)
	}
	r := again.At(shop).Rejections
	if len(r) == 0 || r[len(r)-1].Number != 39 {
		t.Errorf("%d rejections are left", len(r))
	}
}

func TestWords_areCutAndValid(t *testing.T) {
	t.Parallel()
	a := act("ann\xff", 0)
	a.Reason = strings.Repeat("é", 5000)
	s := apply(t, state.State{}, state.Hold(shop, a))
	got := s.At(shop).Hold
	if n := len([]rune(got.Reason)); n != 1000 {
		t.Errorf("%d runes are left", n)
	}
	if got.By.Login != "ann\uFFFD" {
		t.Errorf("login %q", got.By.Login)
	}
	same(t, s, read(t, whole(s)))
}

func TestChanges_leaveTheStateAsItIs(t *testing.T) {
	t.Parallel()
	rejection := reject(0, web2)
	before := apply(t, state.State{}, state.Hold(shop, act("ann", 0)), state.Reject(shop, rejection),
		state.AddRequest(prod, state.Request{Act: act("ann", 0)}))
	was := whole(before)
	apply(t, before, state.Resume(shop, act("ben", 5)), state.BindRequest(prod, state.Request{Act: act("ann", 0)}, "v1:a"),
		state.FirstSeen(shop, "v1:x", "", noon))
	rejection.Images["web"] = worker2
	if diff := cmp.Diff(was, whole(before)); diff != "" {
		t.Errorf("changed (-before +after):\n%s", diff)
	}
}

func TestSubject(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ verb, why, want string }{
		{"Hold", "it burns", "Hold shop in prod: it burns"},
		{"Resume", "", "Resume shop in prod"},
		{"Reject versions of", "first\n\nPromoter-Image: x", "Reject versions of shop in prod: first Promoter-Image: x"},
	} {
		if got := state.Subject(test.verb, shop.String(), test.why); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
	if n := len([]rune(state.Subject("Hold", everyone.String(), strings.Repeat("é", 500)))); n != 120 {
		t.Errorf("%d runes", n)
	}
}

func TestPlace_noFileOutsideOfItsFolder(t *testing.T) {
	t.Parallel()
	for _, target := range []state.Target{
		{Environment: "..", Application: "x"},
		{Environment: "a/b", Application: "x"},
		{Environment: "", Application: "x"},
		{Environment: "prod", Application: "../x"},
		{Environment: state.All, Application: "shop"},
		{Environment: "prod", Application: "Shop"},
	} {
		s, err := state.State{}.Apply(state.Hold(target, act("ann", 0)))
		if err == nil || len(whole(s)) > 0 {
			t.Errorf("%v: %v %v", target, err, whole(s))
		}
	}
}

func TestRejected_anImageThatNobodyCanRead(t *testing.T) {
	t.Parallel()
	r := state.Rejection{Act: act("ann", 0), Images: map[string]string{"web": ":::", "": ""}}
	s := apply(t, state.State{}, state.Reject(shop, r))
	if _, found := s.Rejected(shop, image.Repository{}, image.Version{}); found {
		t.Error("nothing was rejected")
	}
}

// Resuming all of an environment resumes all holds in it.
func TestResumeWithin_endsAllHolds(t *testing.T) {
	t.Parallel()
	shop, other := state.Target{Environment: "prod", Application: "shop"}, state.Target{Environment: "dev", Application: "shop"}
	s := apply(t, state.State{},
		state.Rollback(shop, state.RolledBack{Act: act("ann", 1), Images: map[string]string{"web": "quay.io/acme/web:1"}}),
		state.Hold(other, act("ann", 1)), state.ResumeWithin(state.Target{Environment: "prod", Application: state.All}, act("ben", 2)))
	if _, held := s.Held(shop, after(3)); held || s.At(shop).Rollback != nil {
		t.Errorf("the application stands still: %+v", s.At(shop))
	}
	if _, held := s.Held(other, after(3)); !held {
		t.Error("another environment was resumed too")
	}
	s = apply(t, s, state.ResumeWithin(state.Target{Environment: state.All, Application: state.All}, act("ben", 4)))
	if _, held := s.Held(other, after(5)); held {
		t.Error("the repository was resumed, but not all in it")
	}
}

// A request that exceeds the limits is refused when it is made, not truncated,
// because a truncated one would be a different request.
func TestApply_tooManyWishes(t *testing.T) {
	t.Parallel()
	before := state.State{}
	after, err := before.Apply(state.AddRequest(shop, state.Request{With: make([]string, state.MaxVersions+1)}))
	if fault.KindOf(err) != fault.Invalid || len(after.Targets()) > 0 {
		t.Errorf("got %v, %v", after.Targets(), err)
	}
	if _, err := before.Apply(state.AddRequest(shop, state.Request{With: make([]string, state.MaxVersions)})); err != nil {
		t.Error(err)
	}
}

// A posted snapshot is requested once, and replaces no versions that a user requested.
func TestPost(t *testing.T) {
	t.Parallel()
	posted := func(name string, minute int) state.Change {
		request := state.Request{Act: act("receiver pipeline", minute), With: []string{"quay.io/acme/web:2"}, Posted: name}
		return state.Post(shop, request, []state.Version{{Component: "web", Tag: "2", Digest: "sha256:2"}})
	}
	s := apply(t, state.State{}, posted("one", 1))
	bound := apply(t, s, state.BindRequest(shop, *s.At(shop).Request, "v1:x"))
	same(t, bound, apply(t, bound, posted("one", 2)))
	if other := apply(t, bound, posted("two", 2)).At(shop); other.Request.Posted != "two" || len(other.Posted) != 1 {
		t.Errorf("another snapshot: %+v", other)
	}
	if !s.WasPosted(shop, "web", "sha256:2") || s.WasPosted(shop, "web", "") || s.WasPosted(blog, "web", "sha256:2") {
		t.Error("the versions are not remembered")
	}
	byUser := apply(t, state.State{}, state.AddRequest(shop, state.Request{Act: act("ann", 0), With: []string{"quay.io/acme/web:1"}}))
	same(t, byUser, apply(t, byUser, posted("one", 1)))
}

// A snapshot that came back in another commit was seen again.
func TestFirstSeen_beginsAgainWithAnotherCommit(t *testing.T) {
	t.Parallel()
	s := apply(t, state.State{},
		state.FirstSeen(shop, "v1:a", "c1", after(0)), state.FirstSeen(shop, "v1:a", "c1", after(1)), state.FirstSeen(shop, "v1:a", "c2", after(2)))
	seen := s.At(shop).Seen
	if len(seen) != 2 || seen[0].Commit != "c1" || !seen[0].At.Equal(after(0)) || seen[1].Commit != "c2" || !seen[1].At.Equal(after(2)) {
		t.Errorf("%+v", seen)
	}
}
