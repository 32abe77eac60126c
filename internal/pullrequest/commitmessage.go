package pullrequest

import (
	"fmt"
	"strings"
)

// maxListed is how many moves the message of a commit lists. Its trailers name
// all, and need the room.
const maxListed = 50

// CommitMessage returns the subject, which is the title, and the body of the
// commit of a page; the trailers stand after it. Nothing in it mentions anybody or
// refers to anything: whoever reads the history did not ask for it.
func CommitMessage(p Page) (subject, body string) {
	var lines []string
	for _, d := range p.Decisions {
		for _, move := range p.shown(d) {
			line := disarm(move.String(), maxReason)
			if len(p.Decisions) > 1 {
				line = d.Application + ": " + line
			}
			lines = append(lines, line)
		}
	}
	if more := len(lines) - maxListed; more > 0 {
		lines = append(lines[:maxListed], fmt.Sprintf("and %d more", more))
	}
	return Title(p), strings.Join(lines, "\n")
}
