package giteatest

import (
	"encoding/json"

	"promoter/internal/scm/forgetest"
)

// activity is an entry of the feed of a repository.
type activity struct {
	forgetest.Move
	kind, content string
}

// listFeed returns the activities of the repository, of which only moves of branches matter, the newest first. A branch that
// is created has two.
// https://github.com/go-gitea/gitea/blob/v1.26.0/services/feed/notifier.go
func listFeed(c *call) *reply {
	var feed []activity
	for _, m := range c.repo.model.MovesOf("") {
		if m.After == "" {
			feed = append(feed, activity{m, "delete_branch", ""})
			continue
		}
		feed = append(feed, activity{m, "commit_repo", contentOf(c, m)})
		if m.Before == "" {
			feed = append(feed, activity{m, "commit_repo", ""})
		}
	}
	return list(c, feed, false, drawActivity)
}

// contentOf returns the commits of a push as JSON.
// https://github.com/go-gitea/gitea/blob/v1.26.0/modules/repository/commits.go
func contentOf(c *call, m forgetest.Move) string {
	before := m.Before
	if before == "" {
		before = "0000000000000000000000000000000000000000"
	}
	pushed := object{"Sha1": m.After, "Message": c.repo.model.Bare.Message(m.After), "AuthorEmail": "", "AuthorName": m.By.Login}
	text, err := json.Marshal(object{
		"Commits": []object{pushed}, "HeadCommit": pushed, "CompareURL": c.repo.model.FullName() + "/compare/" + before + "..." + m.After, "Len": 1,
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func drawActivity(c *call, a activity) object {
	return object{
		"id": a.ID, "user_id": a.By.ID, "op_type": a.kind, "act_user_id": a.By.ID, "act_user": drawUser(c, a.By), "repo_id": c.repo.model.ID,
		"repo": drawRepository(c, c.repo.model), "comment_id": 0, "comment": nil, "ref_name": "refs/heads/" + a.Branch,
		"is_private": c.repo.model.Private, "content": a.content, "created": stamp(a.At),
	}
}
