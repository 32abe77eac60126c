package github_test

import (
	"fmt"
	"strings"
	"testing"

	"promoter/internal/fault"
)

func TestInstallations(t *testing.T) {
	t.Parallel()
	w := newAppWorld(t)
	for i := range 205 {
		w.of.Install(fmt.Sprintf("org-%d", i))
	}
	w.of.Install("suspended").Suspend()
	w.of.Install("removed").Remove()
	w.NewApp("other", granted()).Install("others")
	all, err := w.app.Installations(t.Context())
	if err != nil || len(all) != 206 {
		t.Fatalf("%d installations, %v", len(all), err)
	}
	last := all[205]
	if want := fmt.Sprintf("%s/organizations/suspended/settings/installations/%d", w.URL(), last.ID); !last.Suspended || last.Account != "suspended" || last.URL != want {
		t.Errorf("got %+v, want the URL %s", last, want)
	}
	if n := w.Traffic.Requests()["GET /app/installations"]; n != 3 {
		t.Errorf("%d pages were asked for", n)
	}
}

func TestInstallationOf(t *testing.T) {
	t.Parallel()
	w := newAppWorld(t)
	in := w.NewRepository("acme/gitops", nil)
	w.NewRepository("acme/other", nil)
	acme := w.of.Install("acme", in)
	found, err := w.app.InstallationOf(t.Context(), "Acme/GitOps")
	if err != nil || found.ID != acme.ID() || found.Account != "acme" {
		t.Errorf("got %+v, %v", found, err)
	}
	for name, words := range map[string]string{
		"acme/other": "an owner of acme installs it at " + w.URL() + "/apps/promoter/installations/new",
		"acme/gone":  "it is not there, or the App promoter is not installed on it",
	} {
		if _, err := w.app.InstallationOf(t.Context(), name); fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, want %q", name, err, words)
		}
	}
	if _, err := w.app.InstallationOf(t.Context(), "../gitops"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a path gives %v", err)
	}
}

func TestApp_check(t *testing.T) {
	t.Parallel()
	w := newAppWorld(t)
	acme := w.of.Install("acme")
	check := func() error {
		t.Helper()
		all, err := w.app.Installations(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return w.app.Check(t.Context(), all[0])
	}
	if err := check(); err != nil {
		t.Error(err)
	}
	acme.Permit(without(granted(), "members", "workflows", "administration"))
	if err := check(); err != nil {
		t.Errorf("without what is optional: %v", err)
	}
	less := without(granted(), "statuses")
	less["pull_requests"] = "read"
	acme.Permit(less)
	settings := fmt.Sprintf("%s/organizations/acme/settings/installations/%d", w.URL(), acme.ID())
	want := "the installation of the App promoter at acme lacks Pull requests: read and write, Commit statuses: read and write: " +
		"an owner of acme accepts the App's new permissions at " + settings
	if err := check(); fault.KindOf(err) != fault.Unauthorized || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	acme.Suspend()
	if err := check(); fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), "is suspended: an owner of acme lets it work again at "+settings) {
		t.Errorf("suspended: %v", err)
	}
}

// A permission that the App itself does not request cannot be accepted by any user.
func TestApp_checkAsksTheOwnerOfTheApp(t *testing.T) {
	t.Parallel()
	w := newAppWorld(t)
	w.of.Ask(without(granted(), "checks"))
	w.of.Install("acme")
	all, err := w.app.Installations(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = w.app.Check(t.Context(), all[0])
	if words := "lacks Checks: read-only: the owner of the App adds it at " + w.URL() + "/settings/apps/promoter/permissions, then an owner of acme accepts"; err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("got %v, want %q", err, words)
	}
}

func TestInstalled_repositories(t *testing.T) {
	t.Parallel()
	w := newAppWorld(t)
	for i := range 101 {
		w.NewRepository(fmt.Sprintf("acme/r%d", i), nil)
	}
	w.NewRepository("acme/config", map[string]string{".promoter.yaml": "version: 1\n"}).Settings.SetArchived(true)
	w.NewRepository("globex/private", map[string]string{".promoter.yaml": "version: 1\n"})
	forge := use(t, w.app, w.of.Install("acme"))
	all, err := forge.Repositories(t.Context())
	if err != nil || len(all) != 102 {
		t.Fatalf("%d repositories, %v", len(all), err)
	}
	if last := all[101]; last.Name != "acme/config" || !last.Archived || last.Branch != "main" || all[0].Archived {
		t.Errorf("got %+v", last)
	}
	for name, want := range map[string]bool{"acme/config": true, "acme/r0": false, "globex/private": false} {
		if got, err := forge.Holds(t.Context(), name, ".promoter.yaml"); got != want || err != nil {
			t.Errorf("%s: %t, %v", name, got, err)
		}
	}
	if _, err := forge.Holds(t.Context(), "acme", ".promoter.yaml"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a name without an owner gives %v", err)
	}
}

// A token is requested with the permissions of the table, whatever else the App may
// do.
func TestInstalled_leastPermissions(t *testing.T) {
	t.Parallel()
	w := newAppWorld(t)
	more := granted()
	more["issues"], more["checks"], more["secrets"] = "write", "write", "write"
	w.of.Ask(more)
	repository := w.NewRepository("acme/gitops", nil)
	acme := w.of.Install("acme")
	forge := use(t, w.app, acme)
	if _, err := forge.Open(t.Context(), repository.Settings.Name()); err != nil {
		t.Fatal(err)
	}
	for _, held := range acme.TokenPermissions() {
		for name, access := range held {
			if granted()[name] != access {
				t.Errorf("a token holds %s=%s", name, access)
			}
		}
	}
	if n := len(acme.TokenPermissions()); n != 1 {
		t.Errorf("%d tokens", n)
	}
}
