package reconcile_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/state"
)

// withoutKeyUntilStaging is a world in which 1.1.0 is in staging for 20 seconds, and prod wants 30. All times are recorded
// without a key, and the forge does not report pushes.
func withoutKeyUntilStaging(t *testing.T, land string) *sealedWorld {
	t.Helper()
	w := newSealedWorld(t, soakingConfig(land))
	w.Forge.HidesPushes = true
	w.push(web, "1.1.0")
	w.run()
	w.lands()
	w.holds("staging", "1.1.0 1.0.0")
	w.Clock.Add(20 * time.Second)
	return w
}

// adopt adopts times as the command does, and returns why others are not adopted.
func (w *sealedWorld) adopt() (refused []string) {
	w.t.Helper()
	past, err := w.server().Past(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, at := range past.Observation().State.SetAside() {
		times, err := past.Unsealed(w.t.Context(), promotion.Target(at))
		if err != nil {
			w.t.Fatal(err)
		}
		var adopted []state.Seen
		for _, one := range times {
			if one.Refused == "" {
				adopted = append(adopted, one.Seen)
			} else {
				refused = append(refused, one.Refused)
			}
		}
		w.decideWithKey(state.Adopt(at, adopted), state.AdoptVersions(at, past.Observation().State.At(at).UnsealedVersions))
	}
	return refused
}

// With the first key, a soak begins again where only a time without a seal proves it. Everything that shows it names
// the command that adopts the time.
func TestUnsealed_soakGoesOnAfterAdoption(t *testing.T) {
	t.Parallel()
	const command = "(2026-11-18T11:00:00Z has no seal: an administrator may run 'promoter seals adopt')"
	for name, before := range map[string]func(w *sealedWorld){
		"from run to serve": func(*sealedWorld) {},
		"with a new key, without the database": func(w *sealedWorld) {
			if refused := w.adopt(); len(refused) > 0 {
				w.t.Errorf("refused %q", refused)
			}
			w.keys, w.memory = sealKeys(w.t, "n"), nil
		},
		"after the state branch was lost": func(w *sealedWorld) {
			w.adopt()
			w.reconcile()
			w.keys = sealKeys(w.t, "n")
			if report := w.reconcile(); report.Unusable == "" {
				w.t.Error("another key counts")
			}
			if confirmed, err := w.server().Clients.StateBranch().Confirm(w.t.Context(), "Confirm"); !confirmed || err != nil {
				w.t.Errorf("%v, %v", confirmed, err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := withoutKeyUntilStaging(t, "push")
			before(w)
			var log bytes.Buffer
			r := w.server()
			r.Clients.Log = slog.New(slog.NewTextHandler(&log, nil))
			report, err := r.Reconcile(t.Context())
			if err != nil || report.Failed() || report.Unusable != "" {
				t.Fatal(err, report.Errors, report.Unusable)
			}
			wantReason(t, report, "prod", "first seen now", command)
			if !strings.Contains(log.String(), "promoter seals adopt") {
				t.Errorf("the log names no command: %s", log.String())
			}
			log.Reset()
			w.Clock.Add(5 * time.Second)
			report, _ = r.Reconcile(t.Context())
			wantReason(t, report, "prod", "present since 2026-11-18T11:00:20Z", command)
			if strings.Contains(log.String(), "promoter seals adopt") {
				t.Errorf("logged again: %s", log.String())
			}
			w.calm()
			if refused := w.adopt(); len(refused) > 0 {
				t.Errorf("refused %q", refused)
			}
			report = w.reconcile()
			wantReason(t, report, "prod", "present since 2026-11-18T11:00:00Z")
			if got := reason(report, "prod"); strings.Contains(got, "adopt") {
				t.Errorf("prod is %q", got)
			}
			w.Clock.Add(5 * time.Second)
			w.reconcile()
			w.holds("prod", "1.1.0 1.0.0")
			w.calm()
		})
	}
}

// Without an adoption, the soak ends later, and what was set aside ends with the next version.
func TestUnsealed_endsWithTheNextVersion(t *testing.T) {
	t.Parallel()
	w := withoutKeyUntilStaging(t, "push")
	w.reconcile()
	w.Clock.Add(15 * time.Second)
	w.reconcile()
	w.holds("prod", "1.0.0 1.0.0")
	w.Clock.Add(15 * time.Second)
	w.reconcile()
	w.holds("prod", "1.1.0 1.0.0")
	if len(w.state().SetAside()) != 1 {
		t.Errorf("set aside: %v", w.state().SetAside())
	}
	w.push(web, "1.2.0")
	w.reconcile()
	w.reconcile()
	w.holds("staging", "1.2.0 1.0.0")
	if len(w.state().SetAside()) != 0 {
		t.Errorf("set aside: %v", w.state().SetAside())
	}
}

// Where the forge reports a merge, nothing begins again, and nothing is to be adopted.
func TestUnsealed_mergesProveTheSoak(t *testing.T) {
	t.Parallel()
	for _, land := range []string{"pr", "automerge"} {
		t.Run(land, func(t *testing.T) {
			t.Parallel()
			w := withoutKeyUntilStaging(t, land)
			report := w.reconcile()
			wantReason(t, report, "prod", "present since 2026-11-18T11:00:00Z")
			if got := reason(report, "prod"); strings.Contains(got, "adopt") || len(w.state().SetAside()) > 0 {
				t.Errorf("prod is %q, set aside %v", got, w.state().SetAside())
			}
			w.Clock.Add(10 * time.Second)
			w.reconcile()
			w.holds("prod", "1.1.0 1.0.0")
			w.calm()
		})
	}
}

// Times that Git or the forge prove to be wrong are not adopted, and neither is anything but times.
func TestUnsealed_refusesWhatIsProvablyWrong(t *testing.T) {
	t.Parallel()
	forged := func(w *sealedWorld, at time.Time, commit string) {
		w.forge(func(s state.State) state.State {
			return s.With(in("staging"), func(r *state.Record) {
				if len(r.Seen) == 0 {
					r.Seen = []state.Seen{{}}
				}
				one := &r.Seen[len(r.Seen)-1]
				one.Snapshot, one.At, one.Commit = "v1:x", at, commit
			})
		})
	}
	for name, c := range map[string]struct {
		land string
		do   func(w *sealedWorld)
		want string
	}{
		"before the commit": {"push", func(w *sealedWorld) {
			forged(w, w.Clock.Now().Add(-48*time.Hour), w.state().At(in("staging")).UnsealedSeen[0].Commit)
		}, "which has the versions, is of 2026-11-18T11:00:00Z"},
		"in the future": {"push", func(w *sealedWorld) {
			forged(w, w.Clock.Now().Add(time.Hour), w.state().At(in("staging")).UnsealedSeen[0].Commit)
		}, "it is in the future"},
		"a commit that is not on the branch": {"push", func(w *sealedWorld) {
			forged(w, w.Clock.Now(), strings.Repeat("1", 40))
		}, "the history of main has no commit that it is about"},
		"a snapshot that is unknown": {"push", func(w *sealedWorld) {
			forged(w, w.Clock.Now(), "")
		}, "the history of main has no commit that it is about"},
		"before the merge": {"pr", func(w *sealedWorld) {
			forged(w, w.Clock.Now().Add(-25*time.Second), w.Git.Branch("main"))
		}, "is of 2026-11-18T11:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := withoutKeyUntilStaging(t, c.land)
			w.forge(state.AddRequest(in("prod"), state.Request{Act: w.act("forged"), Bypass: []string{"soak"}}))
			c.do(w)
			if refused := strings.Join(w.adopt(), "; "); !strings.Contains(refused, c.want) {
				t.Errorf("refused %q, want %q", refused, c.want)
			}
			if counts := w.state(); len(counts.SetAside()) > 0 || counts.At(in("prod")).Request != nil {
				t.Errorf("set aside %v, request %v", counts.SetAside(), counts.At(in("prod")).Request)
			}
			w.Clock.Add(9 * time.Second)
			w.reconcile()
			w.holds("prod", "1.0.0 1.0.0")
		})
	}
}

// What users wrote by hand can be adopted too.
func TestUnsealed_adoptsWhatUsersWrote(t *testing.T) {
	t.Parallel()
	w := newSealedWorld(t, soakingConfig("push"))
	w.Forge.HidesPushes = true
	w.push(web, "1.1.0")
	w.byHand("main", "staging", line(web, "1.0.0"), line(web, "1.1.0"))
	w.run()
	w.Clock.Add(20 * time.Second)
	if refused := w.adopt(); len(refused) > 0 {
		t.Errorf("refused %q", refused)
	}
	w.Clock.Add(10 * time.Second)
	w.reconcile()
	w.holds("prod", "1.1.0 1.0.0")
	w.calm()
}

// What any listed key has sealed counts, also without the database.
func TestUnsealed_sealedTimesOfListedKeysCount(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *sealedWorld){
		"a new key beside the old one": func(w *sealedWorld) { w.keys = sealKeys(w.t, "n", "k") },
		"without the database":         func(w *sealedWorld) { w.memory = nil },
		"both":                         func(w *sealedWorld) { w.keys, w.memory = sealKeys(w.t, "n", "k"), nil },
		"a new key alone, after both": func(w *sealedWorld) {
			w.keys, w.memory = sealKeys(w.t, "n", "k"), nil
			w.reconcile()
			w.keys = sealKeys(w.t, "n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newSealedWorld(t, soakingConfig("push"))
			w.push(web, "1.1.0")
			w.reconcile()
			w.reconcile()
			w.holds("staging", "1.1.0 1.0.0")
			w.Clock.Add(20 * time.Second)
			change(w)
			wantReason(t, w.reconcile(), "prod", "present since 2026-11-18T11:00:00Z")
			w.Clock.Add(10 * time.Second)
			w.reconcile()
			w.holds("prod", "1.1.0 1.0.0")
			w.calm()
		})
	}
}

// agingConfig is a config in which a new version of web waits 30 seconds, by minAge or settle.
func agingConfig(wait string) string {
	if wait == "minAge" {
		return strings.Replace(threeEnvironments, `web, select: {semver: ">=1"}`, `web, select: {semver: ">=1", minAge: 30s}`, 1)
	}
	return threeEnvironments + "applications: {shop: {settle: 30s}}\n"
}

// aged is a world in which a version waits for its age, in a config of agingConfig.
func aged(t *testing.T, wait string) *sealedWorld {
	t.Helper()
	w := newSealedWorld(t, agingConfig(wait))
	w.Registry.Now = w.Clock.Now
	w.run()
	w.Clock.Add(time.Minute) // 1.0.0 is old enough
	w.run()
	w.push(web, "1.1.0")
	w.run()
	w.holds("dev", "1.0.0 1.0.0")
	w.Clock.Add(20 * time.Second)
	return w
}

// With the first key, the age of a version begins again, and goes on after an adoption: everything that shows it names the command.
func TestUnsealed_ageGoesOnAfterAdoption(t *testing.T) {
	t.Parallel()
	for _, wait := range []string{"minAge", "settle"} {
		t.Run(wait, func(t *testing.T) {
			t.Parallel()
			const command = "(2026-11-18T11:01:00Z has no seal: an administrator may run 'promoter seals adopt')"
			w := aged(t, wait)
			var log bytes.Buffer
			r := w.server()
			r.Clients.Log = slog.New(slog.NewTextHandler(&log, nil))
			report, err := r.Reconcile(t.Context())
			if err != nil || report.Failed() || report.Unusable != "" {
				t.Fatal(err, report.Errors, report.Unusable)
			}
			wantReason(t, report, "dev", command)
			if strings.Count(log.String(), "promoter seals adopt") != 1 {
				t.Errorf("the log: %s", log.String())
			}
			w.Clock.Add(5 * time.Second)
			log.Reset()
			report, _ = r.Reconcile(t.Context())
			wantReason(t, report, "dev", "2026-11-18T11:01:20Z", command)
			if strings.Contains(log.String(), "promoter seals adopt") {
				t.Errorf("logged again: %s", log.String())
			}
			w.calm()
			w.adopt()
			report = w.reconcile()
			if got := reason(report, "dev"); strings.Contains(got, "adopt") {
				t.Errorf("dev is %q", got)
			}
			w.Clock.Add(5 * time.Second)
			w.reconcile()
			w.holds("dev", "1.1.0 1.0.0")
			w.reconcile()
			w.calm()
		})
	}
}

// Without an adoption, a version waits longer, and then nothing is left that could be adopted.
func TestUnsealed_ageEndsWithTheWait(t *testing.T) {
	t.Parallel()
	for _, wait := range []string{"minAge", "settle"} {
		t.Run(wait, func(t *testing.T) {
			t.Parallel()
			w := aged(t, wait)
			w.reconcile()
			w.Clock.Add(29 * time.Second)
			w.reconcile()
			w.holds("dev", "1.0.0 1.0.0")
			if len(w.state().SetAside()) != 1 {
				t.Errorf("set aside: %v", w.state().SetAside())
			}
			w.Clock.Add(time.Second)
			w.reconcile()
			w.holds("dev", "1.1.0 1.0.0")
			w.reconcile()
			if len(w.state().SetAside()) != 0 {
				t.Errorf("set aside: %v", w.state().SetAside())
			}
			w.calm()
		})
	}
}
