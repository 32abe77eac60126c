package pullrequest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"promoter/internal/printable"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/scm"
)

// maxDescription is the most runes of a status that GitHub accepts.
const maxDescription = 140

// StatusOf returns the commit status of a pull request of promoter: passed if all
// gates of the config passed, so that the status can be required. The gates of the
// forge do not count: a status that waits for them would keep users and merge
// queues from merging.
func StatusOf(p propose.Proposal) scm.Status {
	if p.Step != propose.StepPropose {
		return status(scm.CheckPending, p.Reason.Message+until(p.Reason.Until))
	}
	gates := slices.DeleteFunc(slices.Clone(p.Gates), func(gate promotion.Condition) bool { return gate.Forge })
	if blocking, blocked := promotion.FirstBlocking(gates, false); blocked {
		check, label := scm.CheckPending, "waiting for "
		switch blocking.State {
		case promotion.Failed:
			check, label = scm.CheckFailed, "failed: "
		case promotion.Blocked:
			label = "a setting blocks: "
		}
		why := promotion.BlockedBy(blocking)
		return status(check, label+why.Message+until(why.Until))
	}
	if p.Open != nil && p.Open.Refused != nil {
		return status(scm.CheckPassed, refusalDescription(*p.Open.Refused))
	}
	var passed []string
	switch len(gates) {
	case 0:
	case 1:
		passed = append(passed, gates[0].Name+" passed")
	default:
		passed = append(passed, fmt.Sprintf("all %d gates passed", len(gates)))
	}
	if blocking, blocked := promotion.FirstBlocking(p.Gates, false); blocked { // it is one of the forge
		passed = append(passed, "the forge waits for "+blocking.Name)
	}
	return status(scm.CheckPassed, cmp.Or(strings.Join(passed, ", "), "ready to merge"))
}

// StatusOfOthers returns the commit status of a pull request that is not
// promoter's: whether the config of its head is valid.
func StatusOfOthers(config error) scm.Status {
	if config != nil {
		return status(scm.CheckFailed, "not a promotion; the config has an error: "+config.Error())
	}
	return status(scm.CheckPassed, "not a promotion")
}

// StatusOfConfig returns the commit status of the head of the default branch: what is
// wrong with its config file. It is empty if the config is valid again.
func StatusOfConfig(wrong string) scm.Status {
	if wrong != "" {
		return status(scm.CheckFailed, wrong)
	}
	return status(scm.CheckPassed, "the config is valid")
}

// StatusOfTakenOver returns the commit status of a pull request of promoter that a user
// took over. It fails until the user undoes that: the gates of the config were not
// checked for its commits.
func StatusOfTakenOver(why string) scm.Status {
	return status(scm.CheckFailed, "not promoter's anymore: "+why)
}

func status(state scm.CheckState, description string) scm.Status {
	return scm.Status{Context: promotion.StatusContext, State: state, Description: printable.ShortLine(description, maxDescription)}
}

// The shortest and the longest time until a refused merge is tried again.
const (
	minRetry = 5 * time.Minute
	maxRetry = 24 * time.Hour
)

// A refused merge is stored in the status of the head, because nothing else
// belongs to the head and outlives the process: "refused 2026-11-18 11:00 UTC:
// WORDS [1a2b3c4d]", or with ", RULE" before the colon. In brackets is the fingerprint,
// which is part of the words for processes that do not know it. The format must not change.
const (
	refusedPrefix = "refused "
	refusedTime   = "2006-01-02 15:04 UTC"
)

// refusedFingerprint is at the end of a stored refusal.
var refusedFingerprint = regexp.MustCompile(` \[([0-9a-f]{8})\]$`)

// NewRefusal returns a refusal of an open pull request as the status will store it. The merge is tried again
// after as much time as nothing had changed about the head, so that attempts become rare.
func NewRefusal(rule, words string, now time.Time, open promotion.Open) promotion.Refusal {
	made := promotion.Refusal{Rule: rule, Words: words, Fingerprint: open.Fingerprint, At: now}
	stored, _ := ParseRefusal(refusalDescription(made), open.Changed)
	return stored
}

func refusalDescription(r promotion.Refusal) string {
	head, tail := refusedPrefix+r.At.UTC().Format(refusedTime), ""
	if r.Rule != "" {
		head += ", " + r.Rule
	}
	if r.Fingerprint != "" {
		tail = " [" + r.Fingerprint + "]"
	}
	words := cmp.Or(printable.ShortLine(r.Words, maxDescription), "no reason given")
	return printable.ShortLine(head+": "+words, maxDescription-len(tail)) + tail
}

// A refused merge is also stored in our part of the body, because not every project has a
// place for statuses: "<!-- promoter:refused COMMIT DESCRIPTION -->", with the description of
// the status. Users who edit it delay the next attempt, or cause one.
const refusedMark = "<!-- promoter:refused "

// refusalMark is the line of the body; empty if no merge of the head was refused.
func refusalMark(p propose.Proposal) string {
	if p.Open == nil || p.Open.Refused == nil {
		return ""
	}
	return refusedMark + p.Open.Commit + " " + escape(refusalDescription(*p.Open.Refused), maxDescription) + " -->"
}

// RefusalInBody returns the description of a refused merge of a commit that our part of a
// body has; empty: it has none.
func RefusalInBody(body, commit string) string {
	_, rest, _ := strings.Cut(body, beginMarker)
	ours, _, _ := strings.Cut(rest, endMarker)
	_, rest, _ = strings.Cut(ours, refusedMark+commit+" ")
	description, _, found := strings.Cut(rest, " -->")
	if !found {
		return ""
	}
	return printable.ShortLine(description, maxDescription) // without what escape added
}

// ParseRefusal parses the description of promoter's own status; false if it is not
// a refusal.
func ParseRefusal(description string, changed time.Time) (promotion.Refusal, bool) {
	rest, refused := strings.CutPrefix(description, refusedPrefix)
	if !refused || len(rest) < len(refusedTime) {
		return promotion.Refusal{}, false
	}
	at, err := time.Parse(refusedTime, rest[:len(refusedTime)])
	head, words, found := strings.Cut(rest[len(refusedTime):], ": ")
	if err != nil || !found || strings.TrimSpace(words) == "" {
		return promotion.Refusal{}, false
	}
	r := promotion.Refusal{At: at.UTC()}
	if stored := refusedFingerprint.FindStringSubmatch(words); stored != nil {
		words, r.Fingerprint = strings.TrimSuffix(words, stored[0]), stored[1]
	}
	if r.Words = words; strings.TrimSpace(words) == "" {
		return promotion.Refusal{}, false
	}
	switch rule := strings.TrimPrefix(head, ", "); rule {
	case "", scm.RuleQueue, scm.RuleSigned, scm.RuleLinear:
		r.Rule = rule
	default:
		return promotion.Refusal{}, false
	}
	r.Until = r.At.Add(min(max(r.At.Sub(changed), minRetry), maxRetry)).Truncate(time.Minute)
	return r, true
}
