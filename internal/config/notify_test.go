package config_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/config"
)

// The narrowest list of notifications applies, and replaces the others.
func TestSettings_notifyByTheNarrowestList(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/valid/notify.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c := mustLoad(t, string(data))
	all := []config.NotifyEvent{
		config.NotifyVersion, config.NotifyWaiting, config.NotifyProposed, config.NotifyLanded, config.NotifyHealthy, config.NotifyFailed, config.NotifyReverted,
	}
	for target, want := range map[[2]string]map[string][]config.NotifyEvent{
		{"stage", "web"}: {"releases": {config.NotifyProposed, config.NotifyLanded}},
		{"dev", "web"}:   {},
		{"dev", "pay"}:   {"payments": {config.NotifyFailed}},
		{"prod", "web"}:  {"ops": all, "pager": {config.NotifyFailed}},
		{"prod", "pay"}:  {"payments": {config.NotifyLanded}},
	} {
		if diff := cmp.Diff(want, c.Settings(target[0], target[1]).Destinations()); diff != "" {
			t.Errorf("%v: (-want +got):\n%s", target, diff)
		}
	}
	if diff := cmp.Diff([]string{"ops", "pager", "payments", "releases"}, c.NotifyDestinations()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
