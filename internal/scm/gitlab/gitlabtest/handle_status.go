package gitlabtest

import (
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

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
		branch := branchOf(c.project, commit)
		if branch == "" {
			return notFound("References for commit ")
		}
		line = newPipeline(c.project, commit, branch)
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

func pipelineByID(p *Project, id int64, sha string) *pipeline {
	for _, line := range p.lines {
		if line.id == id && line.sha == sha {
			return line
		}
	}
	return nil
}
