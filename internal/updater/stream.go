package updater

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// stream is YAML text with its documents: a file, or the text of a scalar in
// another stream.
type stream struct {
	text
	documents []*yaml.Node
	holder    *holder // nil if the stream is a file
	marks     bool    // the text may contain markers
}

// newStream parses a file.
func newStream(data []byte) (*stream, error) {
	documents, err := parse(data)
	return &stream{text: newText(data), marks: hasMarkers(data), documents: documents}, err
}

// parse returns all documents of a stream.
func parse(data []byte) ([]*yaml.Node, error) {
	documents, err := parseAll(data)
	if err != nil {
		if documents, ok := parseSlashes(data); ok {
			return documents, nil
		}
	}
	return documents, err
}

// parseAll runs the parser. It converts a panic in the parser to an error.
func parseAll(data []byte) (documents []*yaml.Node, err error) {
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

// fileOffset converts an offset in the stream to an offset in the file.
func (s *stream) fileOffset(offset int) (int, error) {
	for s.holder != nil {
		outer, err := s.holder.outerOffset(offset)
		if err != nil {
			return 0, err
		}
		s, offset = s.holder.stream, outer
	}
	return offset, nil
}

// file returns the stream that is the file.
func (s *stream) file() *stream {
	for s.holder != nil {
		s = s.holder.stream
	}
	return s
}
