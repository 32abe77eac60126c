package snapshots

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/access"
	"promoter/internal/api"
	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/store"
)

var noon = time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)

// versions reads COMPONENT:TAG.
func versions(texts ...string) (all []store.EventVersion) {
	for _, text := range texts {
		component, tag, _ := strings.Cut(text, ":")
		all = append(all, store.EventVersion{Component: component, Repository: "quay.io/acme/" + component, Tag: tag, Digest: "sha256:" + component + tag})
	}
	return all
}

// landed is a landing of COMPONENT:FROM:TO.
func landed(minutes int, texts ...string) store.Event {
	e := store.Event{Action: store.EventLanded, At: noon.Add(time.Duration(minutes) * time.Minute), Commit: fmt.Sprint("c", minutes)}
	for _, text := range texts {
		parts := strings.Split(text, ":")
		v := versions(parts[0] + ":" + parts[2])[0]
		if v.FromTag = parts[1]; v.FromTag != "" {
			v.FromDigest = "sha256:" + parts[0] + v.FromTag
		}
		e.Versions = append(e.Versions, v)
	}
	return e
}

func TestPast_at(t *testing.T) {
	t.Parallel()
	p := past{landed(30, "web:2:3"), landed(20, "worker::2"), landed(10, "web:1:2")}
	for minutes, want := range map[int]string{
		0: "web:1; unknown worker", 10: "web:2; unknown worker", 15: "web:2; unknown worker", 20: "web:2 worker:2; unknown ", 30: "web:3 worker:2; unknown ",
	} {
		found, unknown := p.at(noon.Add(time.Duration(minutes)*time.Minute), versions("web:3", "worker:2"))
		var got []string
		for _, v := range found {
			got = append(got, v.Component+":"+v.Tag)
		}
		if text := strings.Join(got, " ") + "; unknown " + strings.Join(unknown, " "); text != want {
			t.Errorf("at %d: %s, want %s", minutes, text, want)
		}
	}
	// What never changed is as it is now.
	if found, unknown := (past{}).at(noon, versions("web:3")); len(unknown) > 0 || !cmp.Equal(found, versions("web:3")) {
		t.Errorf("nothing landed: %v, %v", found, unknown)
	}
	if at, commit := p.last(noon.Add(25 * time.Minute)); commit != "c20" || !at.Equal(noon.Add(20*time.Minute)) {
		t.Errorf("last: %v %s", at, commit)
	}
}

// Repositories that a token may not read do not make a name ambiguous.
func TestAPI_repository(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, database.Options{Path: filepath.Join(t.TempDir(), "promoter.db"), Now: time.Now})
	a := &API{Store: store.New(db)}
	for _, name := range []string{"acme/shop", "other/shop"} {
		if err := db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
			_, err := a.Store.RecordReconciliation(ctx, tx, store.Repository{Key: "github.com/" + name[:1], Host: "github.com", Name: name}, store.HistoryUpdate{})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ scope, name, want string }{
		{"github.com/*/*", "acme/shop", "acme/shop"},
		{"github.com/*/*", "github.com/o", "other/shop"},
		{"github.com/*/*", "shop", "2 repositories match: name one with ?repository=HOST/OWNER/NAME"},
		{"github.com/*/*", "", "2 repositories match: name one with ?repository=HOST/OWNER/NAME"},
		{"github.com/acme/*", "shop", "acme/shop"},
		{"github.com/acme/*", "", "acme/shop"},
		{"github.com/acme/*", "other/shop", `there is no repository "other/shop"`},
	} {
		principal := access.Principal{Roles: []access.Role{access.Read}, Scope: access.Scope{Repositories: []string{test.scope}}}
		found, err := a.repository(t.Context(), api.SnapshotQuery{Principal: principal, Repository: test.name})
		got := found.Name
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

func TestVersionOf(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"quay.io/acme/web:1@sha256:0", "localhost:5000/web@sha256:0", "localhost:5000/web:1@sha256:0"} {
		if v := versionOf("web", text); v.Component != "web" || v.Image() != text || strings.Contains(v.Repository, "web:") {
			t.Errorf("%s: %+v", text, v)
		}
	}
}

// A posted snapshot of web:2 and worker:2, in an environment after another one.
func TestWalk(t *testing.T) {
	t.Parallel()
	posted := store.Snapshot{Name: "one", PostedAt: noon, Images: map[string]string{
		"web": "quay.io/acme/web:2@sha256:web2", "worker": "quay.io/acme/worker:2@sha256:worker2",
	}}
	same := store.Target{State: "same", Current: versions("web:2", "worker:2"), Wanted: versions("web:2", "worker:2")}
	before := store.Target{State: "same", Current: versions("web:1", "worker:1"), Wanted: versions("web:1", "worker:1")}
	wants := func(state, requested string) store.Target {
		return store.Target{State: state, Current: versions("web:1", "worker:1"), Wanted: versions("web:2", "worker:2"), Posted: requested}
	}
	newer := store.Target{State: "same", Current: versions("web:3", "worker:2"), Wanted: versions("web:3", "worker:2")}
	blocked := store.Target{State: "failed", Current: versions("web:1", "worker:1"), Wanted: versions("web:1", "worker:1"), Posted: "one"}
	as := func(target store.Target, reported store.TargetHealth) store.Target {
		target.Detail.Health = &reported
		return target
	}
	healthy := store.TargetHealth{Status: "Degraded", HealthySince: noon}
	failed := store.TargetHealth{Status: "Degraded", Failure: "failed: Degraded for 15m"}
	other := store.Target{State: "same", Current: versions("else:1"), Wanted: versions("else:1")}
	was := past{landed(9, "web:2:3"), landed(5, "web:1:2", "worker:1:2")}
	for name, test := range map[string]struct {
		early     bool // not reconciled since it was posted
		dev, prod store.Target
		inDev     past
		want      string
	}{
		"just posted":                 {early: true, dev: before, prod: before, want: "Waiting: dev waiting, prod waiting"},
		"proposed":                    {dev: wants("proposed", "one"), prod: before, want: "Active: dev proposed, prod waiting"},
		"a registry does not answer":  {dev: blocked, prod: before, want: "Waiting: dev waiting, prod waiting"},
		"a file cannot be written":    {dev: wants("refused", "one"), prod: before, want: "Active: dev refused, prod waiting"},
		"soaks":                       {dev: same, prod: wants("waiting", ""), want: "Active: dev landed, prod waiting"},
		"landed, and prod is unaware": {dev: same, prod: before, want: "Active: dev landed, prod waiting"},
		"everywhere":                  {dev: same, prod: same, want: "Completed Succeeded: dev landed, prod landed"},
		"rejected":                    {dev: wants("rejected", "one"), prod: before, want: "Completed Rejected: dev rejected, prod rejected"},
		"overtaken in dev":            {dev: newer, prod: before, want: "Completed Superseded: dev superseded, prod superseded"},
		"overtaken before prod":       {dev: newer, prod: before, inDev: was, want: "Completed Superseded: dev landed, prod superseded"},
		"an older one goes on":        {dev: newer, prod: wants("waiting", ""), inDev: was, want: "Active: dev landed, prod waiting"},
		"not healthy yet":             {dev: as(same, store.TargetHealth{Status: "Progressing"}), prod: same, want: "Active: dev landed, prod landed"},
		"health is not reported":      {dev: same, prod: as(same, store.TargetHealth{}), want: "Active: dev landed, prod landed"},
		"healthy everywhere":          {dev: as(same, healthy), prod: as(same, healthy), want: "Completed Succeeded: dev healthy, prod healthy"},
		"healthy, and not in prod":    {dev: as(same, healthy), prod: wants("waiting", ""), want: "Active: dev healthy, prod waiting"},
		"failed before prod":          {dev: as(same, failed), prod: wants("waiting", ""), want: "Completed Failed: dev failed, prod failed"},
		"failed in prod":              {dev: as(same, healthy), prod: as(same, failed), want: "Completed Failed: dev healthy, prod failed"},
		"not in prod":                 {dev: same, prod: other, want: "Completed Succeeded: dev landed"},
	} {
		way := walk{posted: posted, reconciled: !test.early, steps: map[string]api.StepState{}, there: map[string]bool{}}
		test.dev.Environment, test.prod.Environment, test.prod.After = "dev", "prod", []string{"dev"}
		var steps []api.Step
		var lines []string
		for _, target := range []store.Target{test.dev, test.prod} {
			var history past
			if target.Environment == "dev" {
				history = test.inDev
			}
			if step, part := way.step(target, history); part {
				steps = append(steps, step)
				lines = append(lines, step.Environment+" "+string(step.State))
			}
		}
		state, result := summary(steps)
		got := strings.TrimSpace(string(state)+" "+result) + ": " + strings.Join(lines, ", ")
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestBindingOf_deployed(t *testing.T) {
	t.Parallel()
	target := store.Target{Current: versions("api:1", "web:2", "worker:2"), Wanted: versions("api:1", "web:2", "worker:3")}
	for name, test := range map[string]struct {
		reported *store.TargetHealth
		want     string
	}{
		"no health":    {nil, "2 of 3 components have the wanted version: api, web, worker"},
		"not reported": {&store.TargetHealth{}, "0 of 3 components deployed, 2 have the wanted version: api, web, worker"},
		"healthy": {
			&store.TargetHealth{Status: "Healthy"},
			"3 of 3 components deployed, 2 have the wanted version: api Synced Healthy, web Synced Healthy, worker Synced Healthy",
		},
		"out of sync": {
			&store.TargetHealth{Status: "Progressing", Sync: "OutOfSync"},
			"0 of 3 components deployed, 2 have the wanted version: api OutOfSync Progressing, web OutOfSync Progressing, worker OutOfSync Progressing",
		},
		"the versions of before": {
			&store.TargetHealth{Actual: versions("web:1", "worker:1"), ActualStatus: "Healthy"},
			"1 of 3 components deployed, 2 have the wanted version: api Synced Healthy, web OutOfSync Healthy quay.io/acme/web:1@sha256:web1, " +
				"worker OutOfSync Healthy quay.io/acme/worker:1@sha256:worker1",
		},
	} {
		target.Detail.Health = test.reported
		binding := bindingOf(target)
		var lines []string
		for _, c := range binding.Components {
			lines = append(lines, strings.Join(slices.DeleteFunc([]string{c.Name, c.Sync, c.Health, c.Actual}, func(s string) bool { return s == "" }), " "))
		}
		if diff := cmp.Diff(test.want, binding.Summary+": "+strings.Join(lines, ", ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
