package fault

import (
	"fmt"
	"strings"
)

// maxListed is the number of names that List shows.
const maxListed = 20

// List joins names for an error message. It truncates long lists.
func List[Name ~string](names []Name) string {
	if len(names) == 0 {
		return "none"
	}
	var text strings.Builder
	for i, name := range names[:min(len(names), maxListed)] {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(string(name))
	}
	if more := len(names) - maxListed; more > 0 {
		fmt.Fprintf(&text, " and %d more", more)
	}
	return text.String()
}
