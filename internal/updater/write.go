package updater

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
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
func (f *finder) addWrites(writes []Write) {
	if len(writes) > 0 {
		f.written = map[*yaml.Node]bool{}
	}
	for _, w := range writes {
		if err := f.addWrite(w); err != nil {
			f.refusals = append(f.refusals, edit.Refusal{File: f.path, Line: 1, Component: w.Component, Reason: err.Error()})
		}
	}
}

func (f *finder) addWrite(w Write) error {
	followed, found := f.follower.Named(f.path, w.Component)
	if !found {
		return fmt.Errorf("write: the component %s is not followed here", w.Component)
	}
	s := site{shape: shapeWrite, followed: followed}
	if w.Path == "" {
		return f.addRegex(w, s)
	}
	steps, err := parsePath(w.Path)
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	target, err := f.only(steps, w.Path)
	switch {
	case err != nil:
		return err
	case target == nil && w.Create:
		return f.addCreated(w, s, steps)
	case target == nil:
		return fmt.Errorf("write: nothing stands at %s; set create: true to make its last key", w.Path)
	case !isScalar(target):
		return fmt.Errorf("write: what stands at %s is not a scalar", w.Path)
	}
	s.tag = &part{scalar: f.scalar(target), spells: spellsTemplate, template: w.Value}
	f.written[target] = true
	f.add(s)
	return nil
}

// only returns the node at the path if exactly one document has it, or nil.
func (f *finder) only(steps []step, path string) (found *yaml.Node, err error) {
	for _, document := range f.stream.documents {
		for _, root := range document.Content {
			n := followPath(root, steps)
			if n != nil && found != nil {
				return nil, fmt.Errorf("write: several documents of the file have %s", path)
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
func (f *finder) addCreated(w Write, s site, steps []step) error {
	last := steps[len(steps)-1]
	parent, err := f.only(steps[:len(steps)-1], w.Path)
	if len(steps) == 1 && len(f.stream.documents) > 0 {
		parent = f.stream.documents[0].Content[0]
	}
	if err != nil {
		return err
	}
	if parent = resolve(parent); parent == nil || parent.Kind != yaml.MappingNode || last.list {
		return fmt.Errorf("write: no mapping stands at %s in which the key could be made", w.Path)
	}
	for i := len(parent.Content) - 1; i > 0; i -= 2 {
		if beside := parent.Content[i]; isScalar(beside) {
			s.tag = &part{scalar: f.scalar(beside), spells: spellsTemplate, template: w.Value, create: last.key, mapping: parent}
			f.sites = append(f.sites, s)
			return nil
		}
	}
	return fmt.Errorf("write: the mapping at %s has no scalar behind which the key could be made", w.Path)
}

// addRegex adds sites for all matches of a regular expression.
func (f *finder) addRegex(w Write, s site) error {
	expression, err := regexp.Compile(w.Regex)
	if err != nil || expression.NumSubexp() != 1 {
		return fmt.Errorf("write: the expression %s must be valid and have one group", w.Regex)
	}
	matches := expression.FindAllSubmatchIndex(f.stream.data, -1)
	if len(matches) == 0 {
		return fmt.Errorf("write: nothing in the file matches %s", w.Regex)
	}
	for _, match := range matches {
		p, err := f.partOf(span{match[2], match[3]})
		if err != nil {
			return fmt.Errorf("write: %s: %w", w.Regex, err)
		}
		p.template = w.Value
		s.tag = p
		f.written[p.scalar.node] = true
		f.claim(p.scalar.node)
		f.sites = append(f.sites, s)
	}
	return nil
}

var errNotInValue = errors.New("a match does not stand within one value")

// partOf returns the part for the scalar that contains the matched bytes.
func (f *finder) partOf(match span) (*part, error) {
	for _, document := range f.stream.documents {
		if n := f.scalarAround(document, match); n != nil {
			return f.partWithin(n, match)
		}
	}
	return nil, errNotInValue
}

// scalarAround returns the scalar that contains the bytes, or nil.
func (f *finder) scalarAround(n *yaml.Node, match span) *yaml.Node {
	if isScalar(n) {
		found, err := f.stream.span(n)
		if err == nil && found.start <= match.start && match.end <= found.end {
			return n
		}
	}
	for _, child := range n.Content {
		if found := f.scalarAround(child, match); found != nil {
			return found
		}
	}
	return nil
}

// partWithin splits a scalar's value around the bytes. A value with escapes
// differs from its text in the file and cannot be split.
func (f *finder) partWithin(n *yaml.Node, match span) (*part, error) {
	found, err := f.stream.span(n)
	if err != nil {
		return nil, err
	}
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		found = span{found.start + 1, found.end - 1}
	}
	raw := f.stream.data[found.start:found.end]
	s := f.scalar(n)
	if string(raw) != s.value() || match.start < found.start || match.end > found.end || match.start < 0 {
		return nil, errNotInValue
	}
	return &part{
		scalar: s, spells: spellsTemplate,
		before: string(raw[:match.start-found.start]), after: string(raw[match.end-found.start:]),
	}, nil
}

// placeholder matches the placeholders of a template.
var placeholder = regexp.MustCompile(`\{(component|version|tag|digest|revision)\}`)

// fillTemplate fills in a template. It returns an error if the version lacks a
// value that the template requires.
func fillTemplate(template, component string, v image.Version) (string, error) {
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

// readTemplate extracts tag and digest from text generated by a template. It
// returns nothing if the text does not match.
func readTemplate(template, text string) (tag, digest string) {
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
			tag = found[i+1]
		case name == "digest" && image.ValidDigest(found[i+1]):
			digest = found[i+1]
		}
	}
	return tag, digest
}
