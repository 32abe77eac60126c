package rest

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"promoter/internal/outbound"
	"promoter/internal/scm"
)

// CutComments truncates the bodies of comments.
func CutComments(comments []scm.Comment) []scm.Comment {
	for i := range comments {
		comments[i].Body = CutBytes(comments[i].Body, scm.MaxComment)
	}
	return comments
}

// ReactionName returns the name that GitHub and Gitea have for one of our reactions.
// https://docs.github.com/en/rest/reactions/reactions#about-reactions
func ReactionName(reaction scm.Reaction) string {
	return map[scm.Reaction]string{scm.ReactionDone: "+1", scm.ReactionRefused: "-1", scm.ReactionUnclear: "confused"}[reaction]
}

// ByChange sorts comments, least recently changed first, and removes duplicates.
func ByChange(comments []scm.Comment) []scm.Comment {
	slices.SortStableFunc(comments, func(a, b scm.Comment) int {
		return cmp.Or(a.Changed.Compare(b.Changed), cmp.Compare(a.ID, b.ID))
	})
	return slices.CompactFunc(comments, func(a, b scm.Comment) bool { return a.ID == b.ID })
}

// Since truncates a time to the second, the precision of some forges. It never
// returns a time before 2005.
func Since(at time.Time) time.Time {
	return outbound.Later(at.UTC().Truncate(time.Second), time.Date(2005, 1, 1, 0, 0, 0, 0, time.UTC))
}

// TimeOf returns a time of an answer in UTC; zero: the answer has none.
func TimeOf(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.UTC()
}

// CutBytes truncates a text to at most limit bytes, at a character boundary.
func CutBytes(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// NumberIn returns the number at the end of a web address, as in
// https://HOST/OWNER/NAME/pulls/12#comment-5, or zero if there is none.
func NumberIn(address string) int {
	parsed, err := url.Parse(address)
	if err != nil {
		return 0
	}
	number, err := strconv.Atoi(path.Base(parsed.Path))
	if err != nil || number < 0 {
		return 0
	}
	return number
}
