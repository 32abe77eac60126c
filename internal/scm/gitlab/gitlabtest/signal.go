package gitlabtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"promoter/internal/git/gittest"
)

type status struct {
	id               int64
	line             *pipeline
	name, state      string
	url, description string
	job              bool // of a pipeline, not an external status
	mayFail          bool
	replaced         bool // by a later one of the same name in its pipeline
	by               *user
	at               time.Time
}

// pipeline holds the statuses of a commit.
type pipeline struct {
	id       int64
	sha, ref string
}

// unfinished reports whether a status may still change.
func (st *status) unfinished() bool { return st.state == "pending" || st.state == "running" }

// newestPipeline returns the newest pipeline of a commit, nil when there is none.
func newestPipeline(p *Project, sha string) *pipeline {
	for _, line := range slices.Backward(p.lines) {
		if line.sha == sha {
			return line
		}
	}
	return nil
}

func newPipeline(p *Project, sha, ref string) *pipeline {
	line := &pipeline{id: p.s.hub.NextID(), sha: sha, ref: ref}
	p.lines = append(p.lines, line)
	return line
}

// currentStatuses lists the statuses of a commit that were not replaced, in all pipelines.
func currentStatuses(p *Project, sha string) []*status {
	var all []*status
	for _, st := range p.statuses {
		if st.line.sha == sha && !st.replaced {
			all = append(all, st)
		}
	}
	return all
}

// headPipeline returns the pipeline that GitLab evaluates for a merge request: the newest,
// those of merge requests first.
// https://gitlab.com/gitlab-org/gitlab/-/blob/master/app/finders/ci/pipelines_for_merge_request_finder.rb
func headPipeline(m *request) *pipeline {
	p := own(m.Repo)
	ensurePipeline(p, m.HeadCommit)
	var found *pipeline
	for _, line := range p.lines {
		ofRequest := strings.HasPrefix(line.ref, fmt.Sprintf("refs/merge-requests/%d/", m.Number))
		if line.sha != m.HeadCommit && (line.sha != of(m).merging || !ofRequest) {
			continue
		}
		if found == nil || ofRequest || !strings.HasPrefix(found.ref, "refs/merge-requests/") {
			found = line
		}
	}
	return found
}

// ensurePipeline runs the pipeline of a commit in a project that has CI.
func ensurePipeline(p *Project, sha string) {
	if p.settings.CI == "" || newestPipeline(p, sha) != nil || sha == "" {
		return
	}
	if branch := branchOf(p, sha); branch != "" {
		addStatus(p, &status{line: newPipeline(p, sha, branch), name: p.settings.CI, state: "success", job: true, by: p.s.hub.User("ci")})
	}
}

// RunMerged runs a job of a merged results pipeline of a merge request, on a new commit.
// https://docs.gitlab.com/ci/pipelines/merged_results_pipelines/
func (p *Project) RunMerged(number int, name, state string) string {
	var sha string
	p.Pulls.With("ci", number, func(m *request, by *user) {
		landing := gittest.Landing{
			Base: p.model.Bare.Head(m.Base), Head: m.HeadCommit, By: p.s.hub.Author(by), Committer: p.s.hub.Author(by), Message: "Merge",
		}
		sha, _ = p.model.Bare.MergeCommit(landing)
		ref := fmt.Sprintf("refs/merge-requests/%d/merge", number)
		p.model.Bare.Run("update-ref", ref, sha)
		of(m).merging = sha
		addStatus(p, &status{line: newPipeline(p, sha, ref), name: name, state: state, job: true, by: by})
	})
	return sha
}

func drawPipeline(p *Project, line *pipeline) any {
	if line == nil {
		return nil
	}
	return object{"id": line.id, "iid": line.id, "project_id": p.model.ID, "sha": line.sha, "ref": line.ref, "status": stateOfPipeline(p, line)}
}

// stateOfPipeline returns the state of a pipeline: success, running, failed or empty.
func stateOfPipeline(p *Project, line *pipeline) string {
	if line == nil {
		return ""
	}
	state := ""
	for _, st := range currentStatuses(p, line.sha) {
		if st.line != line {
			continue
		}
		switch {
		case st.unfinished() || st.state == "created" || st.state == "manual" && !st.mayFail:
			state = "running"
		case (st.state == "failed" && !st.mayFail || st.state == "canceled") && state != "running":
			state = "failed"
		case state == "":
			state = "success"
		}
	}
	return state
}

// addStatus adds a status to a pipeline, and replaces earlier ones of its name.
func addStatus(p *Project, st *status) *status {
	for _, earlier := range p.statuses {
		if earlier.line == st.line && earlier.name == st.name {
			earlier.replaced = true
		}
	}
	st.id, st.at = p.s.hub.NextID(), p.s.hub.Now()
	p.statuses = append(p.statuses, st)
	return st
}

// events maps states to the names of GitLab's transitions, which its refusals
// contain.
var events = map[string]string{
	"pending": "enqueue", "running": "run", "success": "success", "failed": "drop", "canceled": "cancel", "skipped": "skip",
}

// setStatus sets a status as the API does. It returns GitLab's message if it is refused.
// https://gitlab.com/gitlab-org/gitlab/-/blob/master/app/services/ci/create_commit_status_service.rb
func setStatus(p *Project, wanted status) (*status, string) {
	for _, st := range p.statuses {
		if st.line != wanted.line || st.name != wanted.name || st.by != wanted.by || st.job || st.replaced || !st.unfinished() {
			continue
		}
		if wanted.state == "pending" || wanted.state == st.state {
			event := events[wanted.state]
			return nil, "Cannot transition status via :" + event + " from :" + st.state + " (Reason(s): Status cannot transition via \"" + event + "\")"
		}
		st.state, st.url, st.description, st.at = wanted.state, wanted.url, wanted.description, p.s.hub.Now()
		return st, ""
	}
	return addStatus(p, &wanted), ""
}

// Status is the latest status of a name.
type Status struct{ Name, State, Description, URL, By string }

// Statuses returns the latest result of every name of a commit.
func (p *Project) Statuses(commit string) map[string]Status {
	latest := map[string]Status{}
	p.s.act(func() {
		for _, st := range currentStatuses(p, commit) {
			latest[st.name] = Status{Name: st.name, State: st.state, Description: st.description, URL: st.url, By: st.by.Login}
		}
	})
	return latest
}

// SetStatus sets a status as an account with the API: pending, running, success,
// failed or canceled. An unchanged status is left.
func (p *Project) SetStatus(who, commit, name, state string) {
	p.s.act(func() {
		line := newestPipeline(p, commit)
		if line == nil {
			line = newPipeline(p, commit, branchOf(p, commit))
		}
		setStatus(p, status{line: line, name: name, state: state, by: p.s.hub.User(who), description: "said by " + who})
	})
}

// AddPipeline starts a pipeline for a commit on a ref, a branch or
// refs/merge-requests/IID/head.
func (p *Project) AddPipeline(commit, ref string) { p.s.act(func() { newPipeline(p, commit, ref) }) }

// SetJob sets a job of the newest pipeline of a commit, which who started. The state
// is one of GitLab's; a finished job is restarted.
func (p *Project) SetJob(who, commit, name, state string, mayFail bool) {
	p.s.act(func() {
		line := newestPipeline(p, commit)
		if line == nil {
			line = newPipeline(p, commit, branchOf(p, commit))
		}
		for _, st := range currentStatuses(p, commit) {
			if st.line == line && st.name == name && st.job && st.unfinished() {
				st.state, st.at = state, p.s.hub.Now()
				return
			}
		}
		made := addStatus(p, &status{line: line, name: name, state: state, job: true, mayFail: mayFail, by: p.s.hub.User(who)})
		made.url = p.s.URL() + "/" + p.model.FullName() + "/-/jobs/" + itoa(made.id)
	})
}

// branchOf returns the first branch that contains a commit, empty if none does.
func branchOf(p *Project, commit string) string {
	names, err := p.model.Bare.Try("for-each-ref", "--contains", commit, "--format=%(refname:lstrip=2)", "--count=1", "refs/heads/")
	if err != nil {
		return ""
	}
	return names
}

func drawStatus(c *call, st *status) object {
	drawn := object{
		"id": st.id, "sha": st.line.sha, "ref": st.line.ref, "status": st.state, "name": st.name, "target_url": orNull(st.url),
		"description": orNull(st.description), "created_at": stamp(st.at), "started_at": nil, "finished_at": nil,
		"allow_failure": st.mayFail, "coverage": nil, "pipeline_id": st.line.id, "author": drawUser(c, st.by),
	}
	if !st.unfinished() {
		drawn["finished_at"] = stamp(st.at)
	}
	return drawn
}

func listStatuses(c *call) *reply {
	commit, known := c.project.model.Bare.Commit(c.r.PathValue("sha"))
	if !known {
		return notFound("Commit ")
	}
	ensurePipeline(c.project, commit)
	return list(c, currentStatuses(c.project, commit), drawStatus)
}

var settable = []string{"pending", "running", "success", "failed", "canceled", "skipped"}

func createStatus(c *call) *reply {
	commit, known := c.project.model.Bare.Commit(c.r.PathValue("sha"))
	if !known {
		return notFound("Commit ")
	}
	if !slices.Contains(settable, c.text("state")) {
		return answer(http.StatusBadRequest, object{"error": "state does not have a valid value"})
	}
	line := newestPipeline(c.project, commit)
	if c.has("pipeline_id") {
		line = pipelineByID(c.project, int64(c.number("pipeline_id")), commit)
		if line == nil {
			return notFound("Pipeline for pipeline_id, sha and ref ")
		}
	}
	if line == nil {
		// GitLab creates a pipeline, which it accepts where pipelines must succeed.
		c.s.t.Errorf("gitlabtest: a status of commit %s would create a pipeline", commit)
		branch := branchOf(c.project, commit)
		if branch == "" {
			return notFound("References for commit ")
		}
		line = newPipeline(c.project, commit, branch)
	}
	if guard, guarded := c.project.protection(line.ref); guarded && !c.project.allows(guard.Push, c.who()) && !c.project.allows(guard.Merge, c.who()) {
		return refuse(http.StatusForbidden, "403 Forbidden")
	}
	for name, field := range map[string]string{"name": "name", "description": "description", "target_url": "target_url"} {
		if utf8.RuneCountInString(c.text(name)) > 255 {
			return invalid(field, "is too long (maximum is 255 characters)")
		}
	}
	if url := c.text("target_url"); url != "" && !strings.HasPrefix(url, "https://") && !strings.HasPrefix(url, "http://") {
		return invalid("target_url", "is blocked: Only allowed schemes are http, https")
	}
	set, refusal := setStatus(c.project, status{
		line: line, name: orElse(c.text("name"), "default"), state: c.text("state"), url: c.text("target_url"),
		description: c.text("description"), by: c.who(),
	})
	if refusal != "" {
		return refuse(http.StatusBadRequest, refusal)
	}
	return created(drawStatus(c, set))
}

func listPipelines(c *call) *reply {
	return list(c, c.project.lines, func(_ *call, line *pipeline) object { return drawPipeline(c.project, line).(object) })
}

func listHooks(c *call) *reply {
	return list(c, c.project.hooks, func(_ *call, one hook) object {
		return object{"id": 1, "url": one.url, "project_id": c.project.model.ID, "alert_status": one.status, "disabled_until": nil}
	})
}

func pipelineByID(p *Project, id int64, sha string) *pipeline {
	for _, line := range p.lines {
		if line.id == id && line.sha == sha {
			return line
		}
	}
	return nil
}
