package gitlab_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/scm"
	"promoter/internal/scm/gitlab/gitlabtest"
)

// A project without pipelines gets no status, and GitLab disables webhooks that fail.
func TestInspect(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	b.project.AddHook("https://promoter.example.com/webhooks/lab", "temporarily_disabled")
	b.project.AddHook("https://promoter.example.com/webhooks/other", "executable")
	b.project.AddHook("https://promoter.example.com.evil.example/x", "disabled")
	inspect := func() []string {
		t.Helper()
		notices, err := b.open(t).(scm.Inspected).Inspect(t.Context(), "https://promoter.example.com")
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, one := range notices {
			all = append(all, one.Message)
		}
		return all
	}
	none := "it has no pipelines: the status promoter is not set on its merge requests"
	if diff := cmp.Diff([]string{none}, inspect()); diff != "" { // a Developer may not read webhooks
		t.Error(diff)
	}
	b.project.Settings.Permit(gitlabtest.Self, gitlabtest.Maintainer)
	b.project.AddPipeline(b.push("image: web:2\n"), branch)
	want := []string{"GitLab disabled its webhook to the service after failures: it is temporarily disabled"}
	if diff := cmp.Diff(want, inspect()); diff != "" {
		t.Error(diff)
	}
}
