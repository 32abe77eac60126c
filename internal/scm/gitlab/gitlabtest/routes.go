package gitlabtest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"promoter/internal/scm/forgetest"
)

// endpoint is one route: its handler and its parameters.
type endpoint struct {
	handle func(c *call) *reply
	params []string
}

func with(more ...string) []string { return slices.Concat(paging, more) }

// endpoints returns the handlers by method and path.
func endpoints() map[string]endpoint {
	const project, request = "/projects/{id}", "/projects/{id}/merge_requests/{iid}"
	created := []string{"title", "description", "source_branch", "target_branch", "labels", "reviewer_ids", "assignee_ids", "squash"}
	changed := []string{"title", "description", "target_branch", "add_labels", "state_event"}
	return map[string]endpoint{
		"GET /user":                       {getSelf, nil},
		"GET /users":                      {signed(listUsers), with("username")},
		"GET /users/{user}":               {signed(getUser), nil},
		"GET /groups/{id}/members/{user}": {signed(getGroupMember), nil},

		"GET " + project:                                              {reading(getProject), nil},
		"GET " + project + "/members/all/{user}":                      {reading(getMember), nil},
		"GET " + project + "/releases":                                {reading(listReleases), with("order_by", "sort")},
		"GET " + project + "/deployments":                             {reading(listDeployments), with("environment", "order_by", "sort")},
		"GET " + project + "/releases/{tag}":                          {reading(getRelease), nil},
		"GET " + project + "/repository/branches/{branch}":            {reading(getBranch), nil},
		"GET " + project + "/repository/commits/{sha}":                {reading(getCommit), nil},
		"GET " + project + "/repository/commits/{sha}/merge_requests": {reading(listRequestsOfCommit), paging},
		"GET " + project + "/repository/compare":                      {reading(compare), []string{"from", "to", "straight"}},
		"GET " + project + "/repository/merge_base":                   {reading(mergeBase), []string{"refs[]"}},
		"GET " + project + "/pipelines":                               {reading(listPipelines), paging},
		"GET " + project + "/hooks":                                   {reading(maintaining(listHooks)), paging},
		"GET " + project + "/protected_branches":                      {reading(maintaining(listProtected)), paging},
		"GET " + project + "/approval_rules":                          {reading(paid(listApprovalRules)), paging},
		"GET " + project + "/approvals":                               {reading(paid(getApprovalSettings)), nil},
		"GET " + project + "/push_rule":                               {reading(paid(maintaining(getPushRule))), nil},
		"GET " + project + "/repository/commits/{sha}/statuses":       {reading(listStatuses), with()},
		"POST " + project + "/statuses/{sha}":                         {writing(createStatus), []string{"state", "name", "description", "target_url", "pipeline_id"}},

		"GET " + project + "/merge_requests":  {reading(listRequests), with("state", "source_branch", "target_branch")},
		"POST " + project + "/merge_requests": {writing(createRequest), created},
		"GET " + request:                      {reading(onRequest(getRequest)), nil},
		"PUT " + request:                      {writing(onRequest(editRequest)), changed},
		"PUT " + request + "/merge":           {reading(onRequest(mergeRequest)), []string{"sha", "merge_commit_message", "squash_commit_message"}},
		"GET " + request + "/approvals":       {reading(onRequest(getApprovals)), nil},
		"GET " + request + "/reviewers":       {reading(onRequest(listReviewers)), nil},
		"GET " + request + "/versions":        {reading(onRequest(listVersions)), paging},
		"GET " + request + "/notes":           {reading(onRequest(listNotes)), with("order_by", "sort")},
		"POST " + request + "/notes":          {writing(onRequest(createNote)), []string{"body"}},
		"PUT " + request + "/notes/{note}":    {writing(onRequest(editNote)), []string{"body"}},

		"GET " + project + "/events":                    {reading(listEvents), with("action", "after", "before", "sort")},
		"GET " + request + "/resource_state_events":     {reading(onRequest(listStateEvents)), paging},
		"GET " + request + "/notes/{note}/award_emoji":  {reading(onRequest(onNote(listAwards))), paging},
		"POST " + request + "/notes/{note}/award_emoji": {writing(onRequest(onNote(createAward))), []string{"name"}},
	}
}

// signed requires a token.
func signed(handle func(c *call) *reply) func(c *call) *reply {
	return func(c *call) *reply {
		if c.token == nil {
			return unauthorized()
		}
		return handle(c)
	}
}

// reading finds the project by its number or its path, and checks that the token can
// read it. A former path redirects to the number for reads, and is rejected for other
// requests.
func reading(handle func(c *call) *reply) func(c *call) *reply {
	return func(c *call) *reply {
		name := c.r.PathValue("id")
		id, err := strconv.ParseInt(name, 10, 64)
		found := c.s.hub.Repos[id]
		if err != nil {
			found = c.s.hub.Find(name)
		}
		if found == nil || found.Removed || !own(found).visible(c.who()) {
			return notFound("Project ")
		}
		c.project = own(found)
		switch {
		case err == nil || found.IsNamed(name):
			return handle(c)
		case c.r.Method != http.MethodGet:
			return refuse(http.StatusMethodNotAllowed, "Non GET methods are not allowed for moved projects")
		}
		rest := strings.SplitN(strings.TrimPrefix(c.r.URL.EscapedPath(), "/projects/"), "/", 2)[1:]
		to := c.s.URL() + prefix + "/projects/" + strings.Join(append([]string{itoa(found.ID)}, rest...), "/")
		if c.r.URL.RawQuery != "" {
			to += "?" + c.r.URL.RawQuery
		}
		moved := refuse(http.StatusMovedPermanently, "This resource has been moved permanently to "+to)
		moved.Header.Set("Location", to)
		return moved
	}
}

// writing also requires the role Developer in a project that is not archived.
func writing(handle func(c *call) *reply) func(c *call) *reply {
	return reading(signed(func(c *call) *reply {
		if c.project.model.Archived || !c.project.is(c.who(), Developer) {
			return forbidden()
		}
		return handle(c)
	}))
}

// maintaining requires the role Maintainer.
func maintaining(handle func(c *call) *reply) func(c *call) *reply {
	return func(c *call) *reply {
		if !c.project.is(c.who(), Maintainer) {
			return forbidden()
		}
		return handle(c)
	}
}

// paid marks a feature of the higher tiers.
func paid(handle func(c *call) *reply) func(c *call) *reply {
	return func(c *call) *reply {
		if c.s.options.Free {
			return notFound("")
		}
		return handle(c)
	}
}

// onRequest finds the merge request of the path.
func onRequest(handle func(c *call, m *request) *reply) func(c *call) *reply {
	return func(c *call) *reply {
		iid, err := strconv.Atoi(c.r.PathValue("iid"))
		if err != nil || c.project.model.Pulls[iid] == nil {
			return notFound("")
		}
		return handle(c, c.project.model.Pulls[iid])
	}
}

// paging lists the parameters of every list.
var paging = []string{"page", "per_page"}

// read parses the parameters: of a GET from its query, else from a JSON body. An
// unknown parameter fails the test, and so does an invalid body.
func (c *call) read(known []string) *reply {
	c.params = object{}
	for name, values := range c.r.URL.Query() {
		if strings.HasSuffix(name, "[]") {
			c.params[name] = values
			continue
		}
		c.params[name] = values[0]
	}
	if c.r.Method != http.MethodGet && len(c.body) > 0 {
		if c.s.hub.Front.Read(c.route, c.body, &c.params) != nil {
			return answer(http.StatusBadRequest, object{"error": "The provided content is not JSON"})
		}
	}
	for name := range c.params {
		if !slices.Contains(known, name) {
			c.s.t.Errorf("gitlabtest: %s: there is no parameter %s", c.route, name)
		}
	}
	return nil
}

// has reports whether a parameter is present.
func (c *call) has(name string) bool { _, given := c.params[name]; return given }

// text returns a parameter, empty if absent.
func (c *call) text(name string) string {
	switch value := c.params[name].(type) {
	case nil:
		return ""
	case string:
		return value
	case bool:
		return strconv.FormatBool(value)
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	default:
		c.s.t.Errorf("gitlabtest: %s: %s is %v", c.route, name, value)
		return ""
	}
}

// number returns a parameter, zero if absent.
func (c *call) number(name string) int {
	if c.text(name) == "" {
		return 0
	}
	n, err := strconv.Atoi(c.text(name))
	if err != nil {
		c.s.t.Errorf("gitlabtest: %s: %s: %v", c.route, name, err)
	}
	return n
}

// numbers returns a list parameter.
func (c *call) numbers(name string) []int {
	list, _ := c.params[name].([]any)
	var all []int
	for _, one := range list {
		n, _ := one.(float64)
		all = append(all, int(n))
	}
	return all
}

// names returns a comma-separated list parameter.
func (c *call) names(name string) []string {
	var all []string
	for one := range strings.SplitSeq(c.text(name), ",") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	return all
}

// list returns one page of the elements, converted by draw. More than 10,000 are not
// counted.
// https://docs.gitlab.com/api/rest/#offset-based-pagination
func list[T any](c *call, all []T, draw func(*call, T) object) *reply {
	at := forgetest.PageOf(c.text("page"), c.text("per_page"), 20, 100)
	drawn := forgetest.DrawAll(c, forgetest.Cut(at, all), draw)
	told := ok(drawn)
	told.Header.Set("X-Page", itoa(at.Number))
	told.Header.Set("X-Per-Page", itoa(at.Size))
	told.Header.Set("X-Next-Page", "")
	if at.Number < at.Last(len(all)) {
		told.Header.Set("X-Next-Page", itoa(at.Number+1))
	}
	if len(all) <= 10_000 {
		told.Header.Set("X-Total", itoa(len(all)))
		told.Header.Set("X-Total-Pages", itoa(at.Last(len(all))))
	}
	return told
}
