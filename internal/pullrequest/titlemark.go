package pullrequest

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// titleMark stands in our part of a pull request and says, as a hash, which title was
// given with it. Words and title are written by one request, so a title that the text
// beside it names is ours, whatever was pushed since.
func titleMark(title string) string {
	sum := sha256.Sum256([]byte(title))
	return "<!-- promoter:title " + hex.EncodeToString(sum[:8]) + " -->"
}

// GaveTitle says whether a title was given with the text of a pull request. False is no
// proof: older releases made no mark, and a person may have taken it out.
func GaveTitle(body, title string) bool { return strings.Contains(body, titleMark(title)) }
