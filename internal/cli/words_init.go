package cli

import (
	"io"

	"promoter/internal/config"
	"promoter/internal/suggest"
)

const (
	wordInitShort = "Generate a .promoter.yaml from the files of a checkout"
	wordInitLong  = `init scans a folder and writes a .promoter.yaml to start from: environments from the names of
folders and files, components from the image references, and version selection from the tags in
use. A comment gives the reason for each guess. It queries no registry and never overwrites a
file.

Exit codes: 0 success; 1 no image reference found, or the file exists.`
	wordInitExample = `  promoter init
  promoter init --dir deploy -o -`

	wordInitPresent = "%s exists and is not overwritten: remove it first, or write to another file with -o"

	flagInitOutput = "file to write, or - for standard output (default: .promoter.yaml in the folder)"
)

// maxPositions is how many places of one warning are listed.
const maxPositions = 5

// sayWarnings writes each warning with where it is seen and what to do.
func sayWarnings(w io.Writer, warnings []suggest.Warning) {
	for _, warning := range warnings {
		say(w, "warning: %s", warning.Text)
		shown := warning.Positions[:min(len(warning.Positions), maxPositions)]
		for _, position := range shown {
			sayMore(w, "  %s", position)
		}
		if more := len(warning.Positions) - len(shown); more > 0 {
			sayMore(w, "  and %d more", more)
		}
		sayMore(w, "  -> %s", warning.Advice)
	}
}

// saySuggested says what was written and how to go on.
func saySuggested(w io.Writer, s *suggest.Suggestion, output, dir string) {
	active := 0
	for _, component := range s.Components {
		if component.Active {
			active++
		}
	}
	held := count(active, "component", "components") + ", " + count(len(s.Environments), "environment", "environments")
	if len(s.Applications) > 0 {
		held += ", " + count(len(s.Applications), "application", "applications")
	}
	if output == standardOutput {
		say(w, "%s; nothing was written", held)
		return
	}
	say(w, "wrote %s: %s", output, held)
	at := ""
	if dir != "." {
		at = " --dir " + dir
	}
	sayMore(w, "next:")
	sayMore(w, "  read and adapt %s", output)
	sayMore(w, "  promoter validate%s", at)
	sayMore(w, "  promoter plan%s", at)
}

// sayNothingToFollow says what a folder would have to hold.
func sayNothingToFollow(w io.Writer, err error) {
	say(w, "%v", err)
	sayMore(w, "  -> %s needs at least one: a value like quay.io/acme/web:1.4.2, a kustomize images: entry, or a repository with a tag in Helm values", config.FileName)
}
