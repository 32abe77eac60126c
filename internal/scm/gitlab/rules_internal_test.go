package gitlab

import (
	"net/http"
	"strings"
	"testing"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/scm"
)

// An approval rule applies to all branches, to protected branches, or to some
// branches.
func TestLooking_appliesTo(t *testing.T) {
	t.Parallel()
	some := &gogitlab.ProjectApprovalRule{ProtectedBranches: []*gogitlab.ProtectedBranch{{Name: "env/*"}}}
	for _, test := range []struct {
		rule      *gogitlab.ProjectApprovalRule
		branch    string
		protected bool
		want      bool
	}{
		{&gogitlab.ProjectApprovalRule{}, "main", false, true},
		{&gogitlab.ProjectApprovalRule{AppliesToAllProtectedBranches: true}, "main", false, false},
		{&gogitlab.ProjectApprovalRule{AppliesToAllProtectedBranches: true}, "main", true, true},
		{some, "main", true, false},
		{some, "env/prod", true, true},
	} {
		look := &looking{branch: test.branch, protected: test.protected}
		if got := look.applies(test.rule); got != test.want {
			t.Errorf("%+v applies to %s: %t", test.rule, test.branch, got)
		}
	}
}

// A feature that is not licensed, or that a token may not use, does not hide other
// rules: the token was valid for the project itself.
func TestRules_refusedParts(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		refused := says(status, `{"message":"401 Unauthorized"}`)
		repo := opened(t, map[string]http.HandlerFunc{
			"GET /projects/42":                          says(200, `{"id":42,"path_with_namespace":"acme/deploy","merge_method":"ff"}`),
			"GET /projects/42/repository/branches/main": says(200, `{"name":"main","protected":true,"can_push":false}`),
			"GET /projects/42/protected_branches":       says(200, `[{"name":"main","code_owner_approval_required":true}]`),
			"GET /projects/42/approval_rules":           refused,
			"GET /projects/42/approvals":                refused,
			"GET /projects/42/push_rule":                refused,
		})
		rules, err := repo.(scm.Ruled).Rules(t.Context(), "main")
		if err != nil || !rules.Owners || !rules.Current || !rules.PullRequests || !strings.Contains(rules.Hidden, "approval rules") {
			t.Errorf("%d: %+v, %v", status, rules, err)
		}
	}
}
