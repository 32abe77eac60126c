package gitlab

import (
	"testing"

	gogitlab "github.com/xanzy/go-gitlab"
)

// An approval rule is about all branches, about the protected ones, or about some.
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
