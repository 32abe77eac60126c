package config_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The narrowest list of notifications applies, and replaces the others.
func TestSettings_notifyByTheNarrowestList(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/valid/notify.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c := mustLoad(t, string(data))
	all := []string{"version", "waiting", "proposed", "stuck", "landed", "healthy", "failed", "reverted"}
	for target, want := range map[[2]string]map[string][]string{
		{"stage", "web"}: {"releases": {"proposed", "landed"}},
		{"dev", "web"}:   {},
		{"dev", "pay"}:   {"payments": {"failed"}},
		{"prod", "web"}:  {"ops": all, "pager": {"failed"}},
		{"prod", "pay"}:  {"payments": {"landed"}},
	} {
		if diff := cmp.Diff(want, c.Settings(target[0], target[1]).Destinations()); diff != "" {
			t.Errorf("%v: (-want +got):\n%s", target, diff)
		}
	}
	if diff := cmp.Diff([]string{"ops", "pager", "payments", "releases"}, c.NotifyDestinations()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
