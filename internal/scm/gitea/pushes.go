package gitea

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// moving are the activities that move a branch.
// https://github.com/go-gitea/gitea/blob/v1.26.0/models/activities/action.go
func moving() []string {
	return []string{"commit_repo", "delete_branch", "mirror_sync_push", "mirror_sync_create", "mirror_sync_delete"}
}

// pushContent is what is needed of the content of a push, which is JSON in a text.
type pushContent struct {
	HeadCommit *struct{ Sha1 string }
	CompareURL string // OWNER/NAME/compare/BEFORE...AFTER
}

// Pushed lists the activities of the repository, which have pushes of all branches and more. Those of a user with private
// activities are shown to administrators of the server only.
func (r *repository) Pushed(ctx context.Context, branch string, since time.Time) ([]scm.Push, error) {
	seen := 0
	pushes, err := rest.Pushes(since, func(page rest.Page) ([]scm.Push, int, error) {
		at := max(page.Number, 1)
		options := sdk.ListRepoActivityFeedsOptions{ListOptions: sdk.ListOptions{Page: at, PageSize: perPage}}
		feed, resp, err := r.api(ctx).ListRepoActivityFeeds(r.owner, r.name, options)
		if err != nil {
			return nil, 0, answered(resp, err)
		}
		var list []scm.Push
		for _, one := range feed {
			if slices.Contains(moving(), one.OpType) && strings.TrimPrefix(one.RefName, "refs/heads/") == branch {
				list = append(list, moved(one))
			}
		}
		if seen += len(feed); !more(resp, seen, len(feed)) {
			return list, 0, nil
		}
		return list, at + 1, nil
	})
	return pushes, r.explain(r.noun("activities of branch %s", rest.OneLine(branch)), err)
}

// moved reads a move. The activity of a created or deleted branch has no content; what created one is an activity too.
func moved(activity *sdk.Activity) scm.Push {
	push := scm.Push{At: activity.Created.UTC()}
	var content pushContent
	if json.Unmarshal([]byte(activity.Content), &content) != nil || content.HeadCommit == nil {
		return push
	}
	push.After = rest.PushedCommit(content.HeadCommit.Sha1)
	if before, _, compared := strings.Cut(path.Base(content.CompareURL), "..."); compared {
		push.Before = rest.PushedCommit(before)
	}
	return push
}
