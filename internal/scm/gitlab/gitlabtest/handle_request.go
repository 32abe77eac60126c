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
	defer seen(m)
	p := m.Repo
	drawn := object{
		"id": m.ID, "iid": m.Number, "project_id": p.ID, "title": m.Title, "description": orNull(m.Body), "state": stateOf(m),
		"created_at": stamp(m.Created), "updated_at": stamp(m.Updated), "author": drawUser(c, m.Author), "draft": isDraft(m), "work_in_progress": isDraft(m),
		"source_branch": m.Head, "target_branch": m.Base, "source_project_id": m.From.ID, "target_project_id": p.ID, "sha": orNull(m.HeadCommit),
		"merge_commit_sha": orNull(m.MergeCommit), "squash_commit_sha": orNull(of(m).squashCommit), "squash": of(m).squash, "labels": m.Labels,
		"assignees": drawUsers(c, m.Assignees), "reviewers": drawUsers(c, m.Reviewers), "merged_at": nil, "closed_at": nil,
		"merged_by": nil, "closed_by": nil, "web_url": fmt.Sprintf("%s/-/merge_requests/%d", p.Page(), m.Number),
		"detailed_merge_status": detailed(m),
	}
	if m.Labels == nil {
		drawn["labels"] = []string{}
	}
	switch {
	case m.Merged:
		drawn["merged_at"], drawn["merged_by"] = stampOf(m.Closed), drawUser(c, m.Closed.By)
	case !m.IsOpen():
		drawn["closed_at"], drawn["closed_by"] = stampOf(m.Closed), drawUser(c, m.Closed.By)
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
	for _, m := range slices.Backward(c.project.model.Sorted()) {
		fits := (state == "all" || stateOf(m) == state) &&
			(!c.has("source_branch") || m.Head == c.text("source_branch")) && (!c.has("target_branch") || m.Base == c.text("target_branch"))
		if fits {
			found = append(found, m)
		}
	}
	return list(c, found, drawRequest)
}

// listRequestsOfCommit lists those that were merged as the commit, or have it as their head.
func listRequestsOfCommit(c *call) *reply {
	commit := c.r.PathValue("sha")
	var found []*request
	for _, m := range slices.Backward(c.project.model.Sorted()) {
		if m.MergeCommit == commit || of(m).squashCommit == commit || m.HeadCommit == commit {
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
	for _, m := range c.project.model.Sorted() {
		if m.IsOpen() && m.From == c.project.model && m.Head == source && m.Base == target {
			return refuse(http.StatusConflict, []string{fmt.Sprintf("Another open merge request already exists for this source branch: !%d", m.Number)})
		}
	}
	m := c.project.model.Open(c.who(), c.project.model, source, target, title)
	m.Body = c.text("description")
	addLabels(m, c.names("labels"))
	m.Reviewers, m.Assignees = accounts(c, "reviewer_ids"), accounts(c, "assignee_ids")
	if c.s.options.Free {
		m.Reviewers, m.Assignees = m.Reviewers[:min(1, len(m.Reviewers))], m.Assignees[:min(1, len(m.Assignees))]
	}
	if c.has("squash") {
		of(m).squash = c.text("squash") == "true"
	}
	return created(drawRequest(c, m))
}

// accounts silently omits users who cannot read the project.
func accounts(c *call, name string) []*user {
	var found []*user
	for _, id := range c.numbers(name) {
		if u := userByID(c.s, int64(id)); u != nil && c.project.visible(u) {
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

func addLabels(m *request, names []string) {
	for _, name := range names {
		m.Label(name)
	}
}

func getRequest(c *call, m *request) *reply {
	drawn := drawRequest(c, m)
	drawn["detailed_merge_status"] = reported(m)
	drawn["head_pipeline"], drawn["merge_error"] = drawPipeline(own(m.Repo), headPipeline(m)), orNull(of(m).mergeError)
	return ok(drawn)
}

func editRequest(c *call, m *request) *reply {
	if len(c.params) == 0 {
		return answer(http.StatusBadRequest, object{"error": "title, description, target_branch are missing, at least one parameter must be provided"})
	}
	if refused := tooLong(c); refused != nil {
		return refused
	}
	if c.has("target_branch") && c.text("target_branch") != m.Base {
		m.Base, of(m).computing = c.text("target_branch"), true
	}
	switch {
	case c.text("state_event") == "close" && m.IsOpen():
		m.Close(c.who())
	case c.text("state_event") == "reopen" && stateOf(m) == "closed" && m.From.Bare.Head(m.Head) != "":
		m.Reopen(c.who())
		if head := m.From.Bare.Head(m.Head); head != m.HeadCommit {
			take(m, head)
		}
	}
	if c.has("title") {
		m.Title = c.text("title")
	}
	if c.has("description") {
		m.Body = c.text("description")
	}
	addLabels(m, c.names("add_labels"))
	m.Touch()
	return ok(drawRequest(c, m))
}

// mergeRequest checks in GitLab's order: the permission, the head, then everything
// else in one refusal without a reason.
// https://gitlab.com/gitlab-org/gitlab/-/blob/master/lib/api/merge_requests.rb
func mergeRequest(c *call, m *request) *reply {
	if !c.project.mayMerge(c.who(), m.Base) {
		return unauthorized()
	}
	if c.text("sha") == "" {
		c.s.t.Errorf("gitlabtest: merge request %d is merged whatever its head is", m.Number)
	}
	if c.text("sha") != m.HeadCommit {
		return refuse(http.StatusConflict, "SHA does not match HEAD of source branch: "+m.HeadCommit)
	}
	if c.project.late > 0 && m.IsOpen() {
		c.project.late--
		of(m).computing = true
		return refuse(http.StatusMethodNotAllowed, "405 Method Not Allowed")
	}
	of(m).computing = false
	if detailed(m) != "mergeable" {
		return refuse(http.StatusMethodNotAllowed, "405 Method Not Allowed")
	}
	if of(m).mergeError = c.project.settings.MergeError; of(m).mergeError != "" {
		return ok(drawRequest(c, m)) // which is still open
	}
	if !mergeAsSet(m, c.who(), c.text("merge_commit_message"), c.text("squash_commit_message")) {
		return refuse(http.StatusUnprocessableEntity, "Branch cannot be merged")
	}
	return ok(drawRequest(c, m))
}

func getApprovals(c *call, m *request) *reply {
	given := []object{}
	for _, one := range of(m).approvals {
		drawn := object{"user": drawUser(c, one.By)}
		if !c.s.options.Old {
			drawn["approved_at"] = stamp(one.At)
		}
		given = append(given, drawn)
	}
	return ok(object{"user_has_approved": false, "user_can_approve": false, "approved": len(given) > 0, "approved_by": given})
}

func listReviewers(c *call, m *request) *reply {
	drawn := []object{}
	for u, state := range of(m).states {
		drawn = append(drawn, object{"user": drawUser(c, u), "state": state, "created_at": stamp(m.Created)})
	}
	return ok(drawn)
}

// listVersions returns the latest first.
func listVersions(c *call, m *request) *reply {
	versions := slices.Clone(of(m).versions)
	slices.Reverse(versions)
	return list(c, versions, func(_ *call, v *version) object {
		return object{
			"id": v.id, "head_commit_sha": v.head, "base_commit_sha": v.head, "start_commit_sha": v.head, "created_at": stamp(v.at),
			"merge_request_id": m.ID, "state": "collected", "real_size": "1",
		}
	})
}
