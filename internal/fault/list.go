package fault

import (
	"fmt"
	"strings"
)

// maxListed is the number of names that List shows.
const maxListed = 20

// List joins names for an error message. It truncates long lists.
func List[T ~string](names []T) string {
	if len(names) == 0 {
		return "none"
	}
	var shown []string
	for _, name := range names[:min(len(names), maxListed)] {
		shown = append(shown, string(name))
	}
	text := strings.Join(shown, ", ")
	if more := len(names) - maxListed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
