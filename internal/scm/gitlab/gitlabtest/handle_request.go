package gitlabtest

import (
	"fmt"
	"net/http"
	"slices"
	"unicode/utf8"
)

// Limits in characters.
const (
	maxTitle       = 255
	maxDescription = 1_048_576
	maxNote        = 1_000_000
	maxLabel       = 255
)

func drawRequest(c *call, m *request) object {
	defer m.seen()
	p := m.project
	drawn := object{
		"id": m.id, "iid": m.iid, "project_id": p.id, "title": m.title, "description": orNull(m.description), "state": m.state,
		"created_at": stamp(m.created), "updated_at": stamp(m.updated), "author": drawUser(c, m.author), "draft": m.draft(), "work_in_progress": m.draft(),
		"source_branch": m.source, "target_branch": m.target, "source_project_id": m.from.id, "target_project_id": p.id, "sha": orNull(m.sha),
		"merge_commit_sha": orNull(m.mergeCommit), "squash_commit_sha": orNull(m.squashCommit), "squash": m.squash, "labels": m.labels,
		"assignees": drawUsers(c, m.assignees), "reviewers": drawUsers(c, m.reviewers), "merged_at": stampOf(m.merged), "closed_at": stampOf(m.closed),
		"merged_by": nil, "closed_by": nil, "web_url": fmt.Sprintf("%s/%s/-/merge_requests/%d", c.s.URL(), p.path, m.iid),
		"detailed_merge_status": m.detailed(),
	}
	if m.labels == nil {
		drawn["labels"] = []string{}
	}
	if m.merged != nil {
		drawn["merged_by"] = drawUser(c, m.merged.by)
	}
	if m.closed != nil {
		drawn["closed_by"] = drawUser(c, m.closed.by)
	}
	return drawn
}

// listRequests filters as GitLab does, newest first.
func listRequests(c *call) *reply {
	state := orElse(c.text("state"), "all")
	if !slices.Contains([]string{"all", "opened", "closed", "locked", "merged"}, state) {
		return answer(http.StatusBadRequest, object{"error": "state does not have a valid value"})
	}
	var found []*request
	for _, m := range slices.Backward(c.project.sorted()) {
		fits := (state == "all" || m.state == state) &&
			(!c.has("source_branch") || m.source == c.text("source_branch")) && (!c.has("target_branch") || m.target == c.text("target_branch"))
		if fits {
			found = append(found, m)
		}
	}
	return list(c, found, drawRequest)
}

// createRequest also accepts a branch that does not exist.
func createRequest(c *call) *reply {
	title, source, target := c.text("title"), c.text("source_branch"), c.text("target_branch")
	for _, name := range []string{"title", "source_branch", "target_branch"} {
		if c.text(name) == "" {
			return answer(http.StatusBadRequest, object{"error": name + " is missing"})
		}
	}
	if source == target {
		return refuse(http.StatusUnprocessableEntity, []string{"You can't use same project/branch for source and target"})
	}
	if refused := tooLong(c); refused != nil {
		return refused
	}
	for _, m := range c.project.sorted() {
		if m.open() && m.from == c.project && m.source == source && m.target == target {
			return refuse(http.StatusConflict, []string{fmt.Sprintf("Another open merge request already exists for this source branch: !%d", m.iid)})
		}
	}
	m := c.project.openRequest(c.who(), c.project, source, target, title)
	m.description = c.text("description")
	m.label(c.names("labels"))
	m.reviewers, m.assignees = accounts(c, "reviewer_ids"), accounts(c, "assignee_ids")
	if c.s.options.Free {
		m.reviewers, m.assignees = m.reviewers[:min(1, len(m.reviewers))], m.assignees[:min(1, len(m.assignees))]
	}
	if c.has("squash") {
		m.squash = c.text("squash") == "true"
	}
	return created(drawRequest(c, m))
}

// accounts silently omits users who cannot read the project.
func accounts(c *call, name string) []*user {
	var found []*user
	for _, id := range c.numbers(name) {
		if u := c.s.userByID(id); u != nil && c.project.visible(u) {
			found = append(found, u)
		}
	}
	return found
}

func tooLong(c *call) *reply {
	obeys(c, c.text("description"))
	switch {
	case utf8.RuneCountInString(c.text("title")) > maxTitle:
		return invalid("title", "is too long (maximum is 255 characters)")
	case utf8.RuneCountInString(c.text("description")) > maxDescription:
		return invalid("description", "is too long (maximum is 1048576 characters)")
	}
	for _, label := range slices.Concat(c.names("labels"), c.names("add_labels")) {
		if utf8.RuneCountInString(label) > maxLabel {
			return invalid("labels", "is invalid")
		}
	}
	return nil
}

func (m *request) label(names []string) {
	for _, name := range names {
		if !slices.Contains(m.labels, name) {
			m.labels = append(m.labels, name)
			m.touch()
		}
	}
}

func getRequest(c *call, m *request) *reply {
	drawn := drawRequest(c, m)
	drawn["detailed_merge_status"] = m.told()
	return ok(drawn)
}

func editRequest(c *call, m *request) *reply {
	if len(c.params) == 0 {
		return answer(http.StatusBadRequest, object{"error": "title, description, target_branch are missing, at least one parameter must be provided"})
	}
	if refused := tooLong(c); refused != nil {
		return refused
	}
	if c.has("target_branch") && c.text("target_branch") != m.target {
		m.target, m.computing = c.text("target_branch"), true
	}
	switch {
	case c.text("state_event") == "close" && m.open():
		m.close(c.who())
	case c.text("state_event") == "reopen" && m.state == "closed" && m.from.bare.Head(m.source) != "":
		m.reopen(c.who())
		if head := m.from.bare.Head(m.source); head != m.sha {
			m.take(head)
		}
	}
	if c.has("title") {
		m.title = c.text("title")
	}
	if c.has("description") {
		m.description = c.text("description")
	}
	m.label(c.names("add_labels"))
	m.touch()
	return ok(drawRequest(c, m))
}

// mergeRequest checks in GitLab's order: the permission, the head, then everything
// else in one refusal without a reason.
// https://gitlab.com/gitlab-org/gitlab/-/blob/master/lib/api/merge_requests.rb
func mergeRequest(c *call, m *request) *reply {
	if !c.project.mayMerge(c.who(), m.target) {
		return unauthorized()
	}
	if c.text("sha") == "" {
		c.s.t.Errorf("gitlabtest: merge request %d is merged whatever its head is", m.iid)
	}
	if c.text("sha") != m.sha {
		return refuse(http.StatusConflict, "SHA does not match HEAD of source branch: "+m.sha)
	}
	if c.project.late > 0 && m.open() {
		c.project.late--
		m.computing = true
		return refuse(http.StatusMethodNotAllowed, "405 Method Not Allowed")
	}
	m.computing = false
	if m.detailed() != "mergeable" {
		return refuse(http.StatusMethodNotAllowed, "405 Method Not Allowed")
	}
	if !m.asSet(c.who(), c.text("merge_commit_message"), c.text("squash_commit_message")) {
		return refuse(http.StatusUnprocessableEntity, "Branch cannot be merged")
	}
	return ok(drawRequest(c, m))
}

func getApprovals(c *call, m *request) *reply {
	given := []object{}
	for _, one := range m.approvals {
		drawn := object{"user": drawUser(c, one.by)}
		if !c.s.options.Old {
			drawn["approved_at"] = stamp(one.at)
		}
		given = append(given, drawn)
	}
	return ok(object{"user_has_approved": false, "user_can_approve": false, "approved": len(given) > 0, "approved_by": given})
}

func listReviewers(c *call, m *request) *reply {
	drawn := []object{}
	for u, state := range m.states {
		drawn = append(drawn, object{"user": drawUser(c, u), "state": state, "created_at": stamp(m.created)})
	}
	return ok(drawn)
}

// listVersions returns the latest first.
func listVersions(c *call, m *request) *reply {
	versions := slices.Clone(m.versions)
	slices.Reverse(versions)
	return list(c, versions, func(_ *call, v *version) object {
		return object{
			"id": v.id, "head_commit_sha": v.head, "base_commit_sha": v.head, "start_commit_sha": v.head, "created_at": stamp(v.at),
			"merge_request_id": m.id, "state": "collected", "real_size": "1",
		}
	})
}
