// Package reasons reads lists of exceptions, each with the reason for it.
package reasons

import (
	"fmt"
	"strings"
)

// Read returns the reasons of the entries of a file by their keys. An entry is a line with the key, and below it lines
// that begin with a space, with the reason. Lines that begin with # are comments. Errors name the file.
func Read(file, text string) (map[string]string, error) {
	reasons := map[string]string{}
	key := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] != ' ':
			if _, twice := reasons[line]; twice {
				return nil, fmt.Errorf("%s has two entries %q", file, line)
			}
			key = line
			reasons[key] = ""
		case key == "":
			return nil, fmt.Errorf("%s begins with a reason", file)
		default:
			reasons[key] = strings.TrimSpace(reasons[key] + " " + strings.TrimSpace(line))
		}
	}
	for key, reason := range reasons {
		if reason == "" {
			return nil, fmt.Errorf("%s has no reason below %q", file, key)
		}
	}
	return reasons, nil
}
