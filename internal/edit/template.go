package edit

import (
	"fmt"
	"regexp"
	"strings"

	"promoter/internal/image"
)

// placeholder matches the placeholders of a template.
var placeholder = regexp.MustCompile(`\{(component|version|tag|digest|revision)\}`)

// Fill fills in a template. It returns an error if the version lacks a value that the template
// requires.
func Fill(template, component string, v image.Version) (string, error) {
	var missing string
	text := placeholder.ReplaceAllStringFunc(template, func(name string) string {
		value := map[string]string{
			"{component}": component, "{version}": v.Version, "{tag}": v.Tag, "{digest}": v.Digest, "{revision}": v.Revision,
		}[name]
		if value == "" {
			missing = name
		}
		return value
	})
	if missing != "" {
		return "", fmt.Errorf("the value needs %s, which the wanted version does not have", missing)
	}
	return text, nil
}

// ReadTemplate returns what a text that a template made has of a version. Without a match, and of what
// is no tag or no digest, it returns nothing.
func ReadTemplate(template, text string) (v image.Version) {
	var pattern strings.Builder
	var names []string
	rest := template
	for _, at := range placeholder.FindAllStringIndex(template, -1) {
		start := len(template) - len(rest)
		pattern.WriteString(regexp.QuoteMeta(template[start:at[0]]))
		pattern.WriteString(`(.*?)`)
		names = append(names, template[at[0]+1:at[1]-1])
		rest = template[at[1]:]
	}
	pattern.WriteString(regexp.QuoteMeta(rest))
	found := regexp.MustCompile(`^` + pattern.String() + `$`).FindStringSubmatch(text)
	for i, name := range names {
		switch {
		case found == nil:
		case name == "tag" && image.ValidTag(found[i+1]):
			v.Tag = found[i+1]
		case name == "digest" && image.ValidDigest(found[i+1]):
			v.Digest = found[i+1]
		case name == "version":
			v.Version = found[i+1]
		case name == "revision":
			v.Revision = found[i+1]
		}
	}
	return v
}

// Derive returns the text that a place with a template must have for a version, or false where that is not
// known, because the version lacks what the template needs.
func (r Reference) Derive(v image.Version) (text string, known bool) {
	text, err := Fill(r.Template, r.Component, v)
	return text, err == nil
}
