package github

import (
	"testing"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

// GitHub would merge in these states only, and "unknown" ends once it has computed it.
func TestReady_readsTheComputedState(t *testing.T) {
	t.Parallel()
	const path = "GET " + repoPath + "/pulls/7"
	for state, want := range map[string]bool{
		"clean": true, "unstable": true, "has_hooks": true,
		"blocked": false, "behind": false, "dirty": false, "draft": false, "unknown": false, "": false, "new": false,
	} {
		for _, status := range []string{"open", "closed"} {
			w := newWire(t)
			w.on(path, says(200, `{"number":7,"state":"`+status+`","mergeable_state":"`+state+`"}`))
			got, err := w.open().(scm.Readiness).Ready(t.Context(), 7)
			if err != nil || got != (want && status == "open") {
				t.Errorf("%s, %s: %v, %v", state, status, got, err)
			}
			conflicts, err := w.open().(scm.Conflicting).Conflicts(t.Context(), 7)
			if err != nil || conflicts != (state == "dirty" && status == "open") {
				t.Errorf("%s, %s: conflicts %v, %v", state, status, conflicts, err)
			}
			w.expect(path)
		}
	}
	w := newWire(t)
	w.on(path, says(502, ``))
	_, err := w.open().(scm.Readiness).Ready(t.Context(), 7)
	checkFault(t, err, fault.Temporary, "pull request 7 of acme/deploy")
}
