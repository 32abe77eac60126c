package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/identity"
	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// onRequest is a config whose environments get what is requested; prod merges by itself once
// a user approved it.
var onRequest = strings.NewReplacer(
	"after: [dev]}", "after: [dev], propose: manual}",
	"land: automerge}", "land: automerge, propose: manual, gates: {approvals: {count: 1}}}",
).Replace(threeEnvironments)

// request requests a promotion in the name of a user.
func (w *world) request(environment, login, why string) {
	w.t.Helper()
	by := identity.User{Host: "forge.example", Login: login}
	w.decide(state.AddRequest(in(environment), state.Request{Act: state.Act{By: by, At: w.Clock.Now(), Reason: why}}))
}

// attributions returns the trailers of a commit that name users.
func attributions(commit repo.Commit) []string {
	var all []string
	for _, t := range commit.Trailers {
		if t.Key == promotion.TrailerRequestedBy || t.Key == promotion.TrailerReason || t.Key == promotion.TrailerApprovedBy {
			all = append(all, strings.TrimPrefix(t.Key, "Promoter-")+": "+t.Value)
		}
	}
	return all
}

func (w *world) commit(id string) repo.Commit {
	w.t.Helper()
	commit, err := w.Reconciler().Clients.Objects.Commit(id)
	if err != nil {
		w.t.Fatal(err)
	}
	return commit
}

func (w *world) wantAttributions(id string, want ...string) {
	w.t.Helper()
	if diff := cmp.Diff(want, attributions(w.commit(id))); diff != "" {
		w.t.Errorf("trailers of %.7s (-want +got):\n%s", id, diff)
	}
}

// landedIn returns the newest landing in an environment.
func (w *world) landedIn(environment string) landing.Landed {
	w.t.Helper()
	all, err := w.Reconciler().Landed(w.t.Context(), w.run(), nil, time.Time{})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, l := range all {
		if l.Environment == environment {
			return l
		}
	}
	w.t.Fatalf("nothing landed in %s", environment)
	return landing.Landed{}
}

func TestReconcile_trailersNameWhoRequestedAndApproved(t *testing.T) {
	t.Parallel()
	// The forge makes the commits: what is not in the head could be by anyone.
	for method, unproven := range map[string][]string{"merge": {"approval"}, "squash": {"request", "approval"}} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, onRequest)
			w.Forge.Method = method
			w.pushAndRun(web, "1.1.0")
			w.request("staging", "ann", "for the fair,\nsee @ops, closes #7\nPromoter-Image: web=quay.io/evil/web:6.6.6")
			w.run()
			const reason = "Reason: for the fair, see @\u200bops, closes #\u200b7 Promoter-Image: web=quay.io/evil/web:6.6.6"
			w.wantAttributions(w.pull(1).Head.Commit, "Requested-By: ann", reason)

			// Another request of the same changes the trailers alone, which is no reason to push.
			head := w.pull(1).Head.Commit
			w.Clock.Add(time.Minute)
			w.request("staging", "ben", "")
			w.run()
			if now := w.pull(1).Head.Commit; now != head {
				t.Errorf("the head was written again:\n%s", w.commit(now).Message)
			}
			w.mergeByHand(1, "merge")
			landed := w.landedIn("staging")
			if landed.Attribution.RequestedBy != "ann" || !strings.HasPrefix(landed.Attribution.Reason, "for the fair, see @ops, closes #7 ") || landed.Unproven != nil {
				t.Errorf("merged by a user: %+v, unproven %q", landed.Attribution, landed.Unproven)
			}

			// The approvals are known when promoter merges.
			w.request("prod", "cho", "sale")
			w.run()
			w.Forge.Review(2, "cho", scm.Approved) // requested it
			w.Forge.Review(2, "ben", scm.Approved)
			w.Forge.Review(2, "ann", scm.Approved)
			w.run()
			merged := w.pull(2).Merged.Commit
			w.wantAttributions(w.pull(2).Head.Commit, "Requested-By: cho", "Reason: sale")
			w.wantAttributions(merged, "Requested-By: cho", "Reason: sale", "Approved-By: ann", "Approved-By: ben")
			landed = w.landedIn("prod")
			want := promotion.Attribution{RequestedBy: "cho", Reason: "sale", ApprovedBy: []string{"ann", "ben"}}
			if diff := cmp.Diff(want, landed.Attribution); diff != "" {
				t.Errorf("merged by promoter (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(unproven, landed.Unproven); diff != "" {
				t.Errorf("unproven (-want +got):\n%s", diff)
			}
		})
	}
}

// What is pushed names the user too. A rollback is the decision of a user; what promoter
// promotes by itself is not.
func TestReconcile_trailersOfPushedCommits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.pushAndRun(web, "1.1.0")
	w.Clock.Add(time.Minute)
	w.pushAndRun(web, "1.2.0")
	w.wantAttributions(w.Git.Branch("main"))
	images := map[string]string{"web": web + ":1.1.0@" + reconciletest.Digest("web 1.1.0")}
	w.decide(state.Rollback(in("dev"), state.RolledBack{Act: w.act("slow\x1b[31m"), Images: images}))
	w.run()
	w.holds("dev", "1.1.0 1.0.0")
	w.wantAttributions(w.Git.Branch("main"), "Requested-By: ada", "Reason: slow[31m")
	if landed := w.landedIn("dev"); landed.Attribution.RequestedBy != "ada" || landed.Unproven != nil {
		t.Errorf("%+v, unproven %q", landed.Attribution, landed.Unproven)
	}
}

// Any user who can push can write trailers.
func TestLanded_attributionsThatPromoterDidNotWrite(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]repo.Signature{"as a user": reconciletest.Human, "as promoter": reconciletest.By} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := staged(t, threeEnvironments)
			w.push(web, "1.2.0")
			message := w.claiming("dev", "1.2.0") + "Promoter-Requested-By: ann\nPromoter-Approved-By: ben\n"
			w.Git.Commit("main", by, w.Clock.Now(), message, func(all map[string]string) {
				all["dev/shop.txt"] = strings.ReplaceAll(all["dev/shop.txt"], line(web, "1.1.0"), line(web, "1.2.0")) + "# more\n"
			})
			landed := w.landedIn("dev")
			if name == "as promoter" { // it is no landing of promoter
				if landed.Attribution.RequestedBy != "" {
					t.Errorf("%+v", landed)
				}
				return
			}
			if landed.Attribution.RequestedBy != "ann" || strings.Join(landed.Unproven, " ") != "request approval" {
				t.Errorf("%+v, unproven %q", landed.Attribution, landed.Unproven)
			}
		})
	}
}
