package gitlab_test

import (
	"testing"

	"promoter/internal/scm/gitlab/gitlabtest"
	"promoter/internal/scm/scmtest"
)

func TestRequests_perCall(t *testing.T) {
	t.Parallel()
	scmtest.Costs(t, func(t *testing.T) (scmtest.Bench, scmtest.Counter) {
		b, made := newBench(t, gitlabtest.Options{})
		return made, b.Traffic
	}, map[string][]string{
		"open the repository":         {"GET /projects/{id}"},                   // and once per forge the account
		"list what is open":           {"GET /projects/{id}/merge_requests ×2"}, // opened and locked
		"create":                      {"POST /projects/{id}/merge_requests"},
		"create with everything":      {"GET /users ×2", "POST /projects/{id}/merge_requests"},
		"edit":                        {"PUT /projects/{id}/merge_requests/{iid}"},
		"edit with a label":           {"PUT /projects/{id}/merge_requests/{iid}"},
		"what became of a closed one": {"GET /projects/{id}/merge_requests", "GET /projects/{id}/repository/commits/{sha}"},
		"merge":                       {"GET /projects/{id}", "PUT /projects/{id}/merge_requests/{iid}/merge"},
		"checks":                      {"GET /projects/{id}/repository/commits/{sha}/statuses"},
		"a first status":              {"GET /projects/{id}/repository/commits/{sha}/statuses", "POST /projects/{id}/statuses/{sha}"},
		"a status after the checks":   {"POST /projects/{id}/statuses/{sha}"},
		"no reviews":                  {"GET /projects/{id}/merge_requests/{iid}/approvals", "GET /projects/{id}/merge_requests/{iid}/notes"},
		"an approval": {
			"GET /projects/{id}/members/all/{user}", "GET /projects/{id}/merge_requests/{iid}/approvals",
			"GET /projects/{id}/merge_requests/{iid}/notes", "GET /projects/{id}/merge_requests/{iid}/versions", "GET /users/{user}",
		},
		"a comment":              {"GET /projects/{id}/merge_requests/{iid}/notes", "POST /projects/{id}/merge_requests/{iid}/notes"},
		"the same comment":       {"GET /projects/{id}/merge_requests/{iid}/notes"},
		"the pushes of a branch": {"GET /projects/{id}/events"},
		"the members of a team":  {"GET /groups/{id}/members/{user}", "GET /users"},
		"the rules of a branch": {
			"GET /projects/{id}", "GET /projects/{id}/approval_rules", "GET /projects/{id}/approvals",
			"GET /projects/{id}/push_rule", "GET /projects/{id}/repository/branches/{branch}",
		},
	})
}
