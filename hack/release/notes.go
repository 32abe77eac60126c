package main

import (
	"fmt"
	"strings"
)

// notes returns what the changelog has about a version: the section with its number, or of a
// snapshot the section of what is not released. A release without a section is an error.
func notes(changelog, version string) (string, error) {
	heading := version
	if isSnapshot(version) {
		heading = "Unreleased"
	}
	var section strings.Builder
	inside := false
	for line := range strings.Lines(changelog) {
		if title, isHeading := strings.CutPrefix(line, "## "); isHeading {
			if inside {
				break
			}
			name, _, _ := strings.Cut(strings.TrimSpace(title), " ")
			inside = strings.Trim(name, "[]") == heading
			continue
		}
		if inside {
			section.WriteString(line)
		}
	}
	text := strings.TrimSpace(section.String())
	if text == "" {
		return "", fmt.Errorf("CHANGELOG.md has no section '## %s'", heading)
	}
	return "# promoter " + version + "\n\n" + text + "\n", nil
}
