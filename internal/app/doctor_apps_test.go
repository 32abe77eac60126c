package app_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"promoter/internal/scm/github"
	"promoter/internal/scm/github/githubtest"
)

// doctor checks the server file of an orchard, and returns a line for each finding
// about its forge.
func (o *orchard) doctor(more string) string {
	o.t.Helper()
	if _, err := o.open(more); err != nil { // which writes the file
		o.t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(checked(o.t, filepath.Join(o.dir, "server.yaml"), environ("HOOK", serveSecret), o.now)) {
		if verdict, finding, about := strings.Cut(strings.TrimSpace(line), " forge github: "); about {
			lines = append(lines, verdict+": "+finding)
		}
	}
	return strings.Join(lines, "\n")
}

// An operator created the App manually, or before promoter needed a permission.
func TestDoctor_app(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	receivers := fmt.Sprintf("data: %q\nreceivers:\n  github: {kind: github, secret: \"env:HOOK\"}\n", filepath.Join(o.dir, "data"))
	all := github.EventsOf(github.Permissions())
	o.app.Subscribe(all...)
	const right = "ok: the App promoter asks for the permissions that are needed ()\n" +
		"ok: the App promoter subscribes to the events that are needed ()"
	if got := o.doctor(receivers); got != right {
		t.Errorf("with all of it:\n%s", got)
	}

	less := maps.Clone(needed())
	less["checks"], less["issues"] = "none", "read"
	o.app.Ask(less)
	o.app.Subscribe(slices.DeleteFunc(slices.Clone(all), func(event string) bool { return event == "issue_comment" || event == "check_run" })...)
	page := o.github.URL() + "/settings/apps/promoter/permissions"
	want := "fail: the App promoter does not ask for permissions that are always needed: Checks: read-only (add them at " + page + ", then an owner of each account accepts them)\n" +
		"warn: the App promoter does not ask for permissions that are needed sometimes: Issues: read and write (if a config names labels that do not exist yet, or users write commands in comments) (if so, add them at " + page + ", then an owner of each account accepts them)\n" +
		"warn: the App promoter does not subscribe to issue_comment: what they report is found only by the poll, every 5m0s (tick them at " + page + ", unless a webhook of the organization or the repositories sends them)"
	if got := o.doctor(receivers); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// Without a receiver none of its webhooks would be accepted.
	if got := o.doctor(fmt.Sprintf("data: %q\n", filepath.Join(o.dir, "data"))); strings.Contains(got, "subscribe") {
		t.Errorf("nobody hears webhooks:\n%s", got)
	}
}

// A config names a team that the App may not read, the rules of the organization reject
// commits that are not signed, and the plan of another repository has no rulesets.
func TestDoctor_whatTheRepositoryLacks(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	o.repository("acme/gitops", webIn("pr, pullRequest: {reviewers: [\"team:acme/sre\"]}")).
		Rule("", githubtest.Ruleset{Demands: githubtest.Demands{Signed: true}})
	o.repository("acme/free", webIn("pr")).WithoutRulesets()
	less := maps.Clone(needed())
	delete(less, "members")
	o.app.Install("acme").Permit(less)
	if _, err := o.open(""); err != nil { // which writes the file
		t.Fatal(err)
	}
	got := checked(t, filepath.Join(o.dir, "server.yaml"), environ(), o.now)
	for _, want := range []string{
		"warn repository acme/gitops: environment dev names team:acme/sre: its review is not requested, and its members are unknown: the installation of the App lacks the permission Members (organization): read-only",
		"fail repository acme/gitops: no pull request can be opened: a ruleset requires signed commits on promoter/dev/example, and promoter signs none",
		"ok repository acme/free: its plan has no rulesets: Upgrade to GitHub Pro",
	} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%s is missing in\n%s", want, got)
		}
	}

	// Commits that GitHub signs are accepted.
	if _, err := o.open(asApp); err != nil {
		t.Fatal(err)
	}
	got = checked(t, filepath.Join(o.dir, "server.yaml"), environ(), o.now)
	if !strings.Contains(got, "ok signing: GitHub makes and signs the commits in repositories of a GitHub App") || strings.Contains(got, "signed commits") {
		t.Error(got)
	}
}
