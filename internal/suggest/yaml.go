package suggest

import (
	"regexp"
	"strings"

	"promoter/internal/image"
)

// plainText is text that every reader of YAML takes for text, anywhere.
var plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]*([:/][A-Za-z0-9._/-]*[A-Za-z0-9])?$`)

// quote writes a text as a YAML scalar: plain where nobody can take it for
// something else, in single quotes otherwise.
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

// single writes a text in single quotes, in which only these are special.
func single(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// quoteList writes a flow list.
func quoteList(texts []string) string {
	quoted := make([]string, 0, len(texts))
	for _, text := range texts {
		quoted = append(quoted, quote(text))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// repositoryKey writes the key and value that name a component's repository.
func (c *Component) repositoryKey() string {
	if c.Artifact == image.ArtifactImage {
		return "image: " + quote(written(c.Repository))
	}
	return string(c.Artifact) + ": " + quote("oci://"+c.Repository.String())
}

// Selected is the select of the component as the file has it.
func (c *Component) Selected() string { return selection(c.Select) }

// selection writes select as a flow mapping.
func selection(s image.Selection) string {
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
	if s.Filter != "" {
		return "{" + key + ": " + value + ", filter: " + single(s.Filter) + "}"
	}
	return "{" + key + ": " + value + "}"
}
