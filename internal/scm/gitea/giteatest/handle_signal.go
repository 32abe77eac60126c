package giteatest

import (
	"net/http"
	"slices"
)

var statusStates = []string{"pending", "success", "error", "failure", "warning", "skipped"}

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
	case !c.repo.model.MayPush(c.who()):
		return refuse(http.StatusForbidden, "user should have a permission to write to a repo")
	case !known:
		return refuse(http.StatusInternalServerError, "object does not exist [id: "+c.r.PathValue("sha")+", rel_path: ]")
	case !slices.Contains(statusStates, body.State):
		return refuse(http.StatusUnprocessableEntity, "unknown state")
	}
	if body.Context == "" {
		body.Context = "default"
	}
	made := c.repo.model.AddStatus(status{
		Commit: commit, Context: body.Context, State: body.State, URL: body.TargetURL, Description: body.Description, By: c.who(),
	})
	return created(drawStatus(c, made))
}

// listStatuses returns all statuses, newest first. Those of the same second have no
// defined order, which differs between pages; only their index orders them. The sort
// key for the highest index first is leastindex.
// https://github.com/go-gitea/gitea/blob/main/models/git/commit_status.go
func listStatuses(c *call) *reply {
	if c.repo.settles() {
		return notFound()
	}
	var found []*status
	for _, one := range c.repo.model.Statuses {
		if one.Commit == c.r.PathValue("ref") {
			found = append(found, one)
		}
	}
	query := c.r.URL.Query()
	switch sort := query.Get("sort"); sort {
	case "leastindex":
		slices.Reverse(found)
	case "":
		if c.pageAsked().Number%2 == 0 {
			slices.Reverse(found)
		}
		slices.SortStableFunc(found, func(a, b *status) int { return b.At.Compare(a.At) })
	default:
		c.s.t.Errorf("giteatest: statuses are not sorted by %q", sort)
	}
	return list(c, found, true, drawStatus)
}
