package input_test

import (
	"cmp"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"promoter/internal/health"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

// monitored is chain, with reports about the health of dev.
var monitored = strings.Replace(chain, `"dev/{application}"]`, `"dev/{application}"], health: {api: true, from: pipeline, timeout: 15m}`, 1)

// landing returns what landed some hours ago, until some hours ago (0: until now), under a name.
func landing(name string, at, until int, texts ...string) promotion.Landing {
	l := promotion.Landing{Snapshot: snapshotOf(texts...), Checks: []promotion.Check{{Name: name}}}
	if at > 0 {
		l.At = promotiontest.Ago(time.Duration(at) * time.Hour)
	}
	if until > 0 {
		l.Until = promotiontest.Ago(time.Duration(until) * time.Hour)
	}
	return l
}

// periodText describes a period: its versions, how many hours before noon it began and ended, what
// marks it, and the newest of its landings.
func periodText(in input.Target, t input.Period) string {
	var words []string
	for i, v := range t.Versions {
		if t.Unclear != nil && t.Unclear[i].Message != "" {
			words = append(words, "("+t.Unclear[i].Message+")")
			continue
		}
		words = append(words, versionText(v))
	}
	ago := func(word string, at time.Time) {
		if !at.IsZero() {
			words = append(words, word+" "+strings.TrimSuffix(promotiontest.Noon.Sub(at).String(), "0m0s"))
		}
	}
	ago("since", t.Since)
	ago("until", t.Until)
	if t.Again {
		words = append(words, "again")
	}
	if t.Past {
		words = append(words, "past")
	}
	if t.ByUser {
		words = append(words, "by a user")
	}
	if t.End != input.EndNone {
		words[len(words)-1] += ", ended: " + string(t.End)
	}
	if t.Monitored != nil {
		words = append(words, "monitored")
	}
	if t.Reverted {
		words = append(words, "reverted")
	}
	for _, check := range input.Checks(in, &t) {
		words = append(words, "by "+check.Name)
	}
	return strings.Join(words, " ")
}

// ofForge is a row that reads what is reported about periods.
var ofForge = input.Row{Name: "reports", Reads: input.Everything}

func TestPeriods(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		config   string // empty: chain
		has      string // staging
		source   string // dev
		landings []promotion.Landing
		change   func(w *scenario)
		want     []string
	}{
		{name: "no history", has: "web:1.4.0", source: "web:1.5.0@A", want: []string{"1.5.0@A"}},
		{
			name: "one landing", has: "web:1.4.0", source: "web:1.5.0@A", want: []string{"1.5.0@A since 1h by one"},
			landings: []promotion.Landing{landing("one", 1, 0, "web:1.5.0@A")},
		},
		{
			name: "landings of other components", has: "web:1.4.0", source: "web:1.5.0@A", want: []string{"1.5.0@A since 2h by two by one by unknown"},
			landings: []promotion.Landing{
				landing("two", 1, 0, "web:1.5.0@A worker:1.5.0@A"),
				landing("one", 2, 1, "web:1.5.0@A worker:1.4.0@A"),
				landing("unknown", 0, 2, "web:1.5.0@A worker:1.3.0@A"),
			},
		},
		{
			name: "what was there before", has: "web:1.3.0", source: "web:1.5.0@A",
			want: []string{"1.5.0@A since 1h by three", "1.4.0@B described since 3h until 1h past, ended: revert reverted by two by one"},
			landings: []promotion.Landing{
				landing("three", 1, 0, "web:1.5.0@A"), reverted(landing("two", 2, 1, "web:1.4.0@B")), landing("one", 3, 2, "web:1.4.0@B"),
			},
			change: func(w *scenario) {
				fact := promotion.Fact{Repository: promotiontest.Repository("web"), Tag: "1.4.0", Digest: promotiontest.DigestB}
				w.Facts[fact] = image.Version{Version: "described"}
			},
		},
		{
			name: "it came back after another one", has: "web:1.3.0", source: "web:1.5.0@A",
			want: []string{
				"1.5.0@A since 1h again by three", "1.4.0@B since 2h until 1h past by a user, ended: newer by two",
				"1.5.0@A since 3h until 2h past, ended: revert by one",
			},
			landings: []promotion.Landing{earlier(landing("three", 1, 0, "web:1.5.0@A")), byUser(landing("two", 2, 1, "web:1.4.0@B")), landing("one", 3, 2, "web:1.5.0@A")},
		},
		{
			name: "another form of the same digest", has: "web:1.3.0", source: "web:@A", want: []string{"1.5.0@A since 3h by two by one"},
			landings: []promotion.Landing{landing("two", 0, 0, "web:1.5.0@A"), landing("one", 3, 0, "web:1.5.0@A")},
		},
		{
			name: "what was before is not clear", has: "web:1.3.0", source: "web:1.5.0@A",
			want:     []string{"1.5.0@A since 1h by two", "1.5.0@A since 3h until 1h past, ended: newer by one"},
			landings: []promotion.Landing{unclear(landing("two", 1, 0, "web:1.5.0@A")), landing("one", 3, 1, "web:1.5.0@A")},
		},
		{
			name: "a rollback", has: "web:1.3.0", source: "web:1.4.0@B",
			want:     []string{"1.4.0@B since 1h by two", "1.5.0@A since 3h until 1h past, ended: rollback by one"},
			landings: []promotion.Landing{landing("two", 1, 0, "web:1.4.0@B"), landing("one", 3, 1, "web:1.5.0@A")},
		},
		{
			name: "two components", has: "web:1.3.0 worker:1.3.0", source: "web:1.5.0@A worker:1.5.0@A",
			want: []string{"1.5.0@A 1.5.0@A since 1h by two", "1.5.0@A 1.4.0@B since 2h until 1h past, ended: newer by one"},
			landings: []promotion.Landing{
				landing("two", 1, 0, "web:1.5.0@A worker:1.5.0@A"), landing("one", 2, 1, "web:1.5.0@A worker:1.4.0@B"),
			},
		},
		{
			name: "a component that the source does not have", has: "web:1.3.0 worker:1.3.0", source: "worker:1.5.0@A",
			want: []string{"@ 1.5.0@A since 1h by two", "@ 1.4.0@B since 2h until 1h past, ended: newer by one"},
			landings: []promotion.Landing{
				landing("two", 1, 0, "worker:1.5.0@A"), landing("one", 2, 1, "web:1.4.0@B worker:1.4.0@B"),
			},
		},
		{
			name: "no snapshot without a component", has: "web:1.3.0 worker:1.3.0", source: "web:1.5.0@A worker:1.5.0@A",
			want: []string{"1.5.0@A 1.5.0@A since 1h by three"},
			landings: []promotion.Landing{
				landing("three", 1, 0, "web:1.5.0@A worker:1.5.0@A"),
				landing("two", 2, 1, "web:1.4.0@B"), landing("one", 3, 2, "web:1.4.0@B worker:1.4.0@B"),
			},
		},
		{
			name: "no snapshot from another repository", has: "web:1.3.0", source: "web:1.5.0@A", want: []string{"1.5.0@A"},
			landings: []promotion.Landing{
				fromElsewhere(landing("two", 1, 0, "web:1.5.0@A")), landing("one", 2, 1, "web:1.4.0@B"),
			},
		},
		{
			name: "the source is monitored", config: monitored, has: "web:1.3.0", source: "web:1.5.0@A",
			want:     []string{"1.5.0@A monitored", "1.4.0@B since 2h until 1h past, ended: newer monitored by one"},
			landings: []promotion.Landing{landing("one", 2, 1, "web:1.4.0@B")},
		},
		{
			name: "files that disagree", has: "web:1.3.0 worker:1.3.0",
			source: "web:1.5.0@A web:1.4.0@B web:1.5.0@A worker:1.5.0 worker:1.4.0",
			want: []string{
				`(dev has several versions of web: ["1.4.0" "1.5.0"]) (dev has several versions of worker: ["1.4.0" "1.5.0"])`,
			},
			landings: []promotion.Landing{landing("one", 2, 1, "web:1.4.0@B worker:1.4.0@B")},
		},
		{
			name: "a moving tag without a digest", has: "moving:released@B web:1.3.0", source: "moving:released web:1.5.0",
			want: []string{"(digest unknown: dev references moving by the moving tag released without a digest) 1.5.0@"},
		},
		{name: "a moving tag with a digest", has: "moving:released@B", source: "moving:released@A", want: []string{"released@A"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newScenario(t, cmp.Or(test.config, chain))
			w.has("staging/shop", strings.Fields(test.has)...)
			w.has("dev/shop", strings.Fields(test.source)...)
			w.landed("dev/shop", test.landings...)
			if test.change != nil {
				test.change(w)
			}
			in := w.input("staging/shop").For(ofForge)
			if latest := input.Latest(in); len(latest) != 1 || len(latest[0]) != 1 || periodText(in, latest[0][0]) != test.want[0] {
				t.Errorf("the latest are %v", latest)
			}
			for range 2 { // they are kept
				var got []string
				for _, period := range input.Periods(in)[0] {
					got = append(got, periodText(in, period))
				}
				if diff := gocmp.Diff(test.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}

func reverted(l promotion.Landing) promotion.Landing {
	l.Reverted = true
	return l
}

func earlier(l promotion.Landing) promotion.Landing { l.Earlier = true; return l }

func byUser(l promotion.Landing) promotion.Landing { l.ByUser = true; return l }

func unclear(l promotion.Landing) promotion.Landing { l.Unclear = true; return l }

func fromElsewhere(l promotion.Landing) promotion.Landing {
	l.Snapshot["web"] = promotion.Pinned{Repository: promotiontest.Repository("other"), Version: l.Snapshot["web"].Version}
	return l
}

// What the newest landing of a snapshot reports takes precedence; a soak counts from the oldest time
// since which the snapshot is healthy.
func TestReported_ofSeveralLandings(t *testing.T) {
	t.Parallel()
	healthy := func(ago int) health.State {
		at := promotiontest.Ago(time.Duration(ago) * time.Hour)
		return health.State{Status: health.Healthy, Since: at, HealthySince: at}
	}
	degraded := health.State{Status: health.Degraded, Since: promotiontest.Ago(time.Hour)}
	since := healthy(1)
	since.HealthySince = promotiontest.Ago(5 * time.Hour)
	tests := []struct {
		name  string
		newer health.State
		older health.State
		want  health.State
	}{
		{"nothing", health.State{}, health.State{}, health.State{}},
		{"of the newer one", degraded, health.State{}, degraded},
		{"of the older one", health.State{}, degraded, degraded},
		{"healthy since the older one", healthy(1), healthy(5), since},
		{"healthy since the newer one", healthy(1), degraded, healthy(1)},
		{"no longer healthy", degraded, healthy(5), degraded},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newScenario(t, monitored)
			w.has("staging/shop", "web:1.3.0")
			w.has("dev/shop", "web:1.5.0@A")
			newer, older := landing("newer", 1, 0, "web:1.5.0@A"), landing("older", 2, 1, "web:1.5.0@A")
			newer.Health = test.newer
			older.Health, older.HealthNote = test.older, "older"
			before := landing("before", 3, 2, "web:1.4.0@B")
			before.Health, before.HealthNote = degraded, "before"
			w.landed("dev/shop", newer, older, before)
			in := w.input("staging/shop").For(ofForge)
			periods := input.PeriodsOf(in, 0)
			got, note := input.Reported(in, &periods[0])
			if diff := gocmp.Diff(test.want, got); diff != "" || note != "older" {
				t.Errorf("note %q (-want +got):\n%s", note, diff)
			}
			if got, note := input.Reported(in, &periods[1]); got.Status != health.Degraded || note != "before" {
				t.Errorf("before: %s, %s", got.Status, note)
			}
			own, known := input.Own(w.input("dev/shop"))
			got, note = input.Reported(in, &own)
			if diff := gocmp.Diff(test.newer, got); diff != "" || note != "" || !known {
				t.Errorf("own: %t, note %q (-want +got):\n%s", known, note, diff)
			}
		})
	}
}

func TestReported_firstNote(t *testing.T) {
	t.Parallel()
	w := newScenario(t, monitored)
	w.has("staging/shop", "web:1.3.0")
	w.has("dev/shop", "web:1.5.0@A")
	newer, older := landing("newer", 1, 0, "web:1.5.0@A"), landing("older", 2, 1, "web:1.5.0@A")
	newer.HealthNote, older.HealthNote = "newer", "older"
	w.landed("dev/shop", newer, older)
	in := w.input("staging/shop").For(ofForge)
	if _, note := input.Reported(in, &input.Latest(in)[0][0]); note != "newer" {
		t.Errorf("%q", note)
	}
}

// What is proven to be in a target is read only if the target is monitored and has a history.
func TestOwn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, config string
		landings     []promotion.Landing
		want         string // what is monitored, and what is known
	}{
		{"monitored", monitored, []promotion.Landing{landing("one", 1, 0, "web:1.5.0@A")}, "monitored known"},
		{"without a history", monitored, nil, "monitored"},
		{"not monitored", chain, []promotion.Landing{landing("one", 1, 0, "web:1.5.0@A")}, ""},
		{"neither", chain, nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newScenario(t, test.config)
			w.has("dev/shop", "web:1.5.0@A")
			w.landed("dev/shop", test.landings...)
			own, known := input.Own(w.input("dev/shop"))
			var got []string
			if own.Monitored != nil {
				got = append(got, "monitored")
			}
			if known {
				got = append(got, "known")
			}
			if text := strings.Join(got, " "); text != test.want {
				t.Errorf("%q, want %q", text, test.want)
			}
		})
	}
}

// What is there fails by what is reported about it, what was there only by what is recorded.
func TestFailure(t *testing.T) {
	t.Parallel()
	w := newScenario(t, monitored)
	w.has("staging/shop", "web:1.2.0")
	w.has("dev/shop", "web:1.5.0@A")
	var landings []promotion.Landing
	for i, text := range []string{"web:1.5.0@A", "web:1.4.0@B", "web:1.3.0@A"} {
		one := landing(text, i+1, i, text)
		one.Health = health.State{Status: health.Degraded, UnhealthySince: promotiontest.Ago(time.Hour), Since: promotiontest.Ago(time.Hour)}
		landings = append(landings, one)
	}
	w.landed("dev/shop", landings...)
	w.decides(state.Fail(state.Target(target("dev/shop")), state.Failure{Snapshot: landings[1].Snapshot.ID(), Reason: "recorded"}, nil, nil))
	in := w.input("staging/shop").For(ofForge)
	periods := input.PeriodsOf(in, 0)
	unmonitored := periods[0]
	unmonitored.Monitored = nil
	periods = append(periods, unmonitored, input.Period{Monitored: periods[0].Monitored})
	var got []string
	for i := range periods {
		text := ""
		if why := input.Failure(in, &periods[i]); why != nil {
			text = why.Message
		}
		got = append(got, text)
	}
	if diff := gocmp.Diff([]string{"failed: Degraded for 15m", "failed: recorded", "", "", ""}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A snapshot that its source no longer has is promoted from there, unless the source went back from it.
func TestWithdrawn(t *testing.T) {
	t.Parallel()
	const movedBack = "a later change there moved back"
	tests := []struct {
		name     string
		landings []promotion.Landing // of dev, whose files have the first one
		want     []string            // by period; empty: it is not withdrawn
	}{
		{"newer ones replaced it", []promotion.Landing{
			landing("", 1, 0, "web:1.5.0@A"), landing("", 2, 1, "web:1.4.0@B"),
		}, []string{"", ""}},
		{"it was reverted", []promotion.Landing{
			landing("", 1, 0, "web:1.5.0@A"), reverted(landing("", 2, 1, "web:1.4.0@B")),
		}, []string{"", "it was reverted there"}},
		{"what is there may be reverted: nothing replaced it", []promotion.Landing{reverted(landing("", 1, 0, "web:1.5.0@A"))}, []string{""}},
		{"an older one replaced it", []promotion.Landing{
			landing("", 1, 0, "web:1.4.0@B"), landing("", 2, 1, "web:1.5.0@A"),
		}, []string{"", movedBack}},
		{"one that was there before replaced it", []promotion.Landing{
			landing("", 1, 0, "moving:released@A"), landing("", 2, 1, "moving:released@B"), landing("", 3, 2, "moving:released@A"),
		}, []string{"", movedBack, ""}},
		{"a component stayed, another one moved", []promotion.Landing{
			landing("", 1, 0, "moving:released@A web:1.5.0@A"),
			landing("", 2, 1, "moving:released@A web:1.4.0@B"),
			landing("", 3, 2, "moving:released@A web:1.3.0@C"),
		}, []string{"", "", ""}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newScenario(t, chain)
			w.has("staging/shop", "moving:released", "web:1.0.0", "worker:1.0.0")
			for component, pinned := range test.landings[0].Snapshot {
				w.has("dev/shop", component+":"+pinned.Version.Tag+"@"+pinned.Version.Digest)
			}
			w.landed("dev/shop", test.landings...)
			in := w.input("staging/shop")
			periods := input.PeriodsOf(in, 0)
			var got []string
			for i := range periods {
				why, gone := input.Withdrawn(in, periods, i)
				if gone != (why != "") {
					t.Errorf("period %d: %t, %q", i, gone, why)
				}
				got = append(got, why)
			}
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The period of moves has their versions, and beside them those that the target has. A user who
// names the versions of the moves takes them whatever was beside them.
func TestPeriodOf(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		source string // an environment
		moves  string
		named  string // by a request
		want   string // the newest landing of the period; empty: none
	}{
		{name: "the latest", source: "dev", moves: "web:1.5.0@A worker:1.5.0@A", want: "three"},
		{name: "a past one", source: "dev", moves: "web:1.4.0@B", want: "two"},
		{name: "no move", source: "dev", want: "one"},
		{name: "a component that the source does not have", source: "dev", moves: "moving:released@B web:1.4.0@B", want: "two"},
		{name: "never", source: "dev", moves: "web:1.6.0@D", want: ""},
		{name: "with another one that the target does not have", source: "dev", moves: "web:1.5.0@A", want: ""},
		{name: "of another target", source: "prod", moves: "web:1.5.0@A worker:1.5.0@A", want: ""},
		{name: "named by a user", source: "dev", moves: "web:1.5.0@A", named: "web:1.5.0@A", want: "three"},
		{name: "another version was named", source: "dev", moves: "web:1.5.0@A", named: "web:1.6.0@D", want: ""},
		{name: "another component was named", source: "dev", moves: "web:1.5.0@A", named: "worker:1.5.0@A", want: ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newScenario(t, chain)
			w.has("staging/shop", "moving:released@A", "web:1.3.0@C", "worker:1.3.0@C")
			w.has("dev/shop", "web:1.5.0@A", "worker:1.5.0@A")
			w.landed("dev/shop",
				landing("three", 1, 0, "web:1.5.0@A worker:1.5.0@A"),
				landing("two", 2, 1, "web:1.4.0@B worker:1.3.0@C"),
				landing("one", 3, 2, "web:1.3.0@C worker:1.3.0@C"))
			named := map[string]promotion.Available{}
			for component, pinned := range snapshotOf(test.named) {
				named[component] = promotion.Available{Version: pinned.Version, Found: true, Explicit: true}
			}
			w.Explicit = map[promotion.Target]map[string]promotion.Available{target("staging/shop"): named}
			in := w.input("staging/shop").For(ofForge)
			var moves []promotion.Move
			for component, pinned := range snapshotOf(test.moves) {
				moves = append(moves, promotion.Move{Component: component, To: pinned.Version})
			}
			got := ""
			if period := input.PeriodOf(in, target(test.source+"/shop"), moves); period != nil {
				got = input.Checks(in, period)[0].Name
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
