package githubtest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"promoter/internal/scm/forgetest"
)

// listActivity returns how branches moved, the newest first. Its pages have cursors instead of numbers.
// https://docs.github.com/en/rest/repos/repos#list-repository-activities
func listActivity(c *call) *reply {
	query := c.r.URL.Query()
	all := c.repo.model.MovesOf(strings.TrimPrefix(query.Get("ref"), "refs/heads/"))
	if after := query.Get("after"); after != "" {
		i := slices.IndexFunc(all, func(m forgetest.Move) bool { return strconv.FormatInt(m.ID, 10) == after })
		if i < 0 {
			return refuse(http.StatusUnprocessableEntity, "Validation Failed")
		}
		all = all[i+1:]
	}
	at := forgetest.PageOf("1", query.Get("per_page"), 30, 100)
	shown, header := forgetest.Cut(at, all), http.Header{}
	if len(shown) < len(all) {
		next, _ := url.ParseQuery(query.Encode())
		next.Set("after", strconv.FormatInt(shown[len(shown)-1].ID, 10))
		path := c.s.API() + strings.TrimPrefix(c.r.URL.EscapedPath(), "/")
		header.Set("Link", fmt.Sprintf("<%s?%s>; rel=\"next\"", path, next.Encode()))
	}
	return &reply{Status: http.StatusOK, Header: header, Body: forgetest.DrawAll(c, shown, drawActivity)}
}

func drawActivity(c *call, m forgetest.Move) object {
	const none = "0000000000000000000000000000000000000000"
	drawn := object{
		"id": m.ID, "node_id": fmt.Sprintf("PSH_%d", m.ID), "before": m.Before, "after": m.After, "ref": "refs/heads/" + m.Branch,
		"timestamp": stamp(m.At), "actor": drawUser(c, m.By), "activity_type": "push",
	}
	merged := func(p *pull) bool { return p.Merged && p.MergeCommit == m.After }
	switch {
	case m.Before == "":
		drawn["activity_type"], drawn["before"] = "branch_creation", none
	case m.After == "":
		drawn["activity_type"], drawn["after"] = "branch_deletion", none
	case slices.ContainsFunc(c.repo.model.Sorted(), merged):
		drawn["activity_type"] = "pr_merge"
	case !c.repo.model.Bare.Ancestor(m.Before, m.After):
		drawn["activity_type"] = "force_push"
	}
	return drawn
}
