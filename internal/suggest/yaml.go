package suggest

import (
	"regexp"
	"strings"

	"promoter/internal/image"
)

// plainText is text that every YAML parser reads as text, in every position.
var plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]*([:/][A-Za-z0-9._/-]*[A-Za-z0-9])?$`)

// quote returns a text as a YAML scalar: plain if it cannot be read as anything
// else, otherwise in single quotes.
func quote(s string) string {
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return single(s)
	}
	if plainText.MatchString(s) {
		return s
	}
	return single(s)
}

// single returns a text in single quotes, in which only these are special.
func single(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// quoteList returns a flow list.
func quoteList(texts []string) string {
	quoted := make([]string, 0, len(texts))
	for _, text := range texts {
		quoted = append(quoted, quote(text))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// repositoryKey returns the key and value of the repository, in its short form if
// that is the same repository.
func (c *Component) repositoryKey() string {
	if c.Artifact != image.ArtifactImage {
		return string(c.Artifact) + ": " + quote("oci://"+c.Repository.String())
	}
	name := c.Repository.String()
	if same, err := image.ParseRepository(c.Repository.Familiar()); err == nil && same == c.Repository {
		name = c.Repository.Familiar()
	}
	return "image: " + quote(name)
}

// selectAndPin returns the keys select and pin within a flow mapping.
func (c *Component) selectAndPin() string {
	text := "select: " + c.Selected()
	if c.Pin != "" {
		text += ", pin: " + string(c.Pin)
	}
	return text
}

// Selected returns the value of select as a flow mapping.
func (c *Component) Selected() string { return formatSelection(c.Select) }

func formatSelection(s image.Selection) string {
	var key, value string
	switch {
	case s.Semver != "":
		key, value = "semver", single(s.Semver)
	case s.Tag != "":
		key, value = "tag", quote(s.Tag)
	case s.Newest != "":
		key, value = "newest", single(s.Newest)
	case s.Numeric != "":
		key, value = "numeric", single(s.Numeric)
	default:
		key, value = "alphabetical", single(s.Alphabetical)
	}
	text := "{" + key + ": " + value
	if s.Filter != "" {
		text += ", filter: " + single(s.Filter)
	}
	if len(s.Exclude) > 0 {
		excluded := make([]string, 0, len(s.Exclude))
		for _, expression := range s.Exclude {
			excluded = append(excluded, single(expression))
		}
		text += ", exclude: [" + strings.Join(excluded, ", ") + "]"
	}
	return text + "}"
}
