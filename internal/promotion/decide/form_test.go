package decide_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

var (
	tagOnly    = edit.Form{Tag: true}
	digestOnly = edit.Form{Digest: true}
	both       = edit.Form{Tag: true, Digest: true}
)

func TestPlan_formFromRegistry(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		has       string
		pin       edit.Form
		available string
		state     promotion.State
		reason    string
	}{
		{"the digest is added", "web:1.5.0", both, "web:1.5.0@A", promotion.Proposed, "pin web 1.5.0 to its digest"},
		{"the digest replaces the tag", "web:1.5.0", digestOnly, "web:1.5.0@A", promotion.Proposed, "pin web 1.5.0 to its digest"},
		{"the digest is removed", "web:1.5.0@A", tagOnly, "web:1.5.0@A", promotion.Proposed, "write web 1.5.0 without its digest"},
		{"the tag is added", "web:@A", both, "web:1.5.0@A", promotion.Proposed, "write web 1.5.0 with its tag"},
		{"the tag is removed", "web:1.5.0@A", digestOnly, "web:1.5.0@A", promotion.Proposed, "write web 1.5.0 without its tag"},
		{"the form is right", "web:1.5.0@A", both, "web:1.5.0@A", promotion.Same, "already up to date"},
		{"a newer version takes the form along", "web:1.4.0", both, "web:1.5.0@B", promotion.Proposed, "newer: web 1.4.0 -> 1.5.0"},
		{"what is newer than select is pinned too", "web:1.6.0", both, "web:1.5.0@A", promotion.Proposed, "pin web 1.6.0 to its digest"},
		{"a tag that moved is a new version", "web:1.5.0@B", tagOnly, "web:1.5.0@A", promotion.Proposed, "newer: web sha256:bbbbbbbbbbbb -> sha256:aaaaaaaaaaaa"},
		{"a tag that moved is not written for the old digest", "web:1.6.0@B", tagOnly, "web:1.5.0@A", promotion.Same, "already at web 1.6.0, which is newer than 1.5.0"},
		{"a tag that select does not admit", "web:latest@A", edit.Form{}, "web:1.5.0@A", promotion.Proposed, "web latest -> 1.5.0 (same digest)"},
		{"a prerelease of the release", "web:1.5.0-rc.1@A", edit.Form{}, "web:1.5.0@A", promotion.Proposed, "web 1.5.0-rc.1 -> 1.5.0 (same digest)"},
		{"an admitted tag stays", "web:1.4.0@A", edit.Form{}, "web:1.5.0@A", promotion.Same, "already up to date"},
		{"an admitted tag stays and is pinned", "web:v1.5.0", both, "web:1.5.0@A", promotion.Proposed, "pin web v1.5.0 to its digest"},
		{"a digest alone needs no tag", "web:@A", edit.Form{}, "web:1.5.0@A", promotion.Same, "already up to date"},
		{"another tag and the form are one change", "web:latest", both, "web:1.5.0@A", promotion.Proposed, "web latest -> 1.5.0 (same digest)"},
	}
	digests := strings.NewReplacer("@A", "@"+promotiontest.DigestA, "@B", "@"+promotiontest.DigestB)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := decidetest.New(t, decidetest.Chain)
			w.Has("dev/shop", digests.Replace(test.has))
			w.Pins("dev/shop", test.pin)
			w.Publish(digests.Replace(test.available))
			for _, tag := range []string{"latest", "1.5.0", "v1.5.0", "1.6.0"} {
				w.AddFact("web", tag, image.Version{Digest: promotiontest.DigestA})
			}
			d := w.Expect("dev/shop", test.state, test.reason)
			if isForm := d.Reason.Rule == promotion.RuleForm; isForm != (d.State == promotion.Proposed && !strings.HasPrefix(test.reason, "newer")) {
				t.Errorf("rule %s", d.Reason.Rule)
			}
			w.Targets[w.Target("dev/shop")] = promotion.Current{}
			if d.State != promotion.Proposed {
				return
			}
			// What is written is wanted: nothing moves back and forth.
			to := d.Moves[0].To
			written := promotion.Pinned{Version: to}
			form := test.pin
			if form == (edit.Form{}) {
				form = both
			}
			if !form.Tag {
				written.Version.Tag = ""
			}
			if !form.Digest {
				written.Version.Digest = ""
			}
			w.Has("dev/shop", "web:"+strings.TrimSuffix(written.Version.Tag+"@"+written.Version.Digest, "@"))
			if again := w.Decide("dev/shop"); again.State != promotion.Same {
				t.Errorf("then: %s: %s", again.State, again.Reason)
			}
		})
	}
}

func TestPlan_formWhereNewerVersionIsRejected(t *testing.T) {
	t.Parallel()
	w := decidetest.New(t, decidetest.Chain)
	w.Has("dev/shop", "web:1.4.0")
	w.Pins("dev/shop", both)
	w.RegistryAnswers("web:1.4.0@" + promotiontest.DigestA)
	w.Publish("web:1.5.0@" + promotiontest.DigestB)
	w.Decides(state.Reject(w.StateTarget("dev/shop"), state.Rejection{Act: promotiontest.ByAda(""), Images: map[string]string{"web": "quay.io/acme/web:1.5.0"}}))
	w.Expect("dev/shop", promotion.Proposed, "pin web 1.4.0 to its digest")
	w.Decides(state.Reject(w.StateTarget("dev/shop"), state.Rejection{Act: promotiontest.ByAda(""), Images: map[string]string{"web": "quay.io/acme/web:1.4.0"}}))
	if d := w.Decide("dev/shop"); d.State != promotion.Rejected {
		t.Errorf("of rejected versions: %s: %s", d.State, d.Reason)
	}
}

func TestPlan_formThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := decidetest.New(t, decidetest.Chain)
	w.Has("dev/shop", "web:1.5.0", "web:1.5.0")
	w.Pins("dev/shop", both)
	w.Targets[w.Target("dev/shop")].References[1].Fixed = true
	w.Publish("web:1.5.0@" + promotiontest.DigestA)
	w.Expect("dev/shop", promotion.Same, "already up to date")
}

// A child takes the digest of its parent, in the form of its own component's pin. It did soak.
func TestPlan_formOfChild(t *testing.T) {
	t.Parallel()
	w := decidetest.New(t, decidetest.Soaking)
	w.Stands("dev/shop", promotiontest.Ago(10*time.Minute), "web:1.5.0@"+promotiontest.DigestA)
	w.Landed("dev/shop", promotiontest.Ago(2*time.Hour), promotiontest.Ago(10*time.Minute), "web:1.5.0-rc.1@"+promotiontest.DigestA)
	w.Has("staging/shop", "web:1.5.0")
	w.Expect("staging/shop", promotion.Same, "already up to date")
	w.Pins("staging/shop", both)
	d := w.Expect("staging/shop", promotion.Proposed, "pin web 1.5.0 to its digest")
	if d.Moves[0].To.Digest != promotiontest.DigestA {
		t.Errorf("moves: %+v", d.Moves)
	}
	w.Facts[promotion.Fact{Repository: promotiontest.Repository("web"), Tag: "1.5.0"}] = image.Version{Digest: promotiontest.DigestB}
	w.Expect("staging/shop", promotion.Waiting, "web 1.5.0: tag moved: it now points to sha256:bbbbbbbbbbbb instead of sha256:aaaaaaaaaaaa")
}

func TestPlan_labelOfParent(t *testing.T) {
	t.Parallel()
	w := decidetest.New(t, decidetest.Chain)
	w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.DigestA)
	w.Has("staging/shop", "web:latest@"+promotiontest.DigestA)
	w.Expect("staging/shop", promotion.Proposed, "web latest -> 1.5.0 (same digest)")
	w = decidetest.New(t, decidetest.Chain)
	w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:latest@"+promotiontest.DigestA)
	w.Has("staging/shop", "web:1.5.0@"+promotiontest.DigestA)
	w.Expect("staging/shop", promotion.Same, "already up to date")
}

// A newer version that waits does not keep the form of the current one waiting, and nothing
// older than that is considered.
func TestPlan_formWhileNewerVersionSoaks(t *testing.T) {
	t.Parallel()
	w := decidetest.New(t, decidetest.Soaking)
	w.Stands("dev/shop", promotiontest.Ago(10*time.Minute), "web:1.6.0@"+promotiontest.DigestB)
	w.Landed("dev/shop", promotiontest.Ago(3*time.Hour), promotiontest.Ago(10*time.Minute), "web:1.5.0@"+promotiontest.DigestA)
	w.Landed("dev/shop", promotiontest.Ago(9*time.Hour), promotiontest.Ago(3*time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
	w.Has("staging/shop", "web:1.5.0")
	w.Pins("staging/shop", both)
	w.Expect("staging/shop", promotion.Proposed, "pin web 1.5.0 to its digest")
}

func TestPlan_formDoesNotSettle(t *testing.T) {
	t.Parallel()
	w := decidetest.New(t, promotiontest.Components+`
applications: {"*": {settle: 2m}}
environments:
  dev: {paths: ["dev/{application}"]}
`)
	w.Has("dev/shop", "web:1.5.0", "worker:2.0.0")
	w.Pins("dev/shop", both)
	w.RegistryAnswers("worker:2.0.0@" + promotiontest.DigestB)
	w.Publish("web:1.5.0@"+promotiontest.DigestA, "worker:2.0.0@"+promotiontest.DigestB)
	w.Expect("dev/shop", promotion.Proposed, "pin web 1.5.0 to its digest, pin worker 2.0.0 to its digest")
}

func TestPlan_openPullRequestOfForm(t *testing.T) {
	t.Parallel()
	w := decidetest.New(t, decidetest.Chain)
	w.Has("dev/shop", "web:1.5.0")
	w.Pins("dev/shop", both)
	w.Publish("web:1.5.0@" + promotiontest.DigestA)
	w.Open = map[string]promotion.Open{"promoter/dev/shop": {Number: 7, Head: "promoter/dev/shop", Snapshots: promotiontest.SnapshotsOf("shop", "web:1.5.0@"+promotiontest.DigestA)}}
	w.Expect("dev/shop", promotion.Proposed, "pin web 1.5.0 to its digest")
	w.Decides(state.Hold(w.StateTarget("dev/shop"), promotiontest.ByAda("")))
	if d := w.Decide("dev/shop"); d.Disposition == nil || d.Disposition.Close {
		t.Errorf("on hold: %+v", d.Disposition)
	}
	w.State = state.State{}
	w.Pins("dev/shop", tagOnly)
	if d := w.Decide("dev/shop"); d.State != promotion.Same || d.Disposition == nil || !d.Disposition.Close {
		t.Errorf("the form is no longer wanted: %s %+v", d.State, d.Disposition)
	}
}

// A rejection in a parent keeps versions out. What is there already may be written in another form.
func TestPlan_openPullRequestOfFormThatParentRejected(t *testing.T) {
	t.Parallel()
	w := decidetest.New(t, decidetest.Chain)
	w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.DigestA)
	w.Has("staging/shop", "web:1.5.0")
	w.Pins("staging/shop", both)
	w.RegistryAnswers("web:1.5.0@" + promotiontest.DigestA)
	w.Open = map[string]promotion.Open{"promoter/staging/shop": {
		Number: 7, Head: "promoter/staging/shop", Snapshots: promotiontest.SnapshotsOf("shop", "web:1.5.0@"+promotiontest.DigestA),
	}}
	w.Reject("dev/shop", "web:1.5.0@"+promotiontest.DigestA)
	w.Expect("staging/shop", promotion.Proposed, "pin web 1.5.0 to its digest")
	w.Decides(state.Hold(w.StateTarget("staging/shop"), promotiontest.ByAda("")))
	if d := w.Decide("staging/shop"); d.Disposition == nil || d.Disposition.Close {
		t.Errorf("on hold: %+v", d.Disposition)
	}
}

func TestLookups_form(t *testing.T) {
	t.Parallel()
	w := decidetest.New(t, decidetest.Chain)
	w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.5.0")
	w.Has("staging/shop", "web:1.5.0")
	w.Has("prod/shop", "web:1.5.0")
	w.Publish("web:1.5.0@" + promotiontest.DigestA)
	if lookups := w.Asked(); len(lookups) != 0 {
		t.Errorf("nothing differs: %+v", lookups)
	}
	w.Pins("staging/shop", both)
	w.Has("dev/shop", "worker:2.1.0")
	w.Has("staging/shop", "worker:2.0.0")
	w.Pins("staging/shop", both)
	verified := func(l promotion.Lookup) bool { return l.Component == "worker" && l.Tag == "2.1.0" }
	if lookups := w.Asked(); !slices.ContainsFunc(lookups, verified) {
		t.Errorf("of a newer version: %+v", lookups)
	}
	w.Targets[w.Target("staging/shop")] = promotion.Current{References: w.Targets[w.Target("staging/shop")].References[:1]}
	if lookups := w.Asked(); len(lookups) != 1 || lookups[0].Tag != "1.5.0" {
		t.Errorf("of the form: %+v", lookups)
	}
}
