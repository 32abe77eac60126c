package view_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/access"
	"promoter/internal/database"
	"promoter/internal/fault"
	"promoter/internal/store"
	"promoter/internal/view"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// all may read everything.
var all = access.Principal{Name: "token all", Roles: []access.Role{access.Read}}

func versions(texts ...string) []store.EventVersion {
	var found []store.EventVersion
	for _, text := range texts {
		component, tag, _ := strings.Cut(text, ":")
		found = append(found, store.EventVersion{Component: component, Repository: "quay.io/acme/" + component, Tag: tag})
	}
	return found
}

// repository is what a test stores of one repository.
type repository struct {
	targets []store.Target
	events  []store.Event
	drift   string // JSON
}

// filled returns a view of repositories, by name.
func filled(t *testing.T, repositories map[string]repository) *view.View {
	t.Helper()
	v, _ := filledDatabase(t, repositories)
	return v
}

// filledDatabase returns also the database.
func filledDatabase(t *testing.T, repositories map[string]repository) (*view.View, *database.DB) {
	t.Helper()
	db, err := database.Open(t.Context(), database.Options{Path: filepath.Join(t.TempDir(), "promoter.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	stored := store.New(db)
	for address, one := range repositories {
		host, name, _ := strings.Cut(address, "/")
		key := "key of " + name
		err := db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
			if err := stored.Targets.Set(ctx, tx, key, one.targets); err != nil {
				return err
			}
			for i := range one.events {
				one.events[i].Repository, one.events[i].Name = key, address
			}
			_, err := stored.RecordReconciliation(ctx, tx, store.Repository{Key: key, Forge: "github", Host: host, Name: name}, store.HistoryUpdate{Events: one.events})
			return errors.Join(err, stored.Targets.SetDrift(ctx, tx, key, one.drift))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return &view.View{Store: stored}, db
}

// open returns a view of three applications in two repositories.
func open(t *testing.T) *view.View {
	t.Helper()
	return filled(t, map[string]repository{
		"github.com/acme/shop": {
			targets: []store.Target{
				{Environment: "dev", Application: "cart", State: "same", Current: versions("cart:1.5"), Wanted: versions("cart:1.5")},
				{Environment: "prod", Application: "cart", After: []string{"dev"}, State: "waiting", Rule: "condition", Message: "dev soak", Until: noon, Current: versions("cart:1.4"), Wanted: versions("cart:1.5")},
				{
					Environment: "prod", Application: "pay", State: "proposed", Rule: "parent", Message: "dev has it", Number: 7, URL: "https://x/7",
					Current: versions("api:1", "db:2", "web:3", "job:4", "cli:5"), Wanted: versions("api:1", "db:2", "web:3.1", "job:4", "cli:5"),
				},
			},
			events: []store.Event{
				{At: noon.Add(-time.Hour), Environment: "prod", Application: "cart", Action: store.EventPushed, Commit: "aaa", Snapshot: "v1:old"},
				{At: noon, Environment: "prod", Application: "cart", Action: store.EventLanded, Commit: "bbb", Snapshot: "v1:new", Number: 3, URL: "https://x/3"},
				{At: noon.Add(time.Hour), Environment: "prod", Application: "cart", Action: store.EventOpened, Number: 9},
			},
		},
		"github.com/acme/billing": {targets: []store.Target{{
			Environment: "prod", Application: "bill", State: "same", Current: versions("bill:2"), Wanted: versions("bill:2"),
			Detail: store.TargetDetail{Health: &store.TargetHealth{Status: "Degraded", Failure: "failed: Degraded for 15m"}},
		}}},
	})
}

// table is a list as text: a line for each application.
func table(list view.Applications) string {
	text := strings.Join(list.Environments, " ") + "\n"
	for _, row := range list.Applications {
		text += row.Repository + " " + row.Application
		for _, one := range row.Targets {
			text += fmt.Sprintf(" | %s %s %s", one.Environment, one.Version, one.Status)
			if one.Wanted != "" {
				text += " -> " + one.Wanted
			}
		}
		text += "\n"
	}
	return text
}

func TestApplications(t *testing.T) {
	t.Parallel()
	v := open(t)
	const (
		bill = "github.com/acme/billing bill | prod 2 failed\n"
		cart = "github.com/acme/shop cart | dev 1.5 up to date | prod 1.4 waiting -> 1.5\n"
		pay  = "github.com/acme/shop pay | prod api 1, db 2, web 3, 2 more open -> web 3.1\n"
	)
	for name, test := range map[string]struct {
		query     view.ApplicationsQuery
		principal access.Principal
		want      string
	}{
		"all":                   {view.ApplicationsQuery{}, all, "dev prod\n" + bill + cart + pay},
		"of a repository":       {view.ApplicationsQuery{Repository: "Acme/Shop"}, all, "dev prod\n" + cart + pay},
		"of a repository's key": {view.ApplicationsQuery{Repository: "key of acme/billing"}, all, "prod\n" + bill},
		"in an environment":     {view.ApplicationsQuery{Environment: "dev"}, all, "dev\ngithub.com/acme/shop cart | dev 1.5 up to date\n"},
		"of a name":             {view.ApplicationsQuery{Application: "cart"}, all, "dev prod\n" + cart},
		"of a part of a name":   {view.ApplicationsQuery{Application: "car"}, all, "\n"},
		"that are open":         {view.ApplicationsQuery{Status: view.Open}, all, "dev prod\n" + pay},
		"searched by words":     {view.ApplicationsQuery{Search: "SHOP 3.1"}, all, "dev prod\n" + pay},
		"nothing found":         {view.ApplicationsQuery{Search: "none"}, all, "dev prod\n"},
		"within a scope": {view.ApplicationsQuery{}, access.Principal{Roles: all.Roles, Scope: access.Scope{
			Repositories: []string{"github.com/acme/shop"}, Environments: []string{"prod"},
		}}, "prod\ngithub.com/acme/shop cart | prod 1.4 waiting -> 1.5\n" + pay},
	} {
		list, err := v.Applications(t.Context(), test.principal, test.query)
		if diff := cmp.Diff(test.want, table(list)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestApplications_pages(t *testing.T) {
	t.Parallel()
	v := open(t)
	whole, err := v.Applications(t.Context(), all, view.ApplicationsQuery{})
	if err != nil {
		t.Fatal(err)
	}
	var paged []view.ApplicationRow
	query := view.ApplicationsQuery{Limit: 1}
	for {
		page, err := v.Applications(t.Context(), all, query)
		if err != nil || page.Total != 3 {
			t.Fatalf("%+v, %v", page, err)
		}
		paged = append(paged, page.Applications...)
		if query.After = page.Next; query.After == "" {
			break
		}
	}
	if diff := cmp.Diff(whole.Applications, paged); diff != "" {
		t.Errorf("-whole +pages:\n%s", diff)
	}
	if _, err := v.Applications(t.Context(), all, view.ApplicationsQuery{After: "?"}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a cursor that is none: %v", err)
	}
}

// The newest landing counts, and stays known after the history was deleted.
func TestApplication_newestLanding(t *testing.T) {
	t.Parallel()
	v := open(t)
	if _, err := v.Store.DeleteHistoryBefore(t.Context(), noon.Add(24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	found, err := v.Application(t.Context(), all, "acme/shop", "cart")
	if err != nil {
		t.Fatal(err)
	}
	want := &view.Landed{At: noon, Commit: "bbb", Snapshot: "v1:new", PullRequest: &view.PullRequest{Number: 3, URL: "https://x/3"}}
	if len(found.Targets) != 2 || found.Targets[0].Landed != nil {
		t.Fatalf("%+v", found)
	}
	if diff := cmp.Diff(want, found.Targets[1].Landed); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if reason := found.Targets[1].Reason; reason == nil || !reason.Until.Equal(noon) || reason.Message != "dev soak" {
		t.Errorf("the reason: %+v", reason)
	}
}

func TestApplication_notFound(t *testing.T) {
	t.Parallel()
	v := open(t)
	shop := access.Principal{Roles: all.Roles, Scope: access.Scope{Repositories: []string{"github.com/acme/shop"}}}
	for _, test := range []struct {
		principal               access.Principal
		repository, application string
		want                    fault.Kind
	}{
		{all, "acme/none", "cart", fault.NotFound},
		{all, "acme/shop", "none", fault.NotFound},
		{all, "acme/shop", "", fault.NotFound},
		{all, "", "cart", fault.Invalid},
		{shop, "acme/billing", "bill", fault.NotFound},
		{shop, "", "bill", fault.NotFound},
	} {
		if _, err := v.Application(t.Context(), test.principal, test.repository, test.application); fault.KindOf(err) != test.want {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// A repository with fewer environments does not change the order of those of the others.
func TestApplications_orderOfEnvironments(t *testing.T) {
	t.Parallel()
	in := func(environments ...string) repository {
		var one repository
		for _, environment := range environments {
			one.targets = append(one.targets, store.Target{Environment: environment, Application: "web", State: "same"})
		}
		return one
	}
	v := filled(t, map[string]repository{
		"github.com/acme/a": in("prod"), "github.com/acme/b": in("dev", "staging", "prod"), "github.com/acme/c": in("dev", "qa"),
	})
	list, err := v.Applications(t.Context(), all, view.ApplicationsQuery{})
	if diff := cmp.Diff([]string{"dev", "qa", "staging", "prod"}, list.Environments); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// What differs is in the target that it is about, if the principal may read that.
func TestApplications_drift(t *testing.T) {
	t.Parallel()
	v := filled(t, map[string]repository{"github.com/acme/shop": {
		targets: []store.Target{{Environment: "dev", Application: "cart", State: "same"}, {Environment: "prod", Application: "cart", State: "same"}},
		drift: `[{"kind":"actual","environment":"dev","application":"cart","message":"1.4 runs"},
			{"kind":"ahead","environment":"prod","application":"cart","message":"ahead"}, {"kind":"shared","message":"of the repository"}]`,
	}})
	prod := access.Principal{Roles: all.Roles, Scope: access.Scope{Environments: []string{"prod"}}}
	for principal, want := range map[*access.Principal]string{&all: "dev 1: 1.4 runs, prod 1: ahead", &prod: "prod 1: ahead"} {
		list, err := v.Applications(t.Context(), *principal, view.ApplicationsQuery{})
		if err != nil {
			t.Fatal(err)
		}
		one, err := v.Application(t.Context(), *principal, "acme/shop", "cart")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, target := range one.Targets {
			text := fmt.Sprintf("%s %d:", target.Environment, list.Applications[0].Targets[i].Drift)
			for _, d := range target.Drift {
				text += " " + d.Message
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}
