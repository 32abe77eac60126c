package reconcile_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/reconcile"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/seal"
	"promoter/internal/secret"
	"promoter/internal/state"
	"promoter/internal/statebranch"
)

// sealedWorld is a repository whose state branch has seals.
type sealedWorld struct {
	*world
	keys   seal.Keys
	memory *sealMemory
}

// sealMemory is a statebranch.SealMemory.
type sealMemory struct{ newest statebranch.SealedCommit }

func (m *sealMemory) Newest(context.Context) (statebranch.SealedCommit, error) { return m.newest, nil }

func (m *sealMemory) Remember(_ context.Context, newest statebranch.SealedCommit) error {
	m.newest = newest
	return nil
}

func sealKeys(t *testing.T, letters ...string) seal.Keys {
	t.Helper()
	var secrets []secret.String
	for _, letter := range letters {
		secrets = append(secrets, secret.New(strings.Repeat(letter, seal.MinLength)))
	}
	keys, err := seal.New(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func newSealedWorld(t *testing.T, config string) *sealedWorld {
	t.Helper()
	return &sealedWorld{world: newWorld(t, config), keys: sealKeys(t, "k"), memory: &sealMemory{}}
}

// server is a process that has the key.
func (w *sealedWorld) server() *reconcile.Reconciler {
	r := w.Reconciler()
	r.Clients.Seals = statebranch.Seals{Keys: w.keys, Repository: "github.com:1"}
	if w.memory != nil {
		r.Clients.Seals.Memory = w.memory
	}
	return r
}

func (w *sealedWorld) reconcile() outcome.Report {
	w.t.Helper()
	report, err := w.server().Reconcile(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return report
}

// calm reconciles, and fails if that writes or reports anything.
func (w *sealedWorld) calm() {
	w.t.Helper()
	pushes := w.Git.Pushes
	if report := w.reconcile(); report.Failed() || report.Unusable != "" || w.Git.Pushes != pushes {
		w.t.Errorf("not calm: %+v, %q, %d pushes", report.Errors, report.Unusable, w.Git.Pushes-pushes)
	}
}

// decideWithKey records a decision with the key.
func (w *sealedWorld) decideWithKey(changes ...state.Change) statebranch.Recorded {
	w.t.Helper()
	branch := w.server().Clients.StateBranch()
	recorded, err := branch.Record(w.t.Context(), "Decide", changes...)
	if err != nil {
		w.t.Fatal(err)
	}
	return recorded
}

// forge writes changes to the state branch as any user who may push can, under the name
// of promoter.
func (w *sealedWorld) forge(changes ...state.Change) {
	w.t.Helper()
	head := w.Git.Branch(state.Branch)
	now := state.State{}
	if head != "" {
		var err error
		if now, err = state.Read(w.Git.Objects().All(head)); err != nil {
			w.t.Fatal(err)
		}
	}
	next, err := now.Apply(changes...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.Git.Commit(state.Branch, reconciletest.By, w.Clock.Now(), "Apply 1 commands from comments", func(files map[string]string) {
		for path, content := range next.Diff(now) {
			files[path] = string(content)
			if content == nil {
				delete(files, path)
			}
		}
	})
}

func (w *sealedWorld) state() state.State {
	w.t.Helper()
	now, err := w.server().Clients.StateBranch().State(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return now
}

func wantIgnored(t *testing.T, report outcome.Report, part string) {
	t.Helper()
	if len(report.Errors) != 1 || !strings.Contains(report.Errors[0].Err.Error(), "without a seal have no effect: "+part) {
		t.Errorf("want %q ignored, got %+v", part, report.Errors)
	}
}

const manualProd = `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
  worker: {image: quay.io/acme/worker, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}.txt"], land: push}
  staging: {paths: ["staging/{application}.txt"], after: {dev: {soak: 2h}}, land: push}
  prod: {paths: ["prod/{application}.txt"], after: [dev], propose: manual, land: push}
`

// Who may push the state branch, but has no key, passes no gate with it.
func TestReconcile_unsealedChangesLoosenNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		forge   func(w *sealedWorld) state.Change
		ignored string
	}{
		"a request in the name of another": {func(w *sealedWorld) state.Change {
			return state.AddRequest(in("prod"), state.Request{Act: w.act("approved")})
		}, "request of shop in prod"},
		"a soak that began long ago": {func(w *sealedWorld) state.Change {
			return func(s state.State) state.State {
				return s.With(in("dev"), func(r *state.Record) {
					for i := range r.Seen {
						r.Seen[i].At = w.Clock.Now().Add(-100 * time.Hour)
					}
				})
			}
		}, "seen of shop in dev"},
		"a hold that is gone": {func(_ *sealedWorld) state.Change {
			return func(s state.State) state.State { return s.With(in("prod"), func(r *state.Record) { r.Hold = nil }) }
		}, "hold of shop in prod"},
		"a resume": {func(w *sealedWorld) state.Change { return state.Resume(in("prod"), w.act("over")) }, "hold, resumption of shop in prod"},
		"a rollback": {func(w *sealedWorld) state.Change {
			return state.Rollback(in("staging"), state.RolledBack{Act: w.act("back"), Images: map[string]string{"web": web + ":1.1.0@" + reconciletest.Digest("web 1.1.0")}})
		}, "rollback of shop in staging"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newSealedWorld(t, manualProd)
			w.Forge.Limits.PullRequests = false // so that times come from the state
			w.decideWithKey(state.Hold(in("prod"), w.act("incident")))
			w.push(web, "1.1.0")
			w.reconcile()
			w.holds("dev", "1.1.0 1.0.0")
			w.forge(c.forge(w))
			wantIgnored(t, w.reconcile(), c.ignored)
			w.holds("prod", "1.0.0 1.0.0")
			w.holds("staging", "1.0.0 1.0.0")
			w.calm() // the branch has a seal again
			if held := w.state().At(in("prod")).Hold; held == nil || held.Reason != "incident" {
				t.Errorf("prod is held by %+v", held)
			}
		})
	}
}

// Who may push may stop promotions, with the file of the CLI or by hand.
func TestReconcile_unsealedHoldsCount(t *testing.T) {
	t.Parallel()
	w := newSealedWorld(t, threeEnvironments)
	w.reconcile()
	if _, err := w.Reconciler().Clients.StateBranch().Record(t.Context(), "Hold", state.Hold(in("dev"), w.act("incident 42"))); err != nil {
		t.Fatal(err)
	}
	w.push(web, "1.1.0")
	report := w.reconcile()
	wantReason(t, report, "dev", "incident 42")
	if report.Failed() {
		t.Errorf("%+v", report.Errors)
	}
	// Its removal needs the key.
	w.forge(state.Resume(in("dev"), w.act("never mind")))
	wantIgnored(t, w.reconcile(), "hold, resumption of shop in dev")
	w.holds("dev", "1.0.0 1.0.0")
	w.decideWithKey(state.Resume(in("dev"), w.act("over")))
	w.reconcile()
	w.holds("dev", "1.1.0 1.0.0")
	w.calm()
}

func TestRecordDecision_withoutTheKeyOnABranchWithSeals(t *testing.T) {
	t.Parallel()
	w := newSealedWorld(t, manualProd)
	w.decideWithKey(state.Hold(in("prod"), w.act("incident")), state.Freeze("dev", w.act("holiday"), nil))
	for name, change := range map[string]state.Change{
		"resume":  state.Resume(in("prod"), w.act("over")),
		"thaw":    state.Thaw("dev"),
		"request": state.AddRequest(in("prod"), state.Request{Act: w.act("please")}),
		"all":     state.Resume(state.Target{Environment: state.All, Application: state.All}, w.act("over")),
	} {
		before := w.Git.Branch(state.Branch)
		_, err := w.Reconciler().Clients.StateBranch().Record(t.Context(), "Decide", change)
		if fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), "no key is set: set seal.keys") || w.Git.Branch(state.Branch) != before {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.Reconciler().Reconcile(t.Context()); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("reconciled without the key: %v", err)
	}
}

// The seal of one commit is worth nothing on another one, or in another repository.
func TestReconcile_copiedSealsDoNotCount(t *testing.T) {
	t.Parallel()
	w := newSealedWorld(t, manualProd)
	w.decideWithKey(state.AddRequest(in("prod"), state.Request{Act: w.act("once")}))
	requested := w.Git.Branch(state.Branch)
	message := func() string {
		commit, _ := w.Git.Objects().Commit(requested)
		return commit.Message
	}()
	files := w.Git.FilesOf(requested)
	w.decideWithKey(func(s state.State) state.State {
		return s.With(in("prod"), func(r *state.Record) { r.Request = nil })
	})
	w.Git.Commit(state.Branch, reconciletest.By, w.Clock.Now(), message, func(all map[string]string) {
		for path, content := range files {
			all[path] = content
		}
	})
	wantIgnored(t, w.reconcile(), "request of shop in prod")

	other := newSealedWorld(t, manualProd)
	other.Git.Commit(state.Branch, reconciletest.By, w.Clock.Now(), message, func(all map[string]string) {
		for path, content := range files {
			all[path] = content
		}
	})
	r := other.server()
	r.Clients.Seals.Repository = "github.com:2"
	report, err := r.Reconcile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantIgnored(t, report, "request of shop in prod")
}

func TestReconcile_replacesTheKey(t *testing.T) {
	t.Parallel()
	w := newSealedWorld(t, manualProd)
	w.decideWithKey(state.Resume(in("prod"), w.act("please")))
	w.keys = sealKeys(t, "n", "k")
	if report := w.reconcile(); report.Failed() {
		t.Fatalf("%+v", report.Errors)
	}
	w.keys = sealKeys(t, "n") // the old one is removed
	w.calm()
	if w.state().At(in("prod")).Resumed == nil {
		t.Error("the resume is lost")
	}
}

// A branch that was deleted or moved back is restored where its commit is still there. If
// not, nothing happens until a user confirms it.
func TestReconcile_rewoundBranchWithSeals(t *testing.T) {
	t.Parallel()
	everywhere := state.Target{Environment: state.All, Application: state.All}
	for name, rewind := range map[string]func(w *sealedWorld, before string){
		"deleted":     func(w *sealedWorld, _ string) { w.Git.Set(state.Branch, "") },
		"moved back":  func(w *sealedWorld, before string) { w.Git.Set(state.Branch, before) },
		"another one": func(w *sealedWorld, _ string) { w.Git.Set(state.Branch, w.Git.Branch("main")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newSealedWorld(t, threeEnvironments)
			w.decideWithKey(state.Hold(in("staging"), w.act("before")))
			before := w.Git.Branch(state.Branch)
			w.decideWithKey(state.Hold(in("dev"), w.act("incident 42")))
			w.reconcile()
			rewind(w, before)
			w.push(web, "1.1.0")
			report := w.reconcile()
			wantReason(t, report, "dev", "incident 42")
			if len(report.Errors) == 0 || !strings.Contains(report.Errors[len(report.Errors)-1].Err.Error(), "is restored") {
				t.Errorf("%+v", report.Errors)
			}
			w.calm()

			// Another process, or a new mirror, does not have the commit.
			rewind(w, before)
			w.memory.newest.Commit = strings.Repeat("1", 40)
			for range 2 {
				if report = w.reconcile(); !strings.Contains(report.Unusable, "was deleted or moved back") || !strings.Contains(report.Unusable, "promoter confirm-state") {
					t.Fatalf("unusable: %q, %+v", report.Unusable, report.Errors)
				}
			}
			w.holds("dev", "1.0.0 1.0.0")
			if _, err := w.server().Clients.StateBranch().Record(t.Context(), "Resume", state.Resume(in("dev"), w.act("over"))); fault.KindOf(err) != fault.Invalid {
				t.Errorf("resumed one application: %v", err)
			}
			w.decideWithKey(state.Hold(in("dev"), w.act("again")))
			if report = w.reconcile(); report.Unusable == "" {
				t.Error("a hold confirmed the branch")
			}
			if _, err := w.server().Clients.StateBranch().Record(t.Context(), "Resume", state.ResumeWithin(everywhere, w.act("over"))); fault.KindOf(err) != fault.Invalid {
				t.Errorf("a resume of everything confirmed the branch: %v", err)
			}
			for _, want := range []bool{true, false} {
				if confirmed, err := w.server().Clients.StateBranch().Confirm(t.Context(), "Confirm"); confirmed != want || err != nil {
					t.Errorf("confirmed %v, want %v: %v", confirmed, want, err)
				}
			}
			wantReason(t, w.reconcile(), "dev", "again")
			w.calm()
		})
	}
}

// Without any memory, the commits that landed show that there was a newer seal.
func TestReconcile_landedCommitsShowARewoundBranch(t *testing.T) {
	t.Parallel()
	w := newSealedWorld(t, threeEnvironments)
	w.memory = nil
	w.decideWithKey(state.Hold(in("staging"), w.act("incident")))
	w.push(web, "1.1.0")
	w.reconcile()
	w.holds("dev", "1.1.0 1.0.0")
	w.Git.Set(state.Branch, "")
	if report := w.reconcile(); !strings.Contains(report.Unusable, "was deleted or moved back") {
		t.Errorf("unusable: %q", report.Unusable)
	}
	// A mark that a user makes up holds nothing.
	other := newSealedWorld(t, threeEnvironments)
	other.memory = nil
	other.Git.Commit("main", reconciletest.By, w.Clock.Now(), "Promote\n\n"+seal.MarkTrailer+": v1 00000000 99 AAAA\n", func(map[string]string) {})
	if report := other.reconcile(); report.Unusable != "" {
		t.Errorf("unusable: %q", report.Unusable)
	}
}

// What was there before the key is not trusted, except what stops something.
func TestReconcile_firstSeal(t *testing.T) {
	t.Parallel()
	w := newSealedWorld(t, manualProd)
	w.forge(state.AddRequest(in("prod"), state.Request{Act: w.act("approved")}), state.Hold(in("dev"), w.act("incident")),
		state.FirstSeen(in("staging"), "v1:a", "", w.Clock.Now()), state.Closed(in("staging"), 7, "nothing differs", w.Clock.Now()),
		state.MarkProcessed(w.Clock.Now(), state.ProcessedComment{ID: 5, At: w.Clock.Now()}))
	w.push(web, "1.1.0")
	report := w.reconcile()
	wantIgnored(t, report, "request of shop in prod")
	if now := w.state(); len(now.At(in("staging")).Closings) != 1 || now.IsUnprocessed(5, w.Clock.Now(), w.Clock.Now()) {
		t.Error("what promoter remembered is lost")
	}
	wantReason(t, report, "dev", "incident")
	w.calm()
}

// Commands in comments were checked: what they record has a seal.
func TestReconcile_commandsAreSealed(t *testing.T) {
	t.Parallel()
	w := newSealedWorld(t, strings.ReplaceAll(manualProd, "land: push}\n", "}\n"))
	w.push(web, "1.1.0")
	w.reconcile()
	w.Clock.Add(time.Minute)
	w.Forge.Comment(1, identity.User{Login: "ann"}, "/promoter hold because")
	w.reconcile()
	if hold := w.state().At(in("dev")).Hold; hold == nil || hold.By.Login != "ann" {
		t.Errorf("dev is held by %+v", hold)
	}
	w.Clock.Add(time.Minute)
	w.Forge.Comment(1, identity.User{Login: "ann"}, "/promoter resume")
	w.reconcile()
	if hold := w.state().At(in("dev")).Hold; hold != nil {
		t.Errorf("dev is still held by %+v", hold)
	}
	w.calm()
}

// A protected branch needs no seals: only promoter can push it.
func TestReconcile_protectedBranch(t *testing.T) {
	t.Parallel()
	w := newSealedWorld(t, manualProd)
	w.push(web, "1.1.0")
	w.reconcile()
	w.forge(state.AddRequest(in("prod"), state.Request{Act: w.act("approved")}))
	r := w.server()
	r.Clients.Seals.Protected = true
	if report, err := r.Reconcile(t.Context()); err != nil || report.Failed() {
		t.Fatal(err, report.Errors)
	}
	w.holds("prod", "1.1.0 1.0.0")
}
