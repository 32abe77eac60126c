package pullrequest

import (
	"strings"
	"unicode/utf8"
)

// The markers around our part of a pull request. They must not change: what stands
// outside of them is the person's.
const (
	beginMarker = "<!-- promoter:begin -->"
	endMarker   = "<!-- promoter:end -->"
)

// maxBody is the most runes of the text of a pull request. GitHub takes so many.
const maxBody = 65_536

// MergeBody returns the text of a pull request with our part replaced. Text outside
// of the markers is the person's and stays. A text without the markers is a
// person's as a whole and stays too: who takes our part out does not want it. An
// empty text is nobody's and becomes ours. Where both have no room, ours is cut.
func MergeBody(existing, ours string) string {
	if strings.TrimSpace(existing) == "" {
		return ours
	}
	before, rest, begins := strings.Cut(existing, beginMarker)
	_, after, ends := strings.Cut(rest, endMarker)
	if !begins || !ends {
		return existing
	}
	present := existing[len(before) : len(existing)-len(after)]
	room := maxBody - utf8.RuneCountInString(before) - utf8.RuneCountInString(after)
	if room < minBody {
		return existing
	}
	ours = fit(ours, room)
	if strings.ReplaceAll(present, "\r\n", "\n") == ours { // some forges write their own ends of lines
		return existing
	}
	return before + ours + after
}

// minBody is the room without which our part says nothing.
const minBody = 500

// cutNote ends a part that was cut.
const cutNote = "\n\n*The rest is left out: a pull request has no room for more.*\n\n" + endMarker

// fit cuts our part at the end of a line, so that at most so many runes are left.
func fit(ours string, room int) string {
	if utf8.RuneCountInString(ours) <= room {
		return ours
	}
	head := string([]rune(ours)[:room-utf8.RuneCountInString(cutNote)])
	if end := strings.LastIndexByte(head, '\n'); end > 0 {
		head = head[:end]
	}
	return strings.TrimRight(head, "\n") + cutNote
}
