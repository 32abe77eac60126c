package fault

import (
	"fmt"
	"strings"
)

// maxListed is how many names List shows.
const maxListed = 20

// List joins names for an error message. Of many, it shows the first ones.
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
