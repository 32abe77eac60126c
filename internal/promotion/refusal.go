package promotion

import (
	"cmp"
	"strings"
	"time"

	"promoter/internal/scm"
)

// Refusal is what a forge said against merging a head. Of much that it may ask,
// such as conversations to be resolved, nothing else tells; so a refused merge is
// not tried again before something is said on the head, or some time is over. It
// is kept in the words of promoter's own status on the head, because no other
// place belongs to the head and outlives a process.
type Refusal struct {
	Rule  string // of scm; empty: the words tell
	Words string
	At    time.Time // in whole minutes
	Until time.Time // when it is tried again
}

// The shortest and the longest time for which a refused merge is not tried again.
const (
	shortRefusal = 5 * time.Minute
	longRefusal  = 24 * time.Hour
)

// NewRefusal makes what the status will say of a refusal, and nothing more. changed
// is when something last changed about the head: it is tried again when as much
// time has passed once more, so that tries become rare.
func NewRefusal(rule, words string, now, changed time.Time) Refusal {
	made, _ := ParseRefusal(Refusal{Rule: rule, Words: words, At: now}.description(), changed)
	return made
}

// The format of a refusal in a status: "refused 2026-11-18 11:00 UTC: WORDS", or
// with ", RULE" before the colon. It must not change.
const (
	refusedPrefix = "refused "
	refusedTime   = "2006-01-02 15:04 UTC"
)

// description is what the status says.
func (r Refusal) description() string {
	head := refusedPrefix + r.At.UTC().Format(refusedTime)
	if r.Rule != "" {
		head += ", " + r.Rule
	}
	return oneLine(head+": "+cmp.Or(oneLine(r.Words, maxDescription), "no reason given"), maxDescription)
}

// ParseRefusal reads what our own status said of a refusal; false where it says
// something else.
func ParseRefusal(description string, changed time.Time) (Refusal, bool) {
	rest, refused := strings.CutPrefix(description, refusedPrefix)
	if !refused || len(rest) < len(refusedTime) {
		return Refusal{}, false
	}
	at, err := time.Parse(refusedTime, rest[:len(refusedTime)])
	head, words, told := strings.Cut(rest[len(refusedTime):], ": ")
	if err != nil || !told || strings.TrimSpace(words) == "" {
		return Refusal{}, false
	}
	r := Refusal{Words: words, At: at.UTC()}
	switch rule := strings.TrimPrefix(head, ", "); rule {
	case "", scm.RuleQueue, scm.RuleSigned, scm.RuleLinear:
		r.Rule = rule
	default:
		return Refusal{}, false
	}
	r.Until = r.At.Add(min(max(r.At.Sub(changed), shortRefusal), longRefusal)).Truncate(time.Minute)
	return r, true
}

// name is the name of the gate.
func (r Refusal) name() string { return cmp.Or(r.Rule, mergeGate) }

// gate is the refusal as what keeps from landing. What could not be read of the
// rules may be what the forge means.
func (r Refusal) gate(hidden string) Condition {
	reason := "the forge refuses it: " + r.Words + r.advice()
	if hidden != "" {
		reason += "; " + hidden
	}
	return Condition{Name: r.name(), State: Blocked, Reason: reason, Until: &r.Until}
}

// advice says what a person can do about it.
func (r Refusal) advice() string {
	switch r.Rule {
	case scm.RuleQueue:
		return "; let promoter bypass the queue, or set land: pr and let people add the pull request to it"
	case scm.RuleSigned:
		return "; promoter signs no commits: allow a way of merging whose commit the forge signs, such as squash"
	case scm.RuleLinear:
		return "; allow squash or rebase merges"
	default:
		return ""
	}
}

// due says whether a gate is a refusal after which a new try is due.
func (c Condition) due(now time.Time) bool {
	return c.Forge && c.State == Blocked && c.Until != nil && !c.Until.After(now)
}
