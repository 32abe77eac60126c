package github

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

const (
	pullPath  = "GET " + repoPath + "/pulls/7"
	mergePath = "PUT " + repoPath + "/pulls/7/merge"
)

var merging = scm.Merge{Head: head, Title: "T", Message: "M\n\nPromoter-Snapshot: 1"}

// The branch allows fewer methods than its repository.
func TestMerge_nextMethod(t *testing.T) {
	t.Parallel()
	for _, words := range []string{
		"Merge commits are not allowed on this repository.", `Repository rule violations found\n\nThis branch must not contain merge commits.`,
		`Repository rule violations found\n\nThe merge method 'merge' is not allowed.`,
	} {
		w := newWire(t)
		pulls := w.open().PullRequests()
		w.on(mergePath, says(405, `{"message":"`+words+`"}`), says(200, `{"sha":"`+mergeOf+`","merged":true}`))
		if _, err := pulls.Merge(t.Context(), 7, merging); err != nil {
			t.Error(err)
		}
		w.expect(mergePath, mergePath)
		w.on(mergePath, says(422, `{"message":"`+words+`"}`)) // so says an emulator, and who knows
		_, err := pulls.Merge(t.Context(), 7, merging)
		checkFault(t, err, fault.Unauthorized, "merge of pull request 7 of acme/deploy", "422")
		w.expect(mergePath, mergePath, mergePath)
	}
}

func TestMerge_refusals(t *testing.T) {
	t.Parallel()
	state := func(state string) string { return pullJSON(7, `,"mergeable":true,"mergeable_state":"`+state+`"`) }
	merged := `,"merged":true,"merged_at":"2026-06-01T11:00:00Z","merge_commit_sha":"` + mergeOf + `"`
	moved := strings.Replace(state("clean"), head, otherHead, 1)
	for _, test := range []struct {
		name   string
		status int
		words  string
		look   string
		kind   fault.Kind
		want   string
	}{
		{"head moved", 409, "Head branch was modified. Review and try the merge again.", moved, fault.Conflict, "its head is 222222222222 now"},
		{"head moved, and back", 409, "Head branch was modified. Review and try the merge again.", state("clean"), fault.Conflict, "Head branch was modified"},
		{"head moved, in other words", 405, "Head branch was modified. Review and try the merge again.", state("clean"), fault.Conflict, ""},
		{"head moved, of an emulator", 422, "sha does not match", moved, fault.Conflict, ""},
		{"base moved", 405, "Base branch was modified. Review and try the merge again.", state("unknown"), fault.Temporary, "Base branch was modified"},
		{"closed", 405, "Pull Request is not mergeable", strings.Replace(state("unknown"), `"state":"open"`, `"state":"closed"`, 1), fault.Conflict, "closed"},
		{"conflicts", 405, "Pull Request is not mergeable", state("dirty"), fault.Temporary, "out of date"},
		{"behind", 405, "Pull Request is not mergeable", state("behind"), fault.Temporary, "out of date"},
		{"computing", 405, "Pull Request is not mergeable", pullJSON(7, `,"mergeable":null,"mergeable_state":"unknown"`), fault.Temporary, "computing"},
		{"blocked", 405, "Pull Request is not mergeable", state("blocked"), fault.Unauthorized, "its state is blocked"},
		{"draft", 405, "Pull Request is still a draft", state("draft"), fault.Unauthorized, "still a draft"},
		{"review", 405, "At least 1 approving review is required by reviewers with write access.", state("blocked"), fault.Unauthorized, "approving review"},
		{"check", 405, `Required status check \"ci\" is expected.`, state("blocked"), fault.Unauthorized, "ci"},
		{"check runs", 405, `Required status check \"ci\" is in progress.`, state("blocked"), fault.Unauthorized, "in progress"},
		{"queue", 405, "Changes must be made through the merge queue", state("blocked"), fault.Unauthorized, "merge queue"},
		{"protected", 405, "You're not authorized to push to this branch.", state("blocked"), fault.Unauthorized, "not authorized"},
		{"another merge", 405, "Merge already in progress", state("clean"), fault.Temporary, ""},
		{"accident", 500, "Server Error", state("clean"), fault.Temporary, "500"},
		{"merged already", 405, "Pull Request is not mergeable", strings.Replace(state("unknown"), `"state":"open"`, `"state":"closed"`+merged, 1), "", ""},
		{"merged with another head", 405, "Pull Request is not mergeable", strings.Replace(moved, `"state":"open"`, `"state":"closed"`+merged, 1), fault.Conflict, ""},
		{"merged, and then an accident", 502, "", strings.Replace(state("unknown"), `"state":"open"`, `"state":"closed"`+merged, 1), "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWire(t)
			pulls := w.open().PullRequests()
			w.on(mergePath, says(test.status, `{"message":"`+test.words+`"}`))
			w.on(pullPath, says(200, test.look))
			got, err := pulls.Merge(t.Context(), 7, merging)
			checkFault(t, err, test.kind, test.want)
			if behind := test.want == "out of date"; errors.Is(err, scm.ErrBehind) != behind {
				t.Errorf("behind: %v: %v", !behind, err)
			}
			if test.kind == "" && got != (scm.Merged{Commit: mergeOf, At: noon.Add(-3600e9)}) {
				t.Errorf("got %v", got)
			}
			w.expect(mergePath, pullPath)
		})
	}
}

func TestMerge_lostAnswer(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	pulls := w.open().PullRequests()
	w.on(mergePath, breaks)
	w.on(pullPath, says(200, pullJSON(7, `,"merged":true,"merged_at":"2026-06-01T11:00:00Z","merge_commit_sha":"`+mergeOf+`"`)))
	if got, err := pulls.Merge(t.Context(), 7, merging); err != nil || got.Commit != mergeOf {
		t.Errorf("got %v, %v", got, err)
	}
	w.expect(mergePath, pullPath)

	for name, look := range map[string]http.HandlerFunc{"not merged": says(200, pullJSON(7, "")), "no answer either": breaks} {
		w.on(pullPath, look)
		if got, err := pulls.Merge(t.Context(), 7, merging); fault.KindOf(err) != fault.Temporary {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}

// A pull request that the credential cannot access is not read.
func TestMerge_noLook(t *testing.T) {
	t.Parallel()
	for status, kind := range map[int]fault.Kind{401: fault.Unauthorized, 403: fault.Unauthorized, 404: fault.NotFound, 429: fault.RateLimited} {
		w := newWire(t)
		pulls := w.open().PullRequests()
		w.on(mergePath, says(status, `{"message":"no"}`))
		_, err := pulls.Merge(t.Context(), 7, merging)
		checkFault(t, err, kind, "merge of pull request 7 of acme/deploy")
		w.expect(mergePath)
	}
}
