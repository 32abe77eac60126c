package github

import "promoter/internal/scm/rest"

// GitHub's limits in characters.
const (
	maxTitle       = 250 // of a pull request; GitHub allows 256
	maxBody        = 65536
	maxLabel       = 50
	maxDescription = 140 // of a status
)

const cutWords = "\n\n… cut here: GitHub takes no longer text."

func cutTitle(title string) string { return rest.Shorten(title, maxTitle, "…") }

func cutBody(body string) string { return rest.Shorten(body, maxBody, cutWords) }
