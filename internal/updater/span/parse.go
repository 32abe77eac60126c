package span

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// parse returns all documents of a stream.
func parse(data []byte) ([]*yaml.Node, error) {
	documents, err := decode(data)
	if err != nil {
		if documents, ok := parseSlashes(data); ok {
			return documents, nil
		}
	}
	return documents, err
}

// decode runs the parser. It converts a panic in the parser to an error.
func decode(data []byte) (documents []*yaml.Node, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("the YAML parser failed: %v", problem)
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		document := new(yaml.Node)
		err := decoder.Decode(document)
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
		}
		documents = append(documents, document)
	}
}

// JSON and YAML 1.2 allow \/ in a string, but the parser does not. Such a
// stream is parsed with \e instead, an escape of the same length that streams
// rarely contain, and the values are corrected afterwards.
const (
	escapedSlash    = `\/`
	substitute      = `\e`
	substituteValue = "\x1b"
)

// parseSlashes parses a stream with escaped slashes. It returns false if the
// stream has none, or if it already contains the substitute.
func parseSlashes(data []byte) (documents []*yaml.Node, ok bool) {
	if !bytes.Contains(data, []byte(escapedSlash)) || hasSubstitute(data) {
		return nil, false
	}
	masked := bytes.Clone(data)
	for i := 0; i+1 < len(masked); i++ {
		if masked[i] == '\\' {
			if masked[i+1] == '/' {
				masked[i+1] = substitute[1]
			}
			i++
		}
	}
	documents, err := decode(masked)
	if err != nil {
		return nil, false
	}
	for _, document := range documents {
		restoreSlashes(document)
	}
	return documents, true
}

// hasSubstitute reports whether the stream contains the substitute, or its
// value, in any form.
func hasSubstitute(data []byte) bool {
	lower := bytes.ToLower(data)
	for _, form := range []string{substitute, substituteValue, `\x1b`, `001b`} {
		if bytes.Contains(lower, []byte(form)) {
			return true
		}
	}
	return false
}

// restoreSlashes restores the slashes in the values of a node and its
// descendants.
func restoreSlashes(n *yaml.Node) {
	if n.Style&yaml.DoubleQuotedStyle != 0 {
		n.Value = strings.ReplaceAll(n.Value, substituteValue, "/")
	} else {
		n.Value = strings.ReplaceAll(n.Value, substitute, escapedSlash)
	}
	for _, child := range n.Content {
		restoreSlashes(child)
	}
}
