package giteatest

import (
	"fmt"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"promoter/internal/scm/forgetest"
)

// maxTitle is the size of the title column, in characters.
const maxTitle = 255

// listPulls filters by state and sorts; the default is by creation, newest first. It
// has no filter by head.
func listPulls(c *call) *reply {
	query := c.r.URL.Query()
	var found []*pull
	for _, p := range slices.Backward(c.repo.sorted()) {
		switch state := query.Get("state"); {
		case state == "all", state == "closed" && !p.open(), (state == "open" || state == "") && p.open():
			found = append(found, p)
		}
	}
	switch sort := query.Get("sort"); sort {
	case "":
	case "oldest":
		slices.Reverse(found)
	case "recentupdate":
		slices.SortStableFunc(found, func(a, b *pull) int { return b.updated.Compare(a.updated) })
	default:
		c.s.t.Errorf("giteatest: the list of pull requests is not sorted by %q", sort)
	}
	return list(c, found, true, drawPull)
}

func getPull(c *call, p *pull) *reply { return ok(drawPull(c, p)) }

// getPullByBranches returns the first one from the branch of the repository itself,
// in any state.
func getPullByBranches(c *call) *reply {
	for _, p := range c.repo.sorted() {
		if p.from == c.repo && p.base == c.r.PathValue("base") && p.head == c.r.PathValue("head") {
			return ok(drawPull(c, p))
		}
	}
	return notFound()
}

func createPull(c *call) *reply {
	var body struct {
		Head          string     `json:"head"`
		Base          string     `json:"base"`
		Title         string     `json:"title"`
		Body          string     `json:"body"`
		Assignee      string     `json:"assignee"`
		Assignees     []string   `json:"assignees"`
		Reviewers     []string   `json:"reviewers"`
		TeamReviewers []string   `json:"team_reviewers"`
		Milestone     int64      `json:"milestone"`
		Labels        []int64    `json:"labels"`
		Deadline      *time.Time `json:"due_date"`
	}
	if refused := c.read(&body); refused != nil {
		return refused
	}
	if len(body.Assignees)+len(body.Reviewers)+len(body.TeamReviewers)+len(body.Labels) > 0 {
		c.s.t.Errorf("giteatest: one wrong name refuses the whole pull request: %s", c.body)
	}
	if body.Head == body.Base {
		return refuse(http.StatusUnprocessableEntity, "Invalid PullRequest: There are no changes between the head and the base")
	}
	if c.repo.bare.Head(body.Head) == "" || c.repo.bare.Head(body.Base) == "" {
		return notFound()
	}
	for _, p := range c.repo.pulls {
		if p.open() && p.from == c.repo && p.head == body.Head && p.base == body.Base {
			return refuse(http.StatusConflict, fmt.Sprintf(
				"pull request already exists for these targets [id: %d, issue_id: %d, head_repo_id: %d, base_repo_id: %d, head_branch: %s, base_branch: %s]",
				p.id, p.number, p.from.id, c.repo.id, p.head, p.base))
		}
	}
	if utf8.RuneCountInString(body.Title) > maxTitle || body.Title == "" {
		return refuse(http.StatusInternalServerError, "value too long for type character varying(255)")
	}
	p := c.repo.openPull(c.who(), c.repo, body.Head, body.Base, body.Title)
	p.body = body.Body
	return created(drawPull(c, p))
}

func editPull(c *call, p *pull) *reply {
	var body struct {
		Title               string     `json:"title"`
		Body                *string    `json:"body"`
		Base                string     `json:"base"`
		Assignee            string     `json:"assignee"`
		Assignees           []string   `json:"assignees"`
		Milestone           int64      `json:"milestone"`
		Labels              []int64    `json:"labels"`
		State               *string    `json:"state"`
		Deadline            *time.Time `json:"due_date"`
		RemoveDeadline      *bool      `json:"unset_due_date"`
		AllowMaintainerEdit *bool      `json:"allow_maintainer_edit"`
	}
	if refused := c.read(&body); refused != nil {
		return refused
	}
	switch {
	case p.author != c.who() && !c.repo.mayPush(c.who()):
		return bare(http.StatusForbidden)
	case utf8.RuneCountInString(body.Title) > maxTitle:
		return refuse(http.StatusInternalServerError, "value too long for type character varying(255)")
	}
	if body.Title != "" && body.Title != p.title {
		p.happened("change_title", c.who(), "")
		p.title = body.Title
	}
	if body.Body != nil {
		p.body = *body.Body
		p.touch()
	}
	if refused := assign(c, p, body.Assignees); refused != nil {
		return refused
	}
	if refused := changeState(c, p, body.State); refused != nil {
		return refused
	}
	if refused := retarget(c, p, body.Base); refused != nil {
		return refused
	}
	return created(drawPull(c, p))
}

// assign replaces the assignees.
func assign(c *call, p *pull, names []string) *reply {
	if names == nil {
		return nil
	}
	var assigned []*user
	for _, name := range names {
		u := c.s.users[lower(name)]
		switch {
		case u == nil:
			return refuse(http.StatusUnprocessableEntity, "Assignee does not exist: [name: user does not exist [uid: 0, name: "+name+"]]")
		case !c.repo.mayPush(u):
			return refuse(http.StatusInternalServerError, fmt.Sprintf("user doesn't have access to repo [user_id: %d, repo_name: %s]", u.id, c.repo.name))
		}
		assigned = append(assigned, u)
	}
	p.assignees = assigned
	p.happened("assignees", c.who(), "")
	return nil
}

func changeState(c *call, p *pull, state *string) *reply {
	switch {
	case state == nil:
		return nil
	case p.merged:
		return refuse(http.StatusPreconditionFailed, "cannot change state of this pull request, it was already merged")
	case *state == "closed" && p.open():
		p.close(c.who())
	case *state == "open" && !p.open():
		p.reopen(c.who())
	}
	return nil
}

func retarget(c *call, p *pull, base string) *reply {
	switch {
	case base == "" || base == p.base || p.merged:
		return nil
	case c.repo.bare.Head(base) == "":
		return refuse(http.StatusNotFound, fmt.Sprintf("new base '%s' not exist", base))
	case !p.open():
		return refuse(http.StatusUnprocessableEntity, "issue is closed")
	}
	p.base, p.waits = base, c.repo.late
	p.happened("change_target_branch", c.who(), "")
	return nil
}

func mergePull(c *call, p *pull) *reply {
	var body struct {
		Do            string `json:"Do"`
		MergeCommitID string `json:"MergeCommitID"`
		Title         string `json:"MergeTitleField"`
		Message       string `json:"MergeMessageField"`
		DeleteBranch  *bool  `json:"delete_branch_after_merge"`
		ForceMerge    bool   `json:"force_merge"`
		HeadCommitID  string `json:"head_commit_id"`
		WhenChecked   bool   `json:"merge_when_checks_succeed"`
	}
	if refused := c.read(&body); refused != nil {
		return refused
	}
	if body.ForceMerge || body.WhenChecked || body.HeadCommitID == "" {
		c.s.t.Errorf("giteatest: a merge that is not bound to a head: %s", c.body)
	}
	if refused := refuseMerge(c, p, body.Do, body.HeadCommitID); refused != nil {
		return refused
	}
	text := body.Title
	if text != "" && body.Message != "" {
		text += "\n\n" + body.Message
	}
	if _, clean := p.merge(c.who(), body.Do, text); !clean {
		return conflicts(body.Do)
	}
	return bare(http.StatusOK)
}

// conflicts returns a refusal without a message.
func conflicts(way string) *reply {
	return forgetest.Answer(http.StatusConflict, object{
		"Style": way, "StdOut": "CONFLICT (content): Merge conflict", "StdErr": "", "Err": object{},
	})
}

// refuseMerge checks in the same order as Gitea.
func refuseMerge(c *call, p *pull, way, head string) *reply {
	base := p.repo.bare.Head(p.base)
	deny := func(words string) *reply { return refuse(http.StatusMethodNotAllowed, words) }
	switch _, clean := p.repo.bare.Merge(base, p.headCommit); {
	case p.merged:
		return deny("")
	case !p.open():
		return notFound()
	case !p.allowedToMerge(c.who()):
		return deny("User not allowed to merge PR")
	case p.draft():
		return deny("Work in progress PRs cannot be merged")
	case p.waits > 0:
		p.waits--
		return deny("Please try again later")
	case !clean:
		return deny("Please try again later")
	case p.refusal() != "":
		return deny("pull request not ready to merge [reason: " + p.refusal() + "]")
	case c.repo.protection[p.base].Signed:
		return deny("wont sign: nokey")
	case !c.repo.ways[way]:
		return deny(way + " is not allowed an allowed merge style for this repository")
	case head != p.headCommit:
		return refuse(http.StatusConflict, "head out of date")
	case way == "fast-forward-only" && !p.repo.bare.Ancestor(base, p.headCommit):
		return refuse(http.StatusInternalServerError, "Merge DivergingFastForwardOnly Error: exit status 128: fatal: Not possible to fast-forward, aborting.")
	}
	return nil
}
