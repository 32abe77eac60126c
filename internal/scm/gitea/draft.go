package gitea

import (
	"context"
	"strings"

	"promoter/internal/scm"
)

// draftPrefix makes a draft. Gitea and Forgejo know drafts by their titles alone,
// and by these two beginnings unless somebody changed WORK_IN_PROGRESS_PREFIXES.
// https://docs.gitea.com/usage/pull-request#work-in-progress-pull-requests
const draftPrefix = "WIP: "

// draftPrefixes are the beginnings that mean it, first those of every server, then
// those that people add: they count where the server itself calls it a draft.
func draftPrefixes(told bool) []string {
	prefixes := []string{"WIP:", "[WIP]"}
	if told {
		prefixes = append(prefixes, "Draft:", "[Draft]", "(Draft)")
	}
	return prefixes
}

// draftOf takes the beginning off the title of a draft, and remembers it: an edit of
// the title leaves a draft one.
func (p pulls) draftOf(pull scm.PullRequest) (draft bool, title string) {
	prefix := prefixOf(pull.Title, pull.Draft)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drafts[pull.Number] = prefix
	return pull.Draft || prefix != "", pull.Title[len(prefix):]
}

// prefixOf returns what makes a title that of a draft, with the blanks behind it.
func prefixOf(title string, told bool) string {
	for _, prefix := range draftPrefixes(told) {
		if len(title) >= len(prefix) && strings.EqualFold(title[:len(prefix)], prefix) {
			rest := title[len(prefix):]
			return title[:len(title)-len(strings.TrimLeft(rest, " "))]
		}
	}
	return ""
}

// keptPrefix is that of a pull request as it is now.
func (p pulls) keptPrefix(ctx context.Context, number int) (string, error) {
	p.mu.Lock()
	prefix, known := p.drafts[number]
	p.mu.Unlock()
	if known {
		return prefix, nil
	}
	pull, resp, err := p.forge.api(ctx).GetPullRequest(p.owner, p.name, int64(number))
	if err != nil {
		return "", answered(resp, err)
	}
	return prefixOf(pull.Title, pull.Draft), nil
}
