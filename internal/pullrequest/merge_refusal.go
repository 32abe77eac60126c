package pullrequest

import (
	"cmp"
	"strings"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/scm"
)

// The shortest and the longest time for which a refused merge is not tried again.
const (
	shortRefusal = 5 * time.Minute
	longRefusal  = 24 * time.Hour
)

// NewRefusal makes what the status will say of a refusal, and nothing more. changed
// is when something last changed about the head: it is tried again when as much
// time has passed once more, so that tries become rare.
func NewRefusal(rule, words string, now, changed time.Time) promotion.Refusal {
	made, _ := ParseRefusal(refusalDescription(promotion.Refusal{Rule: rule, Words: words, At: now}), changed)
	return made
}

// The format of a refusal in a status: "refused 2026-11-18 11:00 UTC: WORDS", or
// with ", RULE" before the colon. It must not change.
const (
	refusedPrefix = "refused "
	refusedTime   = "2006-01-02 15:04 UTC"
)

// refusalDescription is what the status says.
func refusalDescription(r promotion.Refusal) string {
	head := refusedPrefix + r.At.UTC().Format(refusedTime)
	if r.Rule != "" {
		head += ", " + r.Rule
	}
	return oneLine(head+": "+cmp.Or(oneLine(r.Words, maxDescription), "no reason given"), maxDescription)
}

// ParseRefusal reads what our own status said of a refusal; false where it says
// something else.
func ParseRefusal(description string, changed time.Time) (promotion.Refusal, bool) {
	rest, refused := strings.CutPrefix(description, refusedPrefix)
	if !refused || len(rest) < len(refusedTime) {
		return promotion.Refusal{}, false
	}
	at, err := time.Parse(refusedTime, rest[:len(refusedTime)])
	head, words, told := strings.Cut(rest[len(refusedTime):], ": ")
	if err != nil || !told || strings.TrimSpace(words) == "" {
		return promotion.Refusal{}, false
	}
	r := promotion.Refusal{Words: words, At: at.UTC()}
	switch rule := strings.TrimPrefix(head, ", "); rule {
	case "", scm.RuleQueue, scm.RuleSigned, scm.RuleLinear:
		r.Rule = rule
	default:
		return promotion.Refusal{}, false
	}
	r.Until = r.At.Add(min(max(r.At.Sub(changed), shortRefusal), longRefusal)).Truncate(time.Minute)
	return r, true
}
