package giteatest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"promoter/internal/scm"
	"promoter/internal/scm/forgetest"
)

// maxTitle is the size of the title column, in characters.
const maxTitle = 255

// listPulls filters by state and sorts; the default is by creation, newest first. It
// has no filter by head.
func listPulls(c *call) *reply {
	query := c.r.URL.Query()
	var found []*forgetest.Pull
	for _, p := range slices.Backward(c.repo.model.Sorted()) {
		switch state := query.Get("state"); {
		case state == "all", state == "closed" && !p.IsOpen(), (state == "open" || state == "") && p.IsOpen():
			found = append(found, p)
		}
	}
	switch sort := query.Get("sort"); sort {
	case "":
	case "oldest":
		slices.Reverse(found)
	case "recentupdate":
		slices.SortStableFunc(found, func(a, b *pull) int { return b.Updated.Compare(a.Updated) })
	default:
		c.s.t.Errorf("giteatest: the list of pull requests is not sorted by %q", sort)
	}
	return list(c, found, true, drawPull)
}

func getPull(c *call, p *pull) *reply { return ok(drawPull(c, p)) }

// getPullByBranches returns the first one from the branch of the repository itself,
// in any state.
func getPullByBranches(c *call) *reply {
	for _, p := range c.repo.model.Sorted() {
		if p.From == c.repo.model && p.Base == c.r.PathValue("base") && p.Head == c.r.PathValue("head") {
			return ok(drawPull(c, p))
		}
	}
	return notFound()
}

// getPullOfCommit returns the one that was merged as the commit.
func getPullOfCommit(c *call) *reply {
	for _, p := range c.repo.model.Sorted() {
		if p.Merged && p.MergeCommit == c.r.PathValue("ref") {
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
	if c.repo.model.Bare.Head(body.Head) == "" || c.repo.model.Bare.Head(body.Base) == "" {
		return notFound()
	}
	for _, p := range c.repo.model.Pulls {
		if p.IsOpen() && p.From == c.repo.model && p.Head == body.Head && p.Base == body.Base {
			return refuse(http.StatusConflict, fmt.Sprintf(
				"pull request already exists for these targets [id: %d, issue_id: %d, head_repo_id: %d, base_repo_id: %d, head_branch: %s, base_branch: %s]",
				p.ID, p.Number, p.From.ID, c.repo.model.ID, p.Head, p.Base))
		}
	}
	if utf8.RuneCountInString(body.Title) > maxTitle || body.Title == "" {
		return refuse(http.StatusInternalServerError, "value too long for type character varying(255)")
	}
	p := c.repo.model.Open(c.who(), c.repo.model, body.Head, body.Base, body.Title)
	p.Body = body.Body
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
	case p.Author != c.who() && !c.repo.model.MayPush(c.who()):
		return bare(http.StatusForbidden)
	case utf8.RuneCountInString(body.Title) > maxTitle:
		return refuse(http.StatusInternalServerError, "value too long for type character varying(255)")
	}
	if body.Title != "" && body.Title != p.Title {
		p.Happened("change_title", c.who(), "")
		p.Title = body.Title
	}
	if body.Body != nil {
		p.Body = *body.Body
		p.Touch()
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
		u := c.s.hub.Users[lower(name)]
		switch {
		case u == nil:
			return refuse(http.StatusUnprocessableEntity, "Assignee does not exist: [name: user does not exist [uid: 0, name: "+name+"]]")
		case !c.repo.model.MayPush(u):
			return refuse(http.StatusInternalServerError, fmt.Sprintf("user doesn't have access to repo [user_id: %d, repo_name: %s]", u.ID, c.repo.model.Name))
		}
		assigned = append(assigned, u)
	}
	p.Assignees = assigned
	p.Happened("assignees", c.who(), "")
	return nil
}

func changeState(c *call, p *pull, state *string) *reply {
	switch {
	case state == nil:
		return nil
	case p.Merged:
		return refuse(http.StatusPreconditionFailed, "cannot change state of this pull request, it was already merged")
	case *state == "closed" && p.IsOpen():
		p.Close(c.who())
	case *state == "open" && !p.IsOpen():
		p.Reopen(c.who())
	}
	return nil
}

func retarget(c *call, p *pull, base string) *reply {
	switch {
	case base == "" || base == p.Base || p.Merged:
		return nil
	case c.repo.model.Bare.Head(base) == "":
		return refuse(http.StatusNotFound, fmt.Sprintf("new base '%s' not exist", base))
	case !p.IsOpen():
		return refuse(http.StatusUnprocessableEntity, "issue is closed")
	}
	p.Base, progressOf(p).waits = base, c.repo.late
	p.Happened("change_target_branch", c.who(), "")
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
		if progressOf(p).waits == 0 && refused.Status != http.StatusMethodNotAllowed {
			progressOf(p).waits = c.repo.late // it is checked again
		}
		return refused
	}
	text := body.Title
	if text != "" && body.Message != "" {
		text += "\n\n" + body.Message
	}
	if _, clean := merge(p, c.who(), body.Do, text); !clean {
		return conflicts(body.Do)
	}
	return bare(http.StatusOK)
}

// conflicts returns a refusal without a message.
func conflicts(way string) *reply {
	return forgetest.Answer(http.StatusConflict, object{
		"Style": way, "CommitSHA": "", "StdOut": "CONFLICT (content): Merge conflict", "StdErr": "", "Err": object{},
	})
}

// refuseMerge checks in the same order as Gitea.
func refuseMerge(c *call, p *pull, way, head string) *reply {
	base := p.Repo.Bare.Head(p.Base)
	deny := func(words string) *reply { return refuse(http.StatusMethodNotAllowed, words) }
	switch _, clean := p.Repo.Bare.Merge(base, p.HeadCommit); {
	case p.Merged:
		return deny("The PR is already merged")
	case !p.IsOpen():
		return notFound()
	case !allowedToMerge(p, c.who()):
		return deny("User not allowed to merge PR")
	case isDraft(p):
		return deny("Work in progress PRs cannot be merged")
	case progressOf(p).waits > 0:
		progressOf(p).waits--
		return deny("Please try again later")
	case !clean:
		return deny("Please try again later")
	case refusal(p) != "":
		return deny(refusal(p))
	case c.repo.protection[p.Base].Signed:
		return deny("wont sign: nokey")
	case !c.repo.ways[way]:
		return deny(way + " is not allowed an allowed merge style for this repository")
	case head != p.HeadCommit:
		return refuse(http.StatusConflict, "head out of date")
	case way == "fast-forward-only" && !p.Repo.Bare.Ancestor(base, p.HeadCommit):
		return refuse(http.StatusInternalServerError, "")
	}
	return nil
}

// listReviews omits pending reviews, but counts them.
func listReviews(c *call, p *pull) *reply {
	submitted := slices.DeleteFunc(slices.Clone(p.Reviews), func(one *review) bool { return one.State == "PENDING" })
	answer := list(c, submitted, false, drawReview(p))
	answer.Header.Set("X-Total-Count", itoa(len(p.Reviews)))
	return answer
}

// requestReviewers looks up all names first, then adds one after the other.
func requestReviewers(c *call, p *pull) *reply {
	var body struct {
		Reviewers     []string `json:"reviewers"`
		TeamReviewers []string `json:"team_reviewers"`
	}
	if refused := c.read(&body); refused != nil {
		return refused
	}
	var people []*user
	for _, name := range body.Reviewers {
		u := c.s.hub.Users[lower(name)]
		if u == nil {
			return unknown(fmt.Sprintf("User '%s' not exist", name))
		}
		people = append(people, u)
	}
	teams, refused := teamsOf(c, body.TeamReviewers)
	if refused != nil {
		return refused
	}
	asked := []object{}
	for _, u := range people {
		switch {
		case u == p.Author:
			return refuse(http.StatusUnprocessableEntity, fmt.Sprintf("poster of pr can't be reviewer [user_id: %d, repo_id: %d]", u.ID, c.repo.model.ID))
		case c.repo.model.Permission(u) == "none":
			return refuse(http.StatusUnprocessableEntity, fmt.Sprintf("Reviewer can't read [user_id: %d, repo_id: %d]", u.ID, c.repo.model.ID))
		case !slices.Contains(p.Reviewers, u):
			p.Reviewers = append(p.Reviewers, u)
		}
		requested := &review{ID: c.s.hub.NextID(), Author: u, State: "REQUEST_REVIEW", Official: c.repo.model.MayPush(u), At: c.s.hub.Now()}
		asked = append(asked, drawReview(p)(c, requested))
	}
	for _, one := range teams {
		p.Teams = append(p.Teams, one.name)
	}
	p.Happened("review_request", c.who(), "")
	return created(asked)
}

// unknown is the response for a name that does not exist.
func unknown(message string) *reply {
	r := refuse(http.StatusNotFound, message)
	r.Body.(object)["errors"] = nil
	return r
}

// teamsOf finds teams of the organization; for a user's repository they are ignored.
func teamsOf(c *call, names []string) ([]*team, *reply) {
	if !c.s.orgs[lower(c.repo.model.Owner)] {
		return nil, nil
	}
	var found []*team
	for _, name := range names {
		i := slices.IndexFunc(c.s.teams, func(t *team) bool { return lower(t.org) == lower(c.repo.model.Owner) && lower(t.name) == lower(name) })
		if i < 0 {
			return nil, unknown(fmt.Sprintf("Team '%s' not exist", name))
		}
		found = append(found, c.s.teams[i])
	}
	return found, nil
}

// reviewStates are Gitea's names.
var reviewStates = map[scm.ReviewState]string{
	scm.Approved: "APPROVED", scm.ChangesRequested: "REQUEST_CHANGES", scm.Commented: "COMMENT",
}

func drawReview(p *pull) func(*call, *review) object {
	return func(c *call, one *review) object {
		return object{
			"id": one.ID, "user": drawUser(c, one.Author), "team": nil, "state": cmp.Or(reviewStates[one.State], string(one.State)), "body": "", "commit_id": one.Commit,
			"stale": one.Commit != p.HeadCommit, "official": one.Official, "dismissed": one.Dismissed, "comments_count": 0,
			"submitted_at": stamp(one.At), "updated_at": stamp(one.At), "html_url": p.Repo.Page(), "pull_request_url": p.Repo.Page(),
		}
	}
}
