package reconcile_test

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"promoter/internal/budget"
	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// claiming returns a commit message whose trailers claim that a version of web landed in shop
// of an environment.
func (w *world) claiming(environment, tag string) string {
	w.t.Helper()
	parsed, err := image.Parse(line(web, tag))
	if err != nil {
		w.t.Fatal(err)
	}
	message := "Promote shop to " + environment + "\n\n"
	for _, t := range promotion.Trailers(environment, map[string]promotion.Snapshot{"shop": {
		"web":    {Repository: parsed.Repository, Version: image.Version{Tag: parsed.Tag, Digest: parsed.Digest}},
		"worker": w.workerOfBefore(),
	}}, nil) {
		message += t.Key + ": " + t.Value + "\n"
	}
	return message
}

// notes returns the notes of shop in an environment.
func notes(report outcome.Report, environment string) string {
	var all []string
	for _, d := range report.Decisions {
		for _, note := range d.Notes {
			if d.Environment == environment && d.Application == "shop" && note.Rule == promotion.RuleFalseClaim {
				all = append(all, note.Message)
			}
		}
	}
	return strings.Join(all, "\n")
}

// The ways in which a commit with forged trailers gets onto main. All have the name and the
// email of promoter, except where the forge makes the commit.
var arrivals = map[string]func(w *world, message string, change func(map[string]string)){ //nolint:gochecknoglobals // a constant
	"direct push": func(w *world, message string, change func(map[string]string)) {
		w.Git.Commit("main", reconciletest.By, w.Clock.Now(), message, change)
	},
	"squash": func(w *world, message string, change func(map[string]string)) {
		w.Git.Set("typo", w.Git.Branch("main"))
		head := w.Git.Commit("typo", reconciletest.By, w.Clock.Now(), "Work", change)
		if _, err := w.Git.Merge("main", head, "squash", message, repo.Signature{Name: "Forge", Email: "noreply@forge.example"}, w.Clock.Now()); err != nil {
			w.t.Fatal(err)
		}
	},
	"fast-forward": func(w *world, message string, change func(map[string]string)) {
		w.Git.Set("typo", w.Git.Branch("main"))
		w.Git.Set("main", w.Git.Commit("typo", reconciletest.By, w.Clock.Now(), message, change))
	},
	"merge": func(w *world, message string, change func(map[string]string)) {
		w.Git.Set("typo", w.Git.Branch("main"))
		w.Git.Commit("typo", reconciletest.By, w.Clock.Now(), message, change)
		w.mergeByHand(w.Forge.ByHand("mallory", "typo", "main", true), "merge")
	},
}

// Trailers that the files of their commit contradict claim neither a version to roll back to,
// nor one that was reverted, also with the committer of promoter. They are reported.
func TestReconcile_forgedTrailersInAnyWay(t *testing.T) {
	t.Parallel()
	for name, arrive := range arrivals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := staged(t, threeEnvironments)
			w.pushAndRun(web, "1.2.0")
			readme := func(all map[string]string) { all["README"] += "typo" }
			arrive(w, w.claiming("dev", "evil"), readme)
			arrive(w, w.claiming("dev", "1.3.0"), func(all map[string]string) { all["README"] += "more" })
			before, err := previousSnapshot(t, w.Reconciler(), promotion.Target{Environment: "dev", Application: "shop"})
			if err != nil || before["web"].Version.Tag != "1.1.0" {
				t.Errorf("rolled back to %v, %v", before, err)
			}
			w.push(web, "1.3.0")
			o := observed(t, w)
			var why string
			for _, reason := range o.Promotion.Falsified[promotion.Target{Environment: "dev", Application: "shop"}] {
				why += reason.Message + "\n"
			}
			for _, tag := range []string{"evil", "1.3.0"} {
				if want := "claims to be the promotion of web " + tag + " to shop in dev, but its files have web 1.2.0"; name != "merge" && !strings.Contains(why, want) {
					t.Errorf("notes: %q, want %q", why, want)
				}
			}
			w.run()
			w.holds("dev", "1.3.0 1.0.0")
			landed, err := w.Reconciler().Landed(t.Context(), w.run(), nil, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range landed {
				if l.Snapshot["web"].Version.Tag == "evil" {
					t.Errorf("the history has %+v", l)
				}
			}
		})
	}
}

// The versions must be exactly those of the trailers, and must come with the commit.
func TestReconcile_trailersOfOtherVersions(t *testing.T) {
	t.Parallel()
	for name, arrive := range arrivals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := staged(t, threeEnvironments)
			w.push(web, "1.2.0")
			w.push(web, "1.3.0")
			w.push(web, "1.4.0")
			arrive(w, w.claiming("dev", "1.3.0"), func(all map[string]string) {
				all["dev/shop.txt"] = strings.ReplaceAll(all["dev/shop.txt"], line(web, "1.1.0"), line(web, "1.2.0"))
			})
			o := observed(t, w)
			target := promotion.Target{Environment: "dev", Application: "shop"}
			if got := o.Promotion.Landings[target]; len(got) < 2 || got[0].Snapshot["web"].Version.Tag != "1.2.0" || got[1].Snapshot["web"].Version.Tag != "1.1.0" {
				t.Errorf("landings: %+v", got)
			}
			want := "claims to be the promotion of web 1.3.0 to shop in dev, but its files have web 1.2.0: it counts as a change by a user"
			if report := w.run(); !strings.Contains(notes(report, "dev"), want) && len(o.Promotion.Falsified[target]) != 1 {
				t.Errorf("notes: %q", notes(report, "dev"))
			}
			w.holds("dev", "1.4.0 1.0.0")
		})
	}
}

// A commit with the committer of promoter that changes anything else is not promoter's: what
// it wrote is what a user wrote.
func TestReconcile_changesMoreThanVersionsUnderOurName(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(all map[string]string){
		"another file":           func(all map[string]string) { all["evil"] = "x" },
		"another environment":    func(all map[string]string) { all["prod/shop.txt"] = all["dev/shop.txt"] },
		"more in the same file":  func(all map[string]string) { all["dev/shop.txt"] += "privileged: true\n" },
		"the config":             func(all map[string]string) { all[".promoter.yaml"] += "# more\n" },
		"nothing else (control)": func(map[string]string) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := staged(t, threeEnvironments)
			w.push(web, "1.2.0")
			w.Git.Commit("main", reconciletest.By, w.Clock.Now(), w.claiming("dev", "1.2.0"), func(all map[string]string) {
				all["dev/shop.txt"] = strings.ReplaceAll(all["dev/shop.txt"], line(web, "1.1.0"), line(web, "1.2.0"))
				change(all)
			})
			w.push(web, "1.3.0")
			o := observed(t, w)
			target := promotion.Target{Environment: "dev", Application: "shop"}
			control := strings.HasSuffix(name, "(control)")
			if falsified := o.Promotion.Falsified[target]; len(falsified) == 1 == control || !control && !strings.Contains(falsified[0].Message, "changes more than versions in") {
				t.Errorf("reported: %+v", falsified)
			}
			landed, err := w.Reconciler().Landed(t.Context(), w.run(), nil, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			ours := map[string]bool{}
			for _, l := range landed {
				if l.Environment == "dev" {
					ours[l.Snapshot["web"].Version.Tag] = l.Ours
				}
			}
			if ours["1.2.0"] != control || !ours["1.1.0"] || !ours["1.3.0"] {
				t.Errorf("made by promoter: %v", ours)
			}
		})
	}
}

// A revert is the decision of a user, also with the name of promoter, and whatever its
// trailers say. Children do not get what was reverted.
func TestReconcile_revertUnderOurName(t *testing.T) {
	t.Parallel()
	for name, message := range map[string]func(w *world) string{
		"without trailers":            func(*world) string { return `Revert "Promote shop to dev"` },
		"trailers of the old version": func(w *world) string { return w.claiming("dev", "1.0.0") },
		"trailers of the reverted":    func(w *world) string { return w.claiming("dev", "1.1.0") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, strings.ReplaceAll(threeEnvironments, "after: [dev]}", "after: {dev: {soak: 1h}}, land: push}"))
			w.pushAndRun(web, "1.1.0")
			w.Clock.Add(2 * time.Hour)
			w.Git.Commit("main", reconciletest.By, w.Clock.Now(), message(w), func(all map[string]string) {
				all["dev/shop.txt"] = files()["dev/shop.txt"]
			})
			report := w.run()
			wantReason(t, report, "dev", "reverted", "1.1.0")
			w.holds("dev", "1.0.0 1.0.0")
			w.holds("staging", "1.0.0 1.0.0")
			w.Clock.Add(2 * time.Hour)
			w.run()
			w.holds("dev", "1.0.0 1.0.0")
			w.holds("staging", "1.0.0 1.0.0")
			w.calm()
			w.pushAndRun(web, "1.2.0")
			w.holds("dev", "1.2.0 1.0.0")
		})
	}
}

// A version that was reverted stays so when a newer one lands after the revert.
func TestReconcile_revertBeforeTheNextLanding(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.ReplaceAll(threeEnvironments, "after: [dev]}", "after: {dev: {soak: 1h}}, land: push}"))
	w.decide(state.Hold(in("staging"), w.act("")))
	w.pushAndRun(web, "1.1.0")
	w.Clock.Add(2 * time.Hour)
	w.Git.Commit("main", reconciletest.By, w.Clock.Now(), "Revert", func(all map[string]string) { all["dev/shop.txt"] = files()["dev/shop.txt"] })
	w.pushAndRun(web, "1.2.0")
	w.holds("dev", "1.2.0 1.0.0")
	w.Clock.Add(time.Minute)
	w.decide(state.Resume(in("staging"), w.act("")))
	wantReason(t, w.run(), "staging", "soak")
	w.holds("staging", "1.0.0 1.0.0")
	w.Clock.Add(2 * time.Hour)
	w.run()
	w.holds("staging", "1.2.0 1.0.0")
}

// Where the order of versions is not known, the files show that a version was reverted.
func TestReconcile_revertOfVersionsWithoutOrder(t *testing.T) {
	t.Parallel()
	config := strings.NewReplacer(`web, select: {semver: ">=1"}}`, `web, select: {newest: '.'}}`,
		"after: [dev]}", "after: {dev: {checks: [e2e]}}, land: push}").Replace(threeEnvironments)
	w := newWorld(t, config)
	w.decide(state.Hold(in("prod"), w.act("")))
	w.push(web, "0.9.0")
	w.Registry.Push(web, "1.0.0", "web 1.0.0", time.Time{})
	w.byHand("main", "staging", line(web, "1.0.0"), line(web, "0.9.0"))
	w.pushAndRun(web, "1.1.0")
	w.holds("dev", "1.1.0 1.0.0")
	w.Forge.Check(w.Git.Branch("main"), "e2e", scm.CheckPassed)
	w.byHand("main", "dev", line(web, "1.1.0"), line(web, "1.0.0"))
	report := w.run()
	wantReason(t, report, "dev", "reverted")
	wantReason(t, report, "staging", "waiting", "e2e")
	w.holds("staging", "0.9.0 1.0.0")
}

// The time of a merge counts only for the versions that it brought, so that a soak cannot
// begin with a merge of something else.
func TestReconcile_forgedPullRequestBeginsNoSoak(t *testing.T) {
	t.Parallel()
	for name, trailers := range map[string]bool{"with trailers": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, strings.ReplaceAll(threeEnvironments, "after: [staging]", "after: {staging: {soak: 1h}}"))
			head := "promoter/staging/shop"
			w.Git.Set(head, w.Git.Branch("main"))
			w.Git.Commit(head, reconciletest.By, w.Clock.Now(), w.claiming("staging", "1.1.0"), func(all map[string]string) { all["README"] = "typo" })
			w.mergeByHand(w.Forge.ByHand("mallory", head, "main", true), "squash")
			w.Git.Set(head, "")
			w.Clock.Add(2 * time.Hour)
			w.push(web, "1.1.0")
			message := "By hand"
			if trailers {
				message = w.claiming("staging", "1.1.0")
			}
			w.Git.Commit("main", reconciletest.By, w.Clock.Now(), message, func(all map[string]string) {
				all["staging/shop.txt"] = strings.ReplaceAll(all["staging/shop.txt"], line(web, "1.0.0"), line(web, "1.1.0"))
			})
			wantReason(t, w.run(), "prod", "soak")
			w.holds("prod", "1.0.0 1.0.0")
			w.Clock.Add(61 * time.Minute)
			w.run()
			w.holds("prod", "1.1.0 1.0.0")
		})
	}
}

// A version that the config does not select goes no further, until a user requests it.
func TestReconcile_forgedVersionOutsideOfThePolicy(t *testing.T) {
	t.Parallel()
	for name, arrive := range arrivals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, threeEnvironments)
			w.push(web, "evil")
			arrive(w, w.claiming("staging", "evil"), func(all map[string]string) {
				all["staging/shop.txt"] = strings.ReplaceAll(all["staging/shop.txt"], line(web, "1.0.0"), line(web, "evil"))
			})
			report := w.run()
			wantReason(t, report, "prod", "waiting", "web evil: select does not admit this version")
			w.holds("prod", "1.0.0 1.0.0")
		})
	}
}

// verdicts is an landing.Memory that counts.
type verdicts struct {
	all    map[string]string
	stored int
}

func (v *verdicts) Load(key string) (string, bool) {
	text, known := v.all[key]
	return text, known
}

func (v *verdicts) Store(more map[string]string) error {
	maps.Copy(v.all, more)
	for key := range more {
		if !strings.HasPrefix(key, "written ") { // what files had is remembered too
			v.stored++
		}
	}
	return nil
}

// reads counts the commits that are read, and fails for some.
type reads struct {
	repo.Files
	commits map[string]int
	fail    map[string]error
}

func (r reads) At(ctx context.Context, c *config.Config, commit string, environments []string) (repo.Tree, error) {
	r.commits[commit]++
	if err := r.fail[commit]; err != nil {
		return nil, err
	}
	return r.Files.At(ctx, c, commit, environments)
}

// A commit that exceeds a limit hides no other landing, and counts as nothing but reverted.
func TestReconcile_landingThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	target := promotion.Target{Environment: "dev", Application: "shop"}
	commits := map[string]string{}
	for _, tag := range []string{"1.1.0", "1.2.0", "1.3.0"} {
		for _, done := range w.pushAndRun(web, tag).Effects {
			if done.Environment.Name == "dev" {
				commits[tag] = done.Commit
			}
		}
		w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Between", func(all map[string]string) { all["README"] += tag })
	}
	tests := map[string]struct {
		err    error
		stored bool // the verdicts of later commits
	}{
		"too large":       {fault.New(fault.Invalid, "too many references"), true},
		"over the budget": {budget.ErrExceeded, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := w.Reconciler()
			memory := &verdicts{all: map[string]string{}}
			r.Clients.Landings, r.Clients.Files = memory, reads{Files: r.Clients.Files, commits: map[string]int{}, fail: map[string]error{commits["1.1.0"]: test.err}}
			before, err := previousSnapshot(t, r, target)
			if err != nil || before["web"].Version.Tag != "1.2.0" || memory.stored > 0 != test.stored {
				t.Errorf("rolled back to %v, %v; stored %d verdicts", before, err, memory.stored)
			}
		})
	}
}

// Each landing is verified once.
func TestReconcile_remembersVerdicts(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	for _, tag := range []string{"1.2.0", "1.3.0", "1.4.0"} {
		w.pushAndRun(web, tag)
	}
	w.Git.Commit("main", reconciletest.By, w.Clock.Now(), w.claiming("dev", "evil"), func(all map[string]string) { all["README"] = "typo" })
	memory, files := &verdicts{all: map[string]string{}}, reads{Files: w.Reconciler().Clients.Files, commits: map[string]int{}}
	reconcile := func() int {
		r := w.Reconciler()
		r.Clients.Landings, r.Clients.Files = memory, files
		clear(files.commits)
		report, err := r.Preview(t.Context())
		if err != nil || report.Failed() {
			t.Fatal(err, report.Errors)
		}
		return len(files.commits)
	}
	w.push(web, "1.5.0")
	first := reconcile()
	if memory.stored == 0 || first < 5 {
		t.Fatalf("stored %d verdicts, read %d commits", memory.stored, first)
	}
	memory.stored = 0
	if again := reconcile(); memory.stored > 0 || again != 1 {
		t.Errorf("stored %d verdicts again, read %d commits", memory.stored, again)
	}
	// Under another config, the same files may mean something else.
	w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "A comment", func(all map[string]string) { all[".promoter.yaml"] += "# more\n" })
	if reconcile(); memory.stored == 0 {
		t.Error("the verdicts under another config are not new")
	}
}

// What a push remembers is what reading its commits proves.
func TestReconcile_remembersItsPushes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.ReplaceAll(threeEnvironments, "after: [dev]}", "after: [dev], land: push}"))
	pushed, read := &verdicts{all: map[string]string{}}, &verdicts{all: map[string]string{}}
	for _, tag := range []string{"1.1.0", "1.2.0"} {
		w.push(web, tag)
		r := w.Reconciler()
		r.Clients.Landings = pushed
		if _, err := r.Reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	w.holds("staging", "1.2.0 1.0.0")
	w.push(web, "1.3.0")
	r := w.Reconciler()
	r.Clients.Landings = read
	if _, err := r.Rehearse(t.Context()); err != nil {
		t.Fatal(err)
	}
	if read.stored < 2 {
		t.Errorf("it read %d landings", read.stored)
	}
	for key, want := range read.all {
		if got := pushed.all[key]; got != want {
			t.Errorf("%s:\npushed %s\nread   %s", key, got, want)
		}
	}
}

// When the config changes its paths, earlier landings are neither proven nor false. The
// current one still has its time, because the files have its versions; none can be restored.
func TestReconcile_landingsInAnotherLayout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.pushAndRun(web, "1.1.0")
	w.pushAndRun(web, "1.2.0")
	w.byHand("main", "dev", line(web, "1.2.0"), line(web, "1.1.0"))
	w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Move", func(all map[string]string) {
		all[".promoter.yaml"] = strings.Replace(all[".promoter.yaml"], "dev/{application}", "clusters/dev/{application}", 1)
		all["clusters/dev/shop.txt"] = all["dev/shop.txt"]
		delete(all, "dev/shop.txt")
	})
	o := observed(t, w)
	target := promotion.Target{Environment: "dev", Application: "shop"}
	if len(o.Promotion.Falsified[target]) > 0 {
		t.Errorf("reported: %v", o.Promotion.Falsified[target])
	}
	wantReason(t, w.run(), "dev", "reverted", "1.2.0")
	if before, err := previousSnapshot(t, w.Reconciler(), target); err == nil {
		t.Errorf("a rollback would restore %v", before)
	}
}

// A backdated commit makes nothing forgotten that a user reverted after a resume.
func TestReconcile_backdatedCommitForgetsNoRevert(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.pushAndRun(web, "1.1.0")
	w.Clock.Add(time.Hour)
	w.decide(unrejectOf(w, "dev"))
	w.Clock.Add(time.Hour)
	w.byHand("main", "dev", line(web, "1.1.0"), line(web, "1.0.0"))
	w.Git.Commit("main", reconciletest.Human, w.Clock.Now().Add(-90*time.Minute), "Backdated", func(all map[string]string) { all["README"] = "typo" })
	wantReason(t, w.run(), "dev", "reverted", "1.1.0")
	w.holds("dev", "1.0.0 1.0.0")
	w.Clock.Add(time.Hour)
	w.decide(unrejectOf(w, "dev"))
	w.run()
	w.holds("dev", "1.1.0 1.0.0")
}

func unrejectOf(w *world, environment string) state.Change {
	return w.unreject(in(environment), "1.1.0")
}

// unreject allows the versions of a tag again.
func (w *world) unreject(target state.Target, tag string) state.Change {
	images := map[string]string{"web": web + ":" + tag, "worker": worker + ":" + tag}
	return state.Unreject(target, state.Unrejection{Act: w.act(""), Images: images})
}

// A resume changes nothing about a version that was reverted in Git.
func TestReconcile_resumeAfterARevertKeepsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.pushAndRun(web, "1.1.0")
	w.Clock.Add(time.Minute)
	w.byHand("main", "dev", line(web, "1.1.0"), line(web, "1.0.0"))
	wantReason(t, w.run(), "dev", "reverted", "1.1.0")
	w.Clock.Add(time.Minute)
	w.decide(state.Hold(in("dev"), w.act("")))
	w.run()
	w.Clock.Add(time.Minute)
	w.decide(state.Resume(in("dev"), w.act("")))
	wantReason(t, w.run(), "dev", "reverted", "1.1.0")
	w.holds("dev", "1.0.0 1.0.0")
	w.Clock.Add(time.Minute)
	w.decide(w.unreject(in("staging"), "1.1.0"), w.unreject(in("dev"), "1.2.0")) // of another target, and another version
	wantReason(t, w.run(), "dev", "reverted", "1.1.0")
	w.decide(w.unreject(in("dev"), "1.1.0"))
	w.run()
	w.holds("dev", "1.1.0 1.0.0")
	w.calm()
}
