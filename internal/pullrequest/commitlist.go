package pullrequest

import (
	"net/url"
	"strconv"
	"strings"

	"promoter/internal/scm"
)

// maxCommits is the most commits that are listed of one component.
const maxCommits = 30

// list writes the commits of a comparison, newest first.
func (b *writing) list(comparison scm.Comparison) {
	commits := comparison.Commits
	for i := range min(len(commits), maxCommits) {
		commit := commits[len(commits)-1-i]
		title, _, _ := strings.Cut(commit.Message, "\n")
		b.line("- ", code(commit.ID[:min(len(commit.ID), shortCommit)]), " ", code(title))
	}
	if more := max(comparison.Total, len(commits)) - min(len(commits), maxCommits); more > 0 {
		b.line("- and ", strconv.Itoa(more), " more")
	}
	b.line()
}

// shortCommit is how many digits of a commit people are shown.
const shortCommit = 7

// linkTo returns a link to a page of the forge, or nothing where the address is
// none that may stand in a text.
func linkTo(address string) string {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "https" && parsed.Scheme != "http" || parsed.Host == "" || len(address) > maxAddress {
		return ""
	}
	strange := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("<>()[]\\`\"|*", r) }
	if strings.ContainsFunc(address, strange) {
		return ""
	}
	return " ([compare](" + address + "))"
}

const maxAddress = 500
