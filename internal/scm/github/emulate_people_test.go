package github_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"promoter/internal/scm"
	"promoter/internal/scm/scmtest"
)

// commit pushes one file to a branch.
func (p place) commit(c scmtest.Commit) string {
	p.t.Helper()
	if c.By == "" {
		c.By = self
	}
	var ref struct{ Object struct{ SHA string } }
	if p.ask(c.By, "GET", p.path+"/git/ref/heads/"+c.Branch, nil, &ref) == http.StatusNotFound {
		p.must(c.By, "GET", p.path+"/git/ref/heads/main", nil, &ref)
		p.must(c.By, "POST", p.path+"/git/refs", object{"ref": "refs/heads/" + c.Branch, "sha": ref.Object.SHA}, nil)
	}
	body := object{"message": c.Message, "branch": c.Branch, "content": base64.StdEncoding.EncodeToString([]byte(c.Content))}
	var before struct{ SHA string }
	if p.ask(c.By, "GET", p.path+"/contents/"+c.Path+"?ref="+c.Branch, nil, &before) == http.StatusOK {
		body["sha"] = before.SHA
	}
	var made struct{ Commit struct{ SHA string } }
	p.must(c.By, "PUT", p.path+"/contents/"+c.Path, body, &made)
	return made.Commit.SHA
}

func (p place) git() scmtest.Git {
	return scmtest.Git{
		Commit: func(_ *testing.T, c scmtest.Commit) string { return p.commit(c) },
		Log: func(_ *testing.T, branch string) []string {
			var commits []struct{ SHA string }
			p.ask(self, "GET", p.path+"/commits?per_page=100&sha="+branch, nil, &commits)
			var ids []string
			for _, commit := range commits {
				ids = append(ids, commit.SHA)
			}
			return ids
		},
		Message: func(_ *testing.T, id string) string {
			var commit struct{ Message string }
			p.must(self, "GET", p.path+"/git/commits/"+id, nil, &commit)
			return commit.Message
		},
		Delete: func(_ *testing.T, who, branch string) {
			p.must(who, "DELETE", p.path+"/git/refs/heads/"+branch, nil, nil)
		},
	}
}

func (p place) people() scmtest.People {
	pull := func(number int) string { return fmt.Sprintf("%s/pulls/%d", p.path, number) }
	issue := func(number int) string { return fmt.Sprintf("%s/issues/%d", p.path, number) }
	return scmtest.People{
		Open: func(_ *testing.T, who, head, base, title string) int { return p.open(who, head, base, title) },
		Fork: func(_ *testing.T, who, head, base string) int {
			p.must(who, "POST", p.path+"/forks", object{}, nil)
			fork := place{e: p.e, t: p.t, path: strings.Replace(p.path, "/acme/", "/"+who+"/", 1)}
			fork.commit(scmtest.Commit{By: who, Branch: head, Path: "fork.txt", Content: "x", Message: "From a fork"})
			return p.open(who, who+":"+head, base, "From a fork")
		},
		Close: func(_ *testing.T, who string, number int) {
			p.must(who, "PATCH", pull(number), object{"state": "closed"}, nil)
		},
		Merge: func(_ *testing.T, who string, number int, method string) string { return p.merge(who, number, method) },
		Retitle: func(_ *testing.T, who string, number int, title string) {
			p.must(who, "PATCH", pull(number), object{"title": title}, nil)
		},
		Label: func(_ *testing.T, who string, number int, label string) {
			p.must(who, "POST", issue(number)+"/labels", object{"labels": []string{label}}, nil)
		},
		Review: func(_ *testing.T, who string, number int, state scm.ReviewState) {
			words := map[scm.ReviewState]string{scm.Approved: "APPROVE", scm.ChangesRequested: "REQUEST_CHANGES", scm.Commented: "COMMENT"}
			p.must(who, "POST", pull(number)+"/reviews", object{"event": words[state], "body": "words"}, nil)
		},
		Dismiss: func(_ *testing.T, who string, number int) {
			var all []struct {
				ID   int
				User struct{ Login string }
			}
			p.must("owner", "GET", pull(number)+"/reviews", nil, &all)
			for _, one := range all {
				if one.User.Login == who {
					p.must("owner", "PUT", fmt.Sprintf("%s/reviews/%d/dismissals", pull(number), one.ID), object{"message": "no", "event": "DISMISS"}, nil)
				}
			}
		},
		Comment: func(_ *testing.T, who string, number int, body string) {
			p.must(who, "POST", issue(number)+"/comments", object{"body": body}, nil)
		},
		Release: func(_ *testing.T, r scmtest.Release) {
			p.must(scmtest.Ann, "POST", p.path+"/releases", object{"tag_name": r.Tag, "draft": r.Draft, "prerelease": r.Prerelease, "body": r.Notes}, nil)
		},
	}
}

func (p place) open(who, head, base, title string) int {
	p.t.Helper()
	var made struct{ Number int }
	p.must(who, "POST", p.path+"/pulls", object{"title": title, "head": head, "base": base}, &made)
	return made.Number
}

func (p place) merge(who string, number int, method string) string {
	p.t.Helper()
	var pull struct{ Head, Base struct{ SHA, Ref string } }
	if method == "fast-forward" {
		p.must(who, "GET", fmt.Sprintf("%s/pulls/%d", p.path, number), nil, &pull)
		p.must(who, "PATCH", p.path+"/git/refs/heads/main", object{"sha": pull.Head.SHA}, nil)
		return pull.Head.SHA
	}
	var done struct{ SHA string }
	p.must(who, "PUT", fmt.Sprintf("%s/pulls/%d/merge", p.path, number), object{"merge_method": method}, &done)
	return done.SHA
}

func (p place) world(accidents *accidents) scmtest.World {
	set := func(body object) { p.must("owner", "PATCH", p.path, body, nil) }
	permit := func(who, permission string) {
		words := map[string]string{"write": "push", "read": "pull"}
		p.must("owner", "PUT", p.path+"/collaborators/"+who, object{"permission": words[permission]}, nil)
	}
	return scmtest.World{
		Rename:   func(*testing.T) string { set(object{"name": "moved-" + p.name[5:]}); return "acme/moved-" + p.name[5:] },
		Archive:  func(*testing.T) { set(object{"archived": true}) },
		Remove:   func(*testing.T) { p.must("owner", "DELETE", p.path, nil, nil) },
		Permit:   func(_ *testing.T, who, permission string) { permit(who, permission) },
		ReadOnly: func(*testing.T) { permit(self, "read") },
		Methods: func(_ *testing.T, methods ...string) {
			left := strings.Join(methods, " ")
			set(object{
				"allow_merge_commit": strings.Contains(left, "merge"), "allow_squash_merge": strings.Contains(left, "squash"),
				"allow_rebase_merge": strings.Contains(left, "rebase"),
			})
		},
		Lose:     func(*testing.T) { accidents.set(true, 0) },
		Fail:     func(_ *testing.T, status int) { accidents.set(false, status) },
		Requests: accidents.count,
	}
}
