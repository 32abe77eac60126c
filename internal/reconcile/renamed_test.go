package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// rename commits a change of any files as a user: pairs of an old and a new text in the config, and moved folders.
func (w *world) rename(config []string, moved ...string) {
	w.t.Helper()
	w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Rename", func(all map[string]string) {
		all["none/shop.txt"] = all["dev/shop.txt"] // of a dummy
		for i := 0; i < len(config); i += 2 {
			if !strings.Contains(all[repo.ConfigFile], config[i]) {
				w.t.Fatalf("the config does not have %q", config[i])
			}
		}
		all[repo.ConfigFile] = strings.NewReplacer(config...).Replace(all[repo.ConfigFile])
		for i := 0; i < len(moved); i += 2 {
			for path, content := range all {
				if rest, within := strings.CutPrefix(path, moved[i]); within {
					delete(all, path)
					all[moved[i+1]+rest] = content
				}
			}
		}
	})
}

// waitingForProd is a world in which staging has a version that prod does not have yet, because it is decided about.
func waitingForProd(t *testing.T, pushOnly bool, decision func(w *world) state.Change) *world {
	t.Helper()
	config := strings.ReplaceAll(threeEnvironments, "after: [dev]}", "after: [dev], land: push}")
	if pushOnly {
		config = strings.ReplaceAll(config, "automerge", "push")
	}
	w := newWorld(t, config)
	w.Forge.Limits.PullRequests = !pushOnly
	w.decide(decision(w))
	w.Clock.Add(time.Minute)
	w.pushAndRun(web, "1.1.0")
	w.holds("staging", "1.1.0 1.0.0")
	w.holds("prod", "1.0.0 1.0.0")
	return w
}

func stopsOfProd() map[string]func(w *world) state.Change {
	return map[string]func(w *world) state.Change{
		"hold": func(w *world) state.Change { return state.Hold(in("prod"), w.act("incident 7")) },
		"hold of an environment": func(w *world) state.Change {
			return state.Hold(state.Target{Environment: "prod", Application: state.All}, w.act("incident 7"))
		},
		"freeze": func(w *world) state.Change { return state.Freeze("prod", w.act("incident 7"), nil) },
		"rejection": func(w *world) state.Change {
			images := map[string]string{"web": web + ":1.1.0"}
			return state.Reject(in("prod"), state.Rejection{Act: w.act("incident 7"), Images: images})
		},
	}
}

// A decision about files also stops them under another name, whatever else changes, and on every forge.
func TestDecisions_areNotEscapedByRenaming(t *testing.T) {
	t.Parallel()
	for name, story := range map[string]struct {
		config []string
		moved  []string
		of     string // the environment that has prod's files now
		app    string
		want   string
	}{
		"environment": {config: []string{"  prod:", "  production:"}, of: "production", want: "production"},
		"dummy": {
			config: []string{"  prod:", "  prod: {paths: [\"none/{application}.txt\"], propose: never}\n  production:"},
			of:     "production", want: "had these files then",
		},
		"swap": {
			config: []string{"  staging:", "  prod:", "  prod:", "  staging:", "[staging]", "[prod]"},
			of:     "staging", want: "had these files then",
		},
		"folder": {
			config: []string{"  prod:", "  production:", `["prod/`, `["production/`},
			moved:  []string{"prod/", "production/"}, of: "production", want: "which is gone",
		},
		"dummy and folder": {
			config: []string{"  prod:", "  prod: {paths: [\"none/{application}.txt\"], propose: never}\n  production:", `["prod/`, `["production/`},
			moved:  []string{"prod/", "production/"}, of: "production", want: "whose files are gone",
		},
		"file": {
			config: []string{"  prod:", "  production:"},
			moved:  []string{"prod/shop.txt", "prod/store.txt", "staging/shop.txt", "staging/store.txt", "dev/shop.txt", "dev/store.txt"},
			of:     "production", app: "store", want: "prod",
		},
		"application": {
			moved: []string{"prod/shop.txt", "prod/store.txt", "staging/shop.txt", "staging/store.txt", "dev/shop.txt", "dev/store.txt"},
			of:    "prod", app: "store", want: "",
		},
	} {
		for decided, decision := range stopsOfProd() {
			for _, pushOnly := range []bool{false, true} {
				t.Run(name+" "+decided, func(t *testing.T) {
					t.Parallel()
					w := waitingForProd(t, pushOnly, decision)
					w.rename(story.config, story.moved...)
					report := w.run()
					application := "shop"
					if story.app != "" {
						application = story.app
					}
					at := promotion.Target{Environment: story.of, Application: application}
					for _, d := range report.Decisions {
						if d.Target != at {
							continue
						}
						text := d.Reason.Message
						if d.State != promotion.Waiting && d.State != promotion.Rejected || !strings.Contains(text, story.want) || !strings.Contains(text, "ada") {
							t.Errorf("%s is %s: %s, want %q", d.Name(), d.State, d.Reason, story.want)
						}
					}
					for path, content := range w.Git.FilesOf(w.Git.Branch("main")) {
						if strings.HasPrefix(path, "prod") && strings.Contains(content, ":1.1.0@") {
							t.Errorf("%s has %s", path, content)
						}
					}
					w.calm()
				})
			}
		}
	}
}

// A pull request that a user closed stays closed under another name of its environment.
func TestDecisions_aCloseIsNotEscapedByRenaming(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.Forge.CloseByHand(1, "ada")
	w.run()
	w.rename([]string{"  staging:", "  stage:", "[staging]", "[stage]"})
	report := w.run()
	wantReason(t, report, "stage", "rejected", "rejected as shop in staging; renamed to shop in stage")
	if len(w.Forge.All()) != 1 {
		t.Errorf("pull requests: %v", w.pulls())
	}
	if gone := promotion.GoneDecisions(report.UserDecisions[len(report.UserDecisions)-1]); len(gone) != 1 ||
		!strings.Contains(gone[0].String(), "it stops shop in stage") || !strings.Contains(gone[0].Fix(), "promoter unreject web:1.1.0 --env staging --app shop") {
		t.Errorf("gone: %v", gone)
	}
	rejected := w.state().At(in("staging")).Rejections[0].Images
	w.decide(state.Unreject(in("staging"), state.Unrejection{Act: w.act(""), Images: rejected}))
	w.run()
	if len(w.Forge.All()) != 2 {
		t.Errorf("after an unreject: %v", w.pulls())
	}
}

// A version that a user reverted in Git stays out of its files under another name of their environment, until a
// user allows it again.
func TestDecisions_aRevertIsNotEscapedByRenaming(t *testing.T) {
	t.Parallel()
	for name, story := range map[string]struct {
		config []string
		of     string // the environment that has prod's files now
	}{
		"environment": {[]string{"  prod:", "  production:"}, "production"},
		"dummy": {
			[]string{"  prod:", "  prod: {paths: [\"none/{application}.txt\"], propose: never}\n  production:"}, "production",
		},
		"swap": {[]string{"  staging:", "  prod:", "  prod:", "  staging:", "[staging]", "[prod]"}, "staging"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, strings.ReplaceAll(strings.ReplaceAll(threeEnvironments, "after: [dev]}", "after: [dev], land: push}"), "automerge", "push"))
			w.pushAndRun(web, "1.1.0")
			w.holds("prod", "1.1.0 1.0.0")
			w.Clock.Add(time.Minute)
			w.byHand("main", "prod", line(web, "1.1.0"), line(web, "1.0.0"))
			wantReason(t, w.run(), "prod", "was here before and was reverted")
			w.rename(story.config)
			w.Clock.Add(time.Minute)
			wantReason(t, w.run(), story.of, "was here before and was reverted")
			w.holds("prod", "1.0.0 1.0.0")
			w.calm()
			w.Clock.Add(time.Minute)
			allowed := map[string]string{"web": web + ":1.1.0@" + reconciletest.Digest("web 1.1.0")}
			w.decide(state.Unreject(in(story.of), state.Unrejection{Act: w.act(""), Images: allowed}))
			w.run()
			w.holds("prod", "1.1.0 1.0.0")
		})
	}
}

// A request and a rollback never move to another name.
func TestDecisions_requestsDoNotMove(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.ReplaceAll(threeEnvironments, "land: automerge}", "land: automerge, propose: manual}"))
	w.Forge.Limits.PullRequests = true
	w.decide(state.AddRequest(in("prod"), state.Request{Act: w.act("")}))
	w.rename([]string{"  prod:", "  production:", "after: [dev]}", "after: [dev], land: push}"})
	w.pushAndRun(web, "1.1.0")
	wantReason(t, w.run(), "production", "propose is manual: waiting for a request")
	w.holds("prod", "1.0.0 1.0.0")
}

// A hold of a release that recorded no location gets one while its target exists.
func TestDecisions_ofEarlierReleasesAreLocated(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.Git.Commit(state.Branch, reconciletest.Human, w.Clock.Now(), "Hold", func(all map[string]string) {
		all["prod/_all.json"] = `{"schema": 1, "hold": {"by": {"login": "ada"}, "at": "2026-11-18T10:00:00Z"}}`
	})
	w.run()
	hold := w.state().At(state.Target{Environment: "prod", Application: state.All}).Hold
	if hold == nil || hold.Location == nil || hold.Location.Paths[0] != "prod/{application}.txt" || hold.Location.Heads[""] == "" {
		t.Fatalf("hold: %+v", hold)
	}
	w.calm()
}
