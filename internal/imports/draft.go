package imports

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/printable"
)

// draft is a config that is being built.
type draft struct {
	tool         tool
	found        Found
	components   []component
	environments []environment
	notes        []Note
}

// component is a component of the config.
type component struct {
	name         string
	key          string // image or chart
	repository   string
	selection    image.Selection
	platforms    []string
	environments []string // those that use it; empty: all
	comments     []string
	off          string // why it is only a comment; empty: it is not
}

// environment is an environment of the config.
type environment struct {
	name     string
	branch   string
	paths    []string
	after    []parent
	propose  string
	land     string
	checks   []string // gates
	comments []string
	writes   []write
}

// write is a value that promoter does not find by itself.
type write struct {
	file, path string
	repository string // of the image whose version is written
	value      string // what is written; empty: it is not known, so that the setting is off
	component  string
}

// comment returns a value whose component or form is not known.
func (w write) comment() string {
	return fmt.Sprintf("If promoter plan does not find the version of %s, add to write: {file: %q, path: %q, component: NAME}",
		w.repository, w.file, w.path)
}

func (w write) mapping() *yaml.Node {
	pairs := []pair{{"file", w.file}, {"path", w.path}, {"component", w.component}}
	if w.value != "{tag}" {
		pairs = append(pairs, pair{"value", w.value})
	}
	return mapping(pairs...)
}

// parent is an environment in after, with its conditions.
type parent struct {
	name   string
	soak   string
	checks []string
}

// note adds a note.
func (d *draft) note(at edit.Position, text string) {
	n := Note{at, printable.Line(text)}
	if !slices.Contains(d.notes, n) {
		d.notes = append(d.notes, n)
	}
}

func sortNotes(notes []Note) []Note {
	slices.SortStableFunc(notes, func(a, b Note) int {
		return cmp.Or(cmp.Compare(a.Position.File, b.Position.File), cmp.Compare(a.Position.Line, b.Position.Line),
			cmp.Compare(a.Position.Column, b.Position.Column))
	})
	return notes
}

// unnamed are the characters that names do not have.
var unnamed = regexp.MustCompile(`[^a-z0-9]+`)

// nameOf returns a text as a name that is not taken.
func nameOf(text string, taken func(string) bool) string {
	name := strings.Trim(unnamed.ReplaceAllString(strings.ToLower(text), "-"), "-")
	if name == "" || name[0] < 'a' {
		name = strings.Trim("c-"+name, "-")
	}
	name = strings.Trim(name[:min(len(name), maxName)], "-")
	for unique, i := name, 2; ; i++ {
		if !taken(unique) {
			return unique
		}
		unique = name + "-" + strconv.Itoa(i)
	}
}

// maxName is the length of the longest name, less what makes it unique.
const maxName = 40

// addComponent adds a component under a free name; one of the same repository and selection is
// the same component.
func (d *draft) addComponent(c component) {
	for i := range d.components {
		old := &d.components[i]
		if old.repository == c.repository && old.key == c.key &&
			fmt.Sprint(old.selection, old.platforms) == fmt.Sprint(c.selection, c.platforms) {
			old.comments = union(old.comments, c.comments...)
			if len(old.environments) > 0 {
				old.environments = union(old.environments, c.environments...)
			}
			return
		}
	}
	last := c.repository[strings.LastIndex(c.repository, "/")+1:]
	c.name = nameOf(last, func(name string) bool {
		return slices.ContainsFunc(d.components, func(other component) bool { return other.name == name })
	})
	d.components = append(d.components, c)
}

// union adds the texts that a list does not have.
func union(a []string, more ...string) []string {
	for _, text := range more {
		if !slices.Contains(a, text) {
			a = append(a, text)
		}
	}
	return a
}

// check turns components off whose selection is not valid, and those of one repository that
// exclude each other: a repository has one selection.
func (d *draft) check() {
	for i := range d.components {
		c := &d.components[i]
		if _, err := image.NewPolicy(c.selection); c.off == "" && err != nil {
			c.off = "Its selection has no equivalent: " + err.Error() + "."
		}
		for j := range i {
			if other := &d.components[j]; c.off == "" && other.off == "" && other.repository == c.repository {
				c.off = "The component " + other.name + " follows the same repository with another selection."
			}
		}
	}
}

const width = 96

// render writes the config.
func (d *draft) render() (string, error) {
	d.check()
	var out bytes.Buffer
	comment := func(indent, text string) {
		for _, line := range printable.Wrap(text, width-len(indent)) {
			fmt.Fprintf(&out, "%s# %s\n", indent, line)
		}
	}
	d.header(comment, &out)
	out.WriteString("version: 1\n\ncomponents:\n")
	for _, c := range d.components {
		for _, text := range c.comments {
			comment("  ", text)
		}
		text, err := flow("  ", c.name, c.mapping())
		if err != nil {
			return "", err
		}
		if c.off != "" {
			comment("  ", c.off)
			text = "  #" + strings.TrimPrefix(text, "  ")
		}
		out.WriteString(text)
	}
	out.WriteString("\nenvironments:\n")
	for _, e := range d.environments {
		text, err := flow("  ", e.name, nil)
		if err != nil {
			return "", err
		}
		out.WriteString(text)
		for _, text := range e.comments {
			comment("    ", text)
		}
		for _, pair := range e.mapping() {
			if text, err = flow("    ", pair.key, pair.value); err != nil {
				return "", err
			}
			out.WriteString(text)
		}
		for _, w := range e.writes {
			if w.component == "" {
				comment("    ", printable.Line(w.comment()))
			}
		}
	}
	return out.String(), nil
}

// header states where the config is from, and lists what it does not have.
func (d *draft) header(comment func(indent, text string), out *bytes.Buffer) {
	out.WriteString(d.found.SchemaLine() + "\n")
	comment("", "What "+d.tool.title+" was configured to do. Written by promoter import "+string(d.tool.name)+".")
	out.WriteString("#\n")
	comment("", "It is not wider than its source: no other tag, file, or promotion. To let promoter only observe beside "+d.tool.title+
		", set propose: never in every environment. See docs/guides/migrate.md.")
	if len(d.notes) > 0 {
		out.WriteString("#\n")
		comment("", "Not here, or narrower:")
		for _, n := range sortNotes(d.notes) {
			comment("", "- "+n.String())
		}
	}
	out.WriteString("#\n")
	comment("", "A line that begins with # and no space is a setting that is off: remove the # to turn it on.")
}

// pair is a key of a mapping and its value, in the order in which they are written.
type pair struct {
	key   string
	value any
}

// mapping returns a mapping as a node in flow style, in the given order.
func mapping(pairs ...pair) *yaml.Node {
	node := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	for _, p := range pairs {
		var value yaml.Node
		if inner, is := p.value.(*yaml.Node); is {
			value = *inner
		} else if value.Encode(p.value) != nil {
			continue // texts and lists of texts can be encoded
		}
		value.Style |= yaml.FlowStyle
		node.Content = append(node.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: p.key}, &value)
	}
	return node
}

// flow returns "KEY: VALUE" with the value in one line; nil: none.
func flow(indent, key string, value any) (string, error) {
	outer := mapping(pair{key, value})
	outer.Style = 0
	if value == nil {
		outer.Content[1] = &yaml.Node{Kind: yaml.MappingNode}
	}
	text, err := yaml.Marshal(outer)
	if err != nil {
		return "", fault.New(fault.Internal, "write %s: %w", key, err)
	}
	line := strings.TrimSuffix(string(text), "\n") // the encoder never breaks a line of flow style
	if value == nil {
		line = strings.TrimSuffix(line, " {}")
	}
	return indent + line + "\n", nil
}

func (c component) mapping() *yaml.Node {
	pairs := []pair{{c.key, c.repository}, {"select", c.selectMapping()}}
	if len(c.environments) > 0 {
		pairs = append(pairs, pair{"only", mapping(pair{"environments", c.environments})})
	}
	return mapping(pairs...)
}

func (c component) selectMapping() *yaml.Node {
	s, pairs := c.selection, []pair{}
	for _, p := range []struct{ key, value string }{
		{"semver", s.Semver},
		{"tag", s.Tag},
		{"newest", s.Newest},
		{"numeric", s.Numeric},
		{"alphabetical", s.Alphabetical},
		{"filter", s.Filter},
	} {
		if p.value != "" {
			pairs = append(pairs, pair{p.key, p.value})
		}
	}
	if len(s.Exclude) > 0 {
		pairs = append(pairs, pair{"exclude", s.Exclude})
	}
	if len(c.platforms) > 0 {
		pairs = append(pairs, pair{"platforms", c.platforms})
	}
	return mapping(pairs...)
}

// mapping returns the keys of the environment that are set.
func (e environment) mapping() (pairs []pair) {
	if e.branch != "" {
		pairs = append(pairs, pair{"branch", e.branch})
	}
	if len(e.paths) > 0 {
		pairs = append(pairs, pair{"paths", e.paths})
	}
	if len(e.after) > 0 {
		pairs = append(pairs, pair{"after", afterOf(e.after)})
	}
	if e.propose != "" {
		pairs = append(pairs, pair{"propose", e.propose})
	}
	if e.land != "" {
		pairs = append(pairs, pair{"land", e.land})
	}
	if writes := e.writeMappings(); len(writes) > 0 {
		pairs = append(pairs, pair{"write", &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: writes}})
	}
	if len(e.checks) > 0 {
		pairs = append(pairs, pair{"gates", mapping(pair{"checks", e.checks})})
	}
	return pairs
}

func (e environment) writeMappings() (writes []*yaml.Node) {
	for _, w := range e.writes {
		if w.component != "" {
			writes = append(writes, w.mapping())
		}
	}
	return writes
}

// afterOf returns a list of names, or a mapping if there are conditions.
func afterOf(parents []parent) any {
	names := []string{}
	pairs := []pair{}
	plain := true
	for _, p := range parents {
		conditions := []pair{}
		if p.soak != "" {
			conditions = append(conditions, pair{"soak", p.soak})
		}
		if len(p.checks) > 0 {
			conditions = append(conditions, pair{"checks", p.checks})
		}
		plain = plain && len(conditions) == 0
		names, pairs = append(names, p.name), append(pairs, pair{p.name, mapping(conditions...)})
	}
	if plain {
		return names
	}
	return mapping(pairs...)
}
