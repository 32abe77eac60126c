package githubtest

import (
	"net/http"
	"slices"
	"time"
	"unicode/utf8"
)

// Limits of statuses, in characters.
const (
	maxDescription = 140
	maxContext     = 255
)

var statusStates = []string{"error", "failure", "pending", "success"}

func createStatus(c *call) *reply {
	var body struct {
		State       string `json:"state"`
		TargetURL   string `json:"target_url"`
		Description string `json:"description"`
		Context     string `json:"context"`
	}
	if refused := c.read(&body); refused != nil {
		return refused
	}
	commit, known := c.repo.model.Bare.Commit(c.r.PathValue("sha"))
	switch {
	case !known:
		return refuse(http.StatusUnprocessableEntity, "No commit found for SHA: "+c.r.PathValue("sha"))
	case !slices.Contains(statusStates, body.State):
		return invalid(object{"resource": "Status", "code": "custom", "field": "state", "message": "state is not included in the list"})
	case utf8.RuneCountInString(body.Description) > maxDescription:
		return invalid(object{"resource": "Status", "code": "custom", "field": "description", "message": "description is too long (maximum is 140 characters)"})
	case utf8.RuneCountInString(body.Context) > maxContext:
		return invalid(object{"resource": "Status", "code": "custom", "field": "context", "message": "context is too long (maximum is 255 characters)"})
	}
	if body.Context == "" {
		body.Context = "default"
	}
	made := c.repo.model.AddStatus(status{
		Commit: commit, Context: body.Context, State: body.State, URL: body.TargetURL, Description: body.Description, By: c.who(),
	})
	return created(drawStatus(c, made))
}

func listStatuses(c *call) *reply {
	commit, known := c.repo.model.Bare.Commit(c.r.PathValue("ref"))
	if !known {
		return refuse(http.StatusNotFound, "Not Found")
	}
	var all []*status
	for _, one := range slices.Backward(c.repo.model.Statuses) {
		if one.Commit == commit {
			all = append(all, one)
		}
	}
	return list(c, all, drawStatus)
}

// listChecks returns the latest check run of each name in each check suite, unless all are
// requested.
func listChecks(c *call) *reply {
	commit, known := c.repo.model.Bare.Commit(c.r.PathValue("ref"))
	if !known {
		return refuse(http.StatusUnprocessableEntity, "No commit found for SHA: "+c.r.PathValue("ref"))
	}
	var runs []*check
	type source struct {
		suite int64
		name  string
	}
	seen := map[source]bool{}
	for _, one := range slices.Backward(c.repo.checks) {
		from := source{c.repo.suite(one), one.name}
		if name := c.r.URL.Query().Get("check_name"); name != "" && one.name != name {
			continue
		}
		if one.commit != commit || seen[from] && c.r.URL.Query().Get("filter") != "all" {
			continue
		}
		seen[from] = true
		runs = append(runs, one)
	}
	drawn, header := page(c, runs, drawCheck)
	return &reply{Status: http.StatusOK, Header: header, Body: object{"total_count": len(runs), "check_runs": drawn}}
}

// maxSummary is the number of characters of the summary of a check run.
const maxSummary = 65_535

// createCheck creates a check run that is complete. Only an App may do so.
func createCheck(c *call) *reply {
	var body struct {
		Name       string `json:"name"`
		HeadSHA    string `json:"head_sha"`
		Status     string `json:"status"`
		Conclusion string `json:"conclusion"`
		Output     struct {
			Title   string `json:"title"`
			Summary string `json:"summary"`
		} `json:"output"`
	}
	if refused := c.read(&body); refused != nil {
		return refused
	}
	commit, known := c.repo.model.Bare.Commit(body.HeadSHA)
	switch {
	case c.token.installation == nil:
		return refuse(http.StatusForbidden, "You must authenticate via a GitHub App.")
	case !known:
		return refuse(http.StatusUnprocessableEntity, "No commit found for SHA: "+body.HeadSHA)
	case utf8.RuneCountInString(body.Output.Summary) > maxSummary:
		return invalid(object{"resource": "CheckRun", "code": "custom", "field": "summary", "message": "summary exceeds a maximum bytesize of 65535"})
	}
	made := &check{
		id: c.repo.model.Hub.NextID(), commit: commit, name: body.Name, conclusion: body.Conclusion, by: c.who(), at: c.repo.model.Hub.Now(),
		title: body.Output.Title, summary: body.Output.Summary,
	}
	c.repo.checks = append(c.repo.checks, made)
	return created(drawCheck(c, made))
}

func drawStatus(c *call, one *status) object {
	url := c.s.API() + "repos/" + c.repo.model.FullName() + "/statuses/" + one.Commit
	return object{
		"id": one.ID, "node_id": node(one.ID), "url": url, "avatar_url": avatar(c, one.By), "state": one.State, "description": orNull(one.Description),
		"target_url": orNull(one.URL), "context": one.Context, "created_at": one.At.Format(time.RFC3339), "updated_at": one.At.Format(time.RFC3339),
		"creator": drawUser(c, one.By),
	}
}

func drawCheck(c *call, one *check) object {
	url := c.s.API() + "repos/" + c.repo.model.FullName() + "/check-runs/" + itoa(int(one.id))
	at := one.at.Format(time.RFC3339)
	status, conclusion, completed := "completed", any(one.conclusion), any(at)
	if !one.completed() {
		status, conclusion, completed = one.conclusion, nil, nil
	}
	return object{
		"id": one.id, "node_id": node(one.id), "head_sha": one.commit, "name": one.name, "url": url, "html_url": c.repo.model.Page() + "/runs/" + itoa(int(one.id)),
		"details_url": "https://ci.example.com/" + itoa(int(one.id)), "status": status, "conclusion": conclusion, "started_at": at, "completed_at": completed,
		"external_id": "", "check_suite": object{"id": c.repo.suite(one)}, "app": drawApp(c, one.by), "pull_requests": []object{},
		"output": object{"title": orNull(one.title), "summary": orNull(one.summary), "text": nil, "annotations_count": 0, "annotations_url": url + "/annotations"},
	}
}
