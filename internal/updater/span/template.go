package span

import (
	"errors"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

var errNoTemplate = errors.New("an action of the template does not end")

// Mask hides the actions of a template: each of their characters is the hiding one, which the text
// does not have, so that lines and columns stay. It returns false if it cannot.
type Mask struct {
	Hide func(data []byte) ([]byte, bool)
	Rune rune
}

// ParseTemplate returns the stream of a template whose text is YAML without its actions: lines of
// actions only count as empty, and other actions as parts of the values that they are in.
func ParseTemplate(data []byte, mask Mask) (*Stream, error) {
	s := Unparsed(data)
	s.mask = &mask
	documents, err := s.parseTemplate()
	s.Documents = documents
	return s, err
}

func (s *Stream) parseTemplate() ([]*yaml.Node, error) {
	masked, found := s.mask.Hide(s.Data)
	if !found {
		return nil, errNoTemplate
	}
	documents, err := parse(masked)
	for _, document := range documents {
		s.restoreActions(document)
	}
	return documents, err
}

// restoreActions sets the values that contain actions to their text in the file. Blocks keep the
// mask, so that their place is not found, and they do not change.
func (s *Stream) restoreActions(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && !isBlock(n) && strings.ContainsRune(n.Value, s.mask.Rune) {
		if start, err := s.offset(n.Line, n.Column); err == nil {
			start = skipProperties(s.Data, start)
			if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
				start++
			}
			if text, found := s.unmasked(start, n.Value); found {
				n.Value = text
			}
		}
	}
	for _, child := range n.Content {
		s.restoreActions(child)
	}
}

// unmasked returns the text at an offset, if it is the given one except for actions.
func (s *Stream) unmasked(start int, masked string) (string, bool) {
	end := start
	for _, want := range masked {
		r, width := utf8.DecodeRune(s.Data[min(end, len(s.Data)):])
		if width == 0 || want != s.mask.Rune && want != r {
			return "", false
		}
		end += width
	}
	return string(s.Data[start:end]), true
}
