package github

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

const (
	rulesPath      = "GET " + repoPath + "/rules/branches/main"
	branchPath     = "GET " + repoPath + "/branches/main"
	protectionPath = branchPath + "/protection"
	rulesetPath    = "GET " + repoPath + "/rulesets/9"
	unprotected    = `{"name":"main","protected":false,"protection":{"enabled":false,"required_status_checks":{"enforcement_level":"off","contexts":[],"checks":[]}}}`
	guarded        = `{"name":"main","protected":true,"protection":{"enabled":true,"required_status_checks":{"enforcement_level":"non_admins","contexts":["ci"],"checks":[]}}}`
)

// ruledWire has rules for main, and no classic protection.
func ruledWire(t *testing.T, rules string) *wire {
	t.Helper()
	w := newWire(t)
	w.on(rulesPath, says(200, rules))
	w.on(branchPath, says(200, unprotected))
	w.on(rulesetPath, says(200, `{"id":9,"name":"rules","current_user_can_bypass":"never"}`))
	return w
}

func ruled(t *testing.T, repository scm.Repository) scm.Rules {
	t.Helper()
	rules, err := repository.(scm.Ruled).Rules(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

const someRules = `[
{"type":"deletion","ruleset_id":9},
{"type":"pull_request","ruleset_id":9,"parameters":{"required_approving_review_count":1,"require_code_owner_review":true,"require_last_push_approval":false}},
{"type":"pull_request","ruleset_id":8,"parameters":{"required_approving_review_count":2,"require_code_owner_review":false,"require_last_push_approval":true,"allowed_merge_methods":["squash","rebase"]}},
{"type":"required_status_checks","ruleset_id":9,"parameters":{"required_status_checks":[{"context":"ci","integration_id":7},{"context":"e2e"}],"strict_required_status_checks_policy":true}},
{"type":"a_kind_of_tomorrow","ruleset_id":9,"parameters":{"required_status_checks":[{"context":"none"}]}}]`

func TestRules_rulesets(t *testing.T) {
	t.Parallel()
	w := ruledWire(t, someRules)
	want := scm.Rules{Checks: []string{"ci", "e2e"}, Sources: map[string]string{"ci": "7"}, Approvals: 2, Owners: true, NotByPusher: true, Current: true, PullRequests: true}
	if diff := cmp.Diff(want, ruled(t, w.open())); diff != "" {
		t.Error(diff)
	}
	w.expect(rulesPath, branchPath) // rulesets are only read if necessary
}

func TestRules_none(t *testing.T) {
	t.Parallel()
	w := ruledWire(t, `[]`)
	if diff := cmp.Diff(scm.Rules{}, ruled(t, w.open())); diff != "" {
		t.Error(diff)
	}
	w.on(rulesPath, says(404, `{"message":"Not Found"}`)) // an old server
	if diff := cmp.Diff(scm.Rules{}, ruled(t, w.open())); diff != "" {
		t.Error(diff)
	}
}

// A user who may bypass a ruleset may ignore its form, but nothing else.
func TestRules_bypass(t *testing.T) {
	t.Parallel()
	for answer, bound := range map[string]bool{
		`"never"`: true, `"always"`: false, `"pull_requests_only"`: false, `"exempt"`: false, `null`: true,
	} {
		w := ruledWire(t, `[{"type":"merge_queue","ruleset_id":9},{"type":"required_signatures","ruleset_id":9},{"type":"required_linear_history","ruleset_id":9},
{"type":"pull_request","ruleset_id":9,"parameters":{"required_approving_review_count":1}}]`)
		w.on(rulesetPath, says(200, `{"id":9,"current_user_can_bypass":`+answer+`}`))
		want := scm.Rules{Queue: bound, Signed: bound, Linear: bound, Approvals: 1, PullRequests: true}
		if diff := cmp.Diff(want, ruled(t, w.open())); diff != "" {
			t.Error(answer, diff)
		}
		w.expect(rulesPath, rulesetPath, branchPath)
		w.on(rulesetPath, says(403, `{"message":"no"}`))
		if !ruled(t, w.open()).Queue {
			t.Error("what cannot be read does not hold")
		}
	}
}

func TestRules_classic(t *testing.T) {
	t.Parallel()
	w := ruledWire(t, `[]`)
	w.on(branchPath, says(200, guarded))
	got := ruled(t, w.open())
	if !cmp.Equal(got.Checks, []string{"ci"}) || !strings.Contains(got.Hidden, "administrator") || got.Approvals != 0 {
		t.Errorf("%+v", got)
	}
	w.expect(rulesPath, branchPath)

	w.on("GET "+repoPath, says(200, strings.Replace(repositoryJSON, `"push":true`, `"push":true,"admin":true`, 1)))
	w.on(protectionPath, says(200, `{"required_status_checks":{"strict":true,"contexts":["ci"]},"required_linear_history":{"enabled":true},
"required_signatures":{"url":"","enabled":true},"required_pull_request_reviews":{"required_approving_review_count":2,"require_code_owner_reviews":true,"require_last_push_approval":true}}`))
	want := scm.Rules{
		Checks: []string{"ci"}, Approvals: 2, Owners: true, NotByPusher: true, Current: true, Signed: true, Linear: true, PullRequests: true,
	}
	if diff := cmp.Diff(want, ruled(t, w.open())); diff != "" {
		t.Error(diff)
	}
	w.expect(rulesPath, branchPath, protectionPath)
	for _, status := range []int{403, 404} {
		w.on(protectionPath, says(status, `{"message":"no"}`))
		if ruled(t, w.open()).Hidden == "" {
			t.Error(status)
		}
	}
	w.on(protectionPath, says(502, ``))
	_, err := w.open().(scm.Ruled).Rules(t.Context(), "main")
	checkFault(t, err, fault.Temporary, "rules of branch main of acme/deploy")
}

func TestRules_faults(t *testing.T) {
	t.Parallel()
	w := ruledWire(t, `[]`)
	for status, kind := range map[int]fault.Kind{401: fault.Unauthorized, 403: fault.Unauthorized, 404: "", 500: fault.Temporary} {
		w.on(branchPath, says(status, `{"message":"no"}`))
		_, err := w.open().(scm.Ruled).Rules(t.Context(), "main")
		checkFault(t, err, kind, "rules of branch main of acme/deploy")
	}
	w.on(rulesPath, says(500, ``))
	_, err := w.open().(scm.Ruled).Rules(t.Context(), "main")
	checkFault(t, err, fault.Temporary, "rules of branch main")
}

// A branch with slashes is one path segment of the URL.
func TestRules_branchWithSlashes(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	var raw []string
	answer := func(text string) http.HandlerFunc {
		return func(out http.ResponseWriter, r *http.Request) {
			raw = append(raw, r.URL.EscapedPath())
			says(200, text)(out, r)
		}
	}
	w.on("GET "+repoPath+"/rules/branches/env/prod", answer(`[]`))
	w.on("GET "+repoPath+"/branches/env/prod", answer(unprotected))
	if _, err := w.open().(scm.Ruled).Rules(t.Context(), "env/prod"); err != nil || !strings.HasSuffix(raw[0], "/env%2Fprod") || !strings.HasSuffix(raw[1], "/env%2Fprod") {
		t.Errorf("asked for %v: %v", raw, err)
	}
}

// The method is the first one that both the repository and the rules allow.
func TestMerge_methodByTheRules(t *testing.T) {
	t.Parallel()
	const signed, linear = `{"type":"required_signatures","ruleset_id":9}`, `{"type":"required_linear_history","ruleset_id":9}`
	onlyMerge := `{"type":"pull_request","ruleset_id":9,"parameters":{"allowed_merge_methods":["merge"]}}`
	for _, test := range []struct{ allowed, rules, want, stuck string }{
		{"merge rebase squash", "", "merge", ""},
		{"squash", "", "squash", ""},
		{"rebase", "", "rebase", ""},
		{"merge rebase squash", linear, "rebase", ""},
		{"merge squash", linear, "squash", ""},
		{"merge rebase squash", signed, "squash", ""},
		{"merge rebase squash", signed + "," + linear, "squash", ""},
		{"merge rebase", signed, "", "main wants signed commits"},
		{"merge", linear, "", "main wants a linear history"},
		{"squash", onlyMerge, "", "no common method"},
		{"", "", "", "no merge method"},
	} {
		w := ruledWire(t, "["+test.rules+"]")
		text := strings.TrimSuffix(repositoryJSON, "}")
		for method, key := range map[string]string{"merge": "allow_merge_commit", "rebase": "allow_rebase_merge", "squash": "allow_squash_merge"} {
			text += `,"` + key + `":` + map[bool]string{true: "true", false: "false"}[strings.Contains(test.allowed, method)]
		}
		w.on("GET "+repoPath, says(200, text+"}"))
		w.on(mergePath, says(200, `{"sha":"`+mergeOf+`","merged":true}`))
		repository := w.open()
		if got := ruled(t, repository).Stuck; !strings.Contains(got, test.stuck) || (got == "") != (test.stuck == "") {
			t.Errorf("%+v: stuck by %q", test, got)
		}
		w.requests()
		into := merging
		into.Base = "main"
		_, err := repository.PullRequests().Merge(t.Context(), 7, into)
		if asked, bodies := w.requests(); test.want == "" {
			checkFault(t, err, fault.Unauthorized, "no merge method")
			if len(asked) != 0 {
				t.Errorf("%+v: asked for %v", test, asked)
			}
		} else if err != nil || len(bodies) != 1 {
			t.Errorf("%+v: sent %v, %v", test, bodies, err)
		} else if diff := cmp.Diff(wanted(test.want), decode(t, bodies[0])); diff != "" {
			t.Errorf("%+v: %s", test, diff)
		}
	}
}

// wanted returns the body of a merge. GitHub takes no message for a rebase.
func wanted(method string) map[string]any {
	sent := map[string]any{"sha": head, "merge_method": method}
	if method != "rebase" {
		sent["commit_title"], sent["commit_message"] = merging.Title, merging.Message
	}
	return sent
}

// If signatures turn out to be required without a known rule, squash is used, which
// GitHub signs.
func TestMerge_signedFoundOut(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	pulls := w.open().PullRequests()
	w.on(mergePath, says(405, `{"message":"Commits must have verified signatures."}`),
		says(405, `{"message":"Base branch requires signed commits. Rebase merges cannot be automatically signed by GitHub"}`),
		says(200, `{"sha":"`+mergeOf+`","merged":true}`))
	if _, err := pulls.Merge(t.Context(), 7, merging); err != nil {
		t.Error(err)
	}
	_, bodies := w.requests()
	if len(bodies) != 3 || decode(t, bodies[2])["merge_method"] != "squash" {
		t.Error(bodies)
	}
}

// GitHub's messages are distinguished, and returned without their prefix.
func TestMerge_refusedByARule(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]scm.RefusedError{
		`Repository rule violations found\n\nChanges must be made through the merge queue\n\n`: {Rule: scm.RuleQueue, Words: "Changes must be made through the merge queue"},
		`Commits must have verified signatures.`:                                               {Rule: scm.RuleSigned, Words: "Commits must have verified signatures."},
		`This branch must not contain merge commits.`:                                          {Rule: scm.RuleLinear, Words: "This branch must not contain merge commits."},
		`A conversation must be resolved before this pull request can be merged.`:              {Words: "A conversation must be resolved before this pull request can be merged."},
	} {
		w := newWire(t)
		pulls := w.open().PullRequests()
		w.on(mergePath, says(405, `{"message":"`+words+`"}`))
		w.on(pullPath, says(200, pullJSON(7, `,"mergeable_state":"blocked"`)))
		_, err := pulls.Merge(t.Context(), 7, merging)
		checkFault(t, err, fault.Unauthorized, want.Words)
		if told, ok := errors.AsType[*scm.RefusedError](err); !ok || *told != want {
			t.Errorf("%q: %+v", words, told)
		}
	}
}
