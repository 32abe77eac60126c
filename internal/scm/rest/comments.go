package rest

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"promoter/internal/scm"
)

// CutComments bounds the bodies of comments.
func CutComments(comments []scm.Comment) []scm.Comment {
	for i := range comments {
		comments[i].Body = CutBytes(comments[i].Body, scm.MaxComment)
	}
	return comments
}

// ByChange puts the comment that is the longest unchanged first, and lists none
// twice.
func ByChange(comments []scm.Comment) []scm.Comment {
	slices.SortStableFunc(comments, func(a, b scm.Comment) int {
		return cmp.Or(a.Changed.Compare(b.Changed), cmp.Compare(a.ID, b.ID))
	})
	return slices.CompactFunc(comments, func(a, b scm.Comment) bool { return a.ID == b.ID })
}

// Since is the second of a time, which is as fine as some forges tell time. Before
// there were forges nothing was said.
func Since(at time.Time) time.Time {
	return Later(at.UTC().Truncate(time.Second), time.Date(2005, 1, 1, 0, 0, 0, 0, time.UTC))
}

// CutBytes returns the first characters of a text that fit into limit bytes.
func CutBytes(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// NumberIn is the number at the end of an address of a forge, as in
// https://HOST/OWNER/NAME/pulls/12#comment-5, zero where there is none.
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
