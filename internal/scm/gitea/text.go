package gitea

import "promoter/internal/scm/rest"

// Limits in characters. Gitea has none for bodies; this one keeps pages readable.
const (
	maxTitle       = 250 // of a pull request; the column allows 255
	maxBody        = 65536
	maxLabel       = 50
	maxDescription = 255 // of a status
)

const cutWords = "\n\n… cut here: the text was too long."

func cutTitle(title string) string { return rest.Shorten(title, maxTitle, "…") }

func cutBody(body string) string { return rest.Shorten(body, maxBody, cutWords) }
