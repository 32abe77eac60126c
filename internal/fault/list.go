package fault

import (
	"fmt"
	"strings"
)

// maxListed is the number of names that List shows.
const maxListed = 20

// List joins names for an error message. It truncates long lists.
func List(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	text := strings.Join(names[:min(len(names), maxListed)], ", ")
	if more := len(names) - maxListed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
