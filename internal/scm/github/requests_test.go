package github_test

import (
	"testing"

	"promoter/internal/scm/scmtest"
)

func TestRequests_perCall(t *testing.T) {
	t.Parallel()
	scmtest.Costs(t, func(t *testing.T) (scmtest.Bench, scmtest.Counter) {
		b, made := newServerBench(t)
		return made, b.Traffic
	}, map[string][]string{
		"open the repository": {"GET /repos/{owner}/{repo}"}, // and once per forge the account
		"list what is open":   {"GET /repos/{owner}/{repo}/pulls"},
		"create":              {"POST /repos/{owner}/{repo}/pulls"},
		"create with everything": {
			"POST /repos/{owner}/{repo}/issues/{number}/assignees", "POST /repos/{owner}/{repo}/issues/{number}/labels",
			"POST /repos/{owner}/{repo}/pulls", "POST /repos/{owner}/{repo}/pulls/{number}/requested_reviewers",
		},
		"edit":              {"PATCH /repos/{owner}/{repo}/pulls/{number}"},
		"edit with a label": {"PATCH /repos/{owner}/{repo}/pulls/{number}", "POST /repos/{owner}/{repo}/issues/{number}/labels"},
		"what became of a closed one": {
			"GET /repos/{owner}/{repo}/git/commits/{sha}", "GET /repos/{owner}/{repo}/issues/{number}", "GET /repos/{owner}/{repo}/pulls",
		},
		"merge":                     {"PUT /repos/{owner}/{repo}/pulls/{number}/merge"},
		"checks":                    {"GET /repos/{owner}/{repo}/commits/{ref}/check-runs", "GET /repos/{owner}/{repo}/commits/{ref}/statuses"},
		"a first status":            {"GET /repos/{owner}/{repo}/commits/{ref}/statuses", "POST /repos/{owner}/{repo}/statuses/{sha}"},
		"a status after the checks": {"POST /repos/{owner}/{repo}/statuses/{sha}"},
		"no reviews":                {"GET /repos/{owner}/{repo}/pulls/{number}/reviews"},
		"an approval":               {"GET /repos/{owner}/{repo}/collaborators/{user}/permission", "GET /repos/{owner}/{repo}/pulls/{number}/reviews"},
		"a comment":                 {"GET /repos/{owner}/{repo}/issues/{number}/comments", "POST /repos/{owner}/{repo}/issues/{number}/comments"},
		"the same comment":          {"GET /repos/{owner}/{repo}/issues/{number}/comments"},
		"the pushes of a branch":    {"GET /repos/{owner}/{repo}/activity"},
		"the members of a team":     {"GET /orgs/{org}/teams/{team}/memberships/{user}"},
	})
}
