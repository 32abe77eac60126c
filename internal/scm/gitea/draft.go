package gitea

import (
	"context"
	"strings"

	"promoter/internal/scm"
)

// draftPrefix marks a draft. Gitea and Forgejo recognize drafts only by their titles,
// with these two prefixes unless WORK_IN_PROGRESS_PREFIXES is configured.
// https://docs.gitea.com/usage/pull-request#work-in-progress-pull-requests
const draftPrefix = "WIP: "

// draftPrefixes returns the prefixes of drafts: first the defaults, then common
// custom ones, which count only if the server itself reports a draft.
func draftPrefixes(told bool) []string {
	prefixes := []string{"WIP:", "[WIP]"}
	if told {
		prefixes = append(prefixes, "Draft:", "[Draft]", "(Draft)")
	}
	return prefixes
}

// draftOf removes the prefix from the title of a draft, and caches it, so that
// editing the title keeps the draft state.
func (p pulls) draftOf(pull scm.PullRequest) (draft bool, title string) {
	prefix := prefixOf(pull.Title, pull.Draft)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drafts[pull.Number] = prefix
	return pull.Draft || prefix != "", pull.Title[len(prefix):]
}

// prefixOf returns the draft prefix of a title, with the following blanks.
func prefixOf(title string, told bool) string {
	for _, prefix := range draftPrefixes(told) {
		if len(title) >= len(prefix) && strings.EqualFold(title[:len(prefix)], prefix) {
			rest := title[len(prefix):]
			return title[:len(title)-len(strings.TrimLeft(rest, " "))]
		}
	}
	return ""
}

// keptPrefix returns the current draft prefix of a pull request.
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
