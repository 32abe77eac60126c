package updater

import (
	"bytes"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// JSON and YAML 1.2 allow \/ in a string, but the parser does not. Such a
// stream is parsed with \e instead, an escape of the same length that streams
// rarely contain, and the values are corrected afterwards.
const (
	escapedSlash = `\/`
	standIn      = `\e`
	standInValue = "\x1b"
)

// parseSlashes parses a stream with escaped slashes. It returns false if the
// stream has none, or if it already contains the substitute.
func parseSlashes(data []byte) (documents []*yaml.Node, ok bool) {
	if !bytes.Contains(data, []byte(escapedSlash)) || hasEscape(data) {
		return nil, false
	}
	masked := bytes.Clone(data)
	for i := 0; i+1 < len(masked); i++ {
		if masked[i] == '\\' {
			if masked[i+1] == '/' {
				masked[i+1] = standIn[1]
			}
			i++
		}
	}
	documents, err := parseAll(masked)
	if err != nil {
		return nil, false
	}
	for _, document := range documents {
		putSlashes(document)
	}
	return documents, true
}

// hasEscape reports whether the stream contains the substitute, or its value,
// in any form.
func hasEscape(data []byte) bool {
	lower := bytes.ToLower(data)
	for _, form := range []string{standIn, standInValue, `\x1b`, `001b`} {
		if bytes.Contains(lower, []byte(form)) {
			return true
		}
	}
	return false
}

// putSlashes restores the slashes in the values of a node and its descendants.
func putSlashes(n *yaml.Node) {
	if n.Style&yaml.DoubleQuotedStyle != 0 {
		n.Value = strings.ReplaceAll(n.Value, standInValue, "/")
	} else {
		n.Value = strings.ReplaceAll(n.Value, standIn, escapedSlash)
	}
	for _, child := range n.Content {
		putSlashes(child)
	}
}
