package shapes

import (
	"errors"
	"fmt"
	"regexp"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/config/field"
	"promoter/internal/edit"
	"promoter/internal/updater/node"
	"promoter/internal/updater/site"
	"promoter/internal/updater/span"
)

// shapeWrite is a location that the configuration names.
const shapeWrite edit.Shape = "write"

// Write is a configured location for which the default shapes are not enough: a
// scalar by its path, or the single group of a regular expression over the
// file's text.
type Write struct {
	Path      string // YAML path; if empty, Regex is used
	Regex     string // with one group, which matches within one value
	Component string
	// Value contains the placeholders {component}, {version}, {tag}, {digest}
	// and {revision}. The caller fills in placeholders of the target, such as
	// {environment}.
	Value  string
	Create bool // create the key of the path's last step if it is missing
}

// addWrites adds the sites of the configured locations. It runs first, so that
// no shape inspects their scalars.
func addWrites(d *document, out *sink, writes []Write) {
	if len(writes) > 0 {
		out.written = map[*yaml.Node]bool{}
	}
	for _, w := range writes {
		if err := addWrite(d, out, w); err != nil {
			out.refuseLine(1, w.Component, "write: "+err.Error())
		}
	}
}

func addWrite(d *document, out *sink, w Write) error {
	followed, found := d.follower.Named(d.file, w.Component)
	if !found {
		return fmt.Errorf("the component %s is not followed here", w.Component)
	}
	s := site.Site{Shape: shapeWrite, Followed: followed, Marked: true}
	if w.Path == "" && d.stream.IsText() {
		return addTextRegex(d, out, w, s)
	}
	if w.Path == "" {
		return addRegex(d, out, w, s)
	}
	path, err := field.ParseYAMLPath(w.Path)
	if err != nil {
		return err //nolint:wrapcheck // what is wrong with the path
	}
	target, err := only(d, path, w.Path)
	switch {
	case err != nil:
		return err
	case target == nil && w.Create:
		return addCreated(d, out, w, s, path)
	case target == nil:
		return fmt.Errorf("there is nothing at %s; set create: true to create its last key", w.Path)
	case !node.IsScalar(target):
		return fmt.Errorf("the value at %s is not a scalar", w.Path)
	}
	s.Tag = &site.Part{Scalar: d.scalar(target), Format: site.FormatTemplate, Template: w.Value}
	out.written[target] = true
	out.add(s, "")
	return nil
}

// only returns the node at the path if exactly one document has it, or nil.
func only(d *document, path field.YAMLPath, written string) (found *yaml.Node, err error) {
	for _, document := range d.stream.Documents {
		for _, root := range document.Content {
			n := node.Follow(root, path)
			if n != nil && found != nil {
				return nil, fmt.Errorf("several documents of the file have %s", written)
			}
			if n != nil {
				found = n
			}
		}
	}
	return found, nil
}

// addCreated adds the site of a key that does not exist. The key is added after
// the last scalar of its mapping.
func addCreated(d *document, out *sink, w Write, s site.Site, path field.YAMLPath) error {
	above, key, isKey := path.Cut()
	parent, err := only(d, above, w.Path)
	if err != nil {
		return err
	}
	if parent = node.Resolve(parent); parent == nil || parent.Kind != yaml.MappingNode || !isKey {
		return fmt.Errorf("there is no mapping at %s in which the key could be created", w.Path)
	}
	for i := len(parent.Content) - 1; i > 0; i -= 2 {
		if last := parent.Content[i]; node.IsScalar(last) {
			s.Tag = &site.Part{Scalar: d.scalar(last), Format: site.FormatTemplate, Template: w.Value, Create: key, Mapping: parent}
			out.found.Sites = append(out.found.Sites, s)
			return nil
		}
	}
	return fmt.Errorf("the mapping at %s has no scalar after which the key could be created", w.Path)
}

// addRegex adds sites for all matches of a regular expression.
func addRegex(d *document, out *sink, w Write, s site.Site) error {
	expression, err := regexp.Compile(w.Regex)
	if err != nil || expression.NumSubexp() != 1 {
		return fmt.Errorf("the expression %s must be valid and have one group", w.Regex)
	}
	matches := expression.FindAllSubmatchIndex(d.stream.Data, -1)
	if len(matches) == 0 {
		return fmt.Errorf("nothing in the file matches %s", w.Regex)
	}
	for _, match := range matches {
		p, err := partOf(d, span.Span{Start: match[2], End: match[3]})
		if err != nil {
			return fmt.Errorf("%s: %w", w.Regex, err)
		}
		p.Template = w.Value
		s.Tag = p
		out.written[p.Scalar.Node] = true
		out.claim(p.Scalar.Node)
		out.found.Sites = append(out.found.Sites, s)
	}
	return nil
}

// addTextRegex adds the site for the only match of a regular expression in text that is not YAML.
func addTextRegex(d *document, out *sink, w Write, s site.Site) error {
	expression, err := regexp.Compile(w.Regex)
	if err != nil || expression.NumSubexp() != 1 {
		return fmt.Errorf("the expression %s must be valid and have one group", w.Regex)
	}
	switch matches := len(expression.FindAllIndex(d.stream.Data, maxTextMatches)); matches {
	case 0:
		return fmt.Errorf("nothing in the file matches %s", w.Regex)
	case 1:
	default:
		return fmt.Errorf("%s matches several times; in files that are neither YAML nor JSON, it must match once", w.Regex)
	}
	match := expression.FindSubmatchIndex(d.stream.Data)
	at := span.Span{Start: match[2], End: match[3]}
	if at.Start < 0 || d.stream.LineEnd(at.Start) < at.End {
		return fmt.Errorf("%s: the match is not within one line", w.Regex)
	}
	if s.Tag, err = partOf(d, at); err != nil {
		return fmt.Errorf("%s: %w", w.Regex, err)
	}
	s.Tag.Template = w.Value
	out.written[s.Tag.Scalar.Node] = true
	out.claim(s.Tag.Scalar.Node)
	out.found.Sites = append(out.found.Sites, s)
	return nil
}

var errNotInValue = errors.New("a match is not within one value")

// partOf returns the part for the scalar that contains the matched bytes.
func partOf(d *document, match span.Span) (*site.Part, error) {
	for _, document := range d.stream.Documents {
		if n := scalarAround(d.stream, document, match); n != nil {
			return partWithin(d, n, match)
		}
	}
	return nil, errNotInValue
}

// scalarAround returns the scalar that contains the bytes, or nil.
func scalarAround(s *span.Stream, n *yaml.Node, match span.Span) *yaml.Node {
	if node.IsScalar(n) {
		found, err := s.Span(n)
		if err == nil && found.Start <= match.Start && match.End <= found.End {
			return n
		}
	}
	for _, child := range n.Content {
		if found := scalarAround(s, child, match); found != nil {
			return found
		}
	}
	return nil
}

// partWithin splits a scalar's value around the bytes. A value with escapes
// differs from its text in the file and cannot be split.
func partWithin(d *document, n *yaml.Node, match span.Span) (*site.Part, error) {
	found, err := d.stream.Span(n)
	if err != nil {
		return nil, err
	}
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		found = span.Span{Start: found.Start + 1, End: found.End - 1}
	}
	raw := d.stream.Data[found.Start:found.End]
	s := d.scalar(n)
	if string(raw) != s.Value() || match.Start < found.Start || match.End > found.End || match.Start < 0 {
		return nil, errNotInValue
	}
	return &site.Part{
		Scalar: s, Format: site.FormatTemplate,
		Before: string(raw[:match.Start-found.Start]), After: string(raw[match.End-found.Start:]),
	}, nil
}
