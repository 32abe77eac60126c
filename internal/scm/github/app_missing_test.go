package github_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/scm/github"
)

// An App that requests the whole table, and subscribes to the events of a manifest,
// lacks nothing.
func TestApp_lacksNothing(t *testing.T) {
	t.Parallel()
	w := newAppWorld(t)
	w.of.Subscribe(github.EventsOf(github.Permissions())...)
	got, err := w.app.Missing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := github.Missing{App: "promoter", At: w.URL() + "/settings/apps/promoter/permissions"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What the App does not request is listed by name: what is always required, what is
// required in some cases, and the events that it may subscribe to. Permissions on
// request are not included.
func TestApp_lacks(t *testing.T) {
	t.Parallel()
	w := newAppWorld(t)
	asked := maps.Clone(granted())
	asked["contents"], asked["issues"] = "read", "read"
	for _, name := range []string{"statuses", "packages", "workflows", "administration"} {
		delete(asked, name)
	}
	w.of.Ask(asked)
	w.of.Subscribe("push", "create", "delete", "release", "pull_request", "check_run", "check_suite", "star")
	got, err := w.app.Missing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range got.Always {
		names = append(names, p.String())
	}
	names = append(names, "|")
	for _, p := range got.Sometimes {
		names = append(names, p.String())
	}
	names = append(names, "|")
	names = append(names, got.Events...)
	const want = "Contents: read and write, Commit statuses: read and write, |, Issues: read and write, Packages: read-only, |, " +
		"pull_request_review, pull_request_review_thread, issue_comment, repository, deployment_status"
	if diff := cmp.Diff(want, strings.Join(names, ", ")); diff != "" {
		t.Error(diff)
	}
}
