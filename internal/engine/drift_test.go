package engine_test

import (
	"strings"
	"testing"

	"promoter/internal/engine/enginetest"
)

// A pull request lists what it does not change, and no other one does.
func TestReconcile_driftInPullRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.Git.Commit("main", enginetest.Human, w.Clock.Now(), "Add a cache", func(all map[string]string) {
		for environment, tag := range map[string]string{"dev": "7.2", "staging": "7.0", "prod": "7.0"} {
			all[environment+"/shop.txt"] += "docker.io/library/redis:" + tag + "\n"
		}
	})
	report := w.pushAndRun(web, "1.1.0")
	const line = "no component follows redis: dev has 7.2 (dev/shop.txt:3), and staging has 7.0 (staging/shop.txt:3)"
	if body := w.pull(1).Body; !strings.Contains(body, "**Not changed here:**\n\n- "+line+"\n") {
		t.Errorf("the pull request has\n%s", body)
	}
	if len(report.Drift) != 1 || report.Drift[0].String() != line {
		t.Errorf("reported %+v", report.Drift)
	}
	w.calm()
	w.mergeByHand(1, "merge")
	w.run()
	if body := w.pull(2).Body; strings.Contains(body, "Not changed here") {
		t.Errorf("that for prod, which has the same one as staging, has\n%s", body)
	}
}
