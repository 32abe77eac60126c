package imports

import (
	"bytes"
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
	artifact     image.Artifact
	repository   string // as it is written
	selection    image.Selection
	platforms    []string
	environments []string // those that use it; empty: all
	comments     []string
	off          string // why it is only a comment; empty: it is not
}

// environment is an environment of the config. Its exported fields are written.
type environment struct {
	Branch  string   `yaml:"branch,omitempty"`
	Paths   []string `yaml:"paths,omitempty,flow"`
	After   parents  `yaml:"after,omitempty,flow"`
	Propose string   `yaml:"propose,omitempty"`
	Land    string   `yaml:"land,omitempty"`
	Write   []write  `yaml:"write,omitempty,flow"`
	Gates   *gates   `yaml:"gates,omitempty,flow"`

	name     string
	comments []string
	unknown  []write // whose component or form is not known
}

type gates struct {
	Checks []string `yaml:"checks"`
}

// write is a value that promoter does not find by itself.
type write struct {
	File      string `yaml:"file"`
	Path      string `yaml:"path"`
	Component string `yaml:"component"`
	Value     string `yaml:"value,omitempty"` // empty: the tag

	repository string // of the image whose version is written
	known      bool   // the form of the value
}

// comment returns a value whose component or form is not known.
func (w write) comment() string {
	return fmt.Sprintf("If promoter plan does not find the version of %s, add to write: {file: %q, path: %q, component: NAME}",
		w.repository, w.File, w.Path)
}

// parent is an environment in after, with its conditions.
type parent struct {
	Soak   string   `yaml:"soak,omitempty"`
	Checks []string `yaml:"checks,omitempty"`

	name string
}

type parents []parent

// MarshalYAML implements yaml.Marshaler: a list of names, or a mapping if there are conditions.
func (all parents) MarshalYAML() (any, error) {
	names := []string{}
	conditions := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	plain := true
	for _, p := range all {
		names = append(names, p.name)
		plain = plain && p.Soak == "" && len(p.Checks) == 0
		var one yaml.Node
		if err := one.Encode(map[string]parent{p.name: p}); err != nil {
			return nil, err
		}
		conditions.Content = append(conditions.Content, one.Content...)
	}
	if plain {
		return names, nil
	}
	return conditions, nil
}

// note adds a note.
func (d *draft) note(at edit.Position, text string) {
	n := Note{at, printable.Line(text)}
	if !slices.Contains(d.notes, n) {
		d.notes = append(d.notes, n)
	}
}

func sortNotes(notes []Note) []Note {
	slices.SortStableFunc(notes, func(a, b Note) int { return a.Position.Compare(b.Position) })
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
		if old.repository == c.repository && old.artifact == c.artifact &&
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
		text, err := line(c.name, c.keys())
		if err != nil {
			return "", err
		}
		if c.off != "" {
			comment("  ", c.off)
			text = "#" + text
		}
		out.WriteString("  " + text)
	}
	out.WriteString("\nenvironments:\n")
	for _, e := range d.environments {
		text, err := line(e.name, struct{}{})
		if err != nil {
			return "", err
		}
		out.WriteString("  " + strings.Replace(text, " {}\n", "\n", 1))
		for _, text := range e.comments {
			comment("    ", text)
		}
		keys, err := yaml.Marshal(e)
		if err != nil {
			return "", fault.New(fault.Internal, "write %s: %w", e.name, err)
		}
		for text := range strings.Lines(string(keys)) {
			out.WriteString("    " + text)
		}
		for _, w := range e.unknown {
			comment("    ", printable.Line(w.comment()))
		}
	}
	return out.String(), nil
}

// header states where the config is from, and lists what it does not have.
func (d *draft) header(comment func(indent, text string), out *bytes.Buffer) {
	out.WriteString(d.found.SchemaLine() + "\n")
	comment("", "What "+d.tool.title+" was configured to do. Written by promoter import "+string(d.tool.name)+".")
	out.WriteString("#\n")
	observe := "To let promoter only observe beside " + d.tool.title + ", set propose: never in every environment."
	comment("", "It is not wider than its source: no other tag, file, or promotion. "+observe+" See docs/guides/migrate.md.")
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

// line returns "KEY: VALUE" with the value in one line: the encoder never breaks one of flow style.
func line(key string, value any) (string, error) {
	var mapping yaml.Node
	if err := mapping.Encode(map[string]any{key: value}); err != nil {
		return "", fault.New(fault.Internal, "write %s: %w", key, err)
	}
	mapping.Content[1].Style |= yaml.FlowStyle
	text, err := yaml.Marshal(&mapping)
	if err != nil {
		return "", fault.New(fault.Internal, "write %s: %w", key, err)
	}
	return string(text), nil
}

// keys returns what is written of the component.
func (c component) keys() any {
	type selection struct {
		Semver       string   `yaml:"semver,omitempty"`
		Tag          string   `yaml:"tag,omitempty"`
		Newest       string   `yaml:"newest,omitempty"`
		Numeric      string   `yaml:"numeric,omitempty"`
		Alphabetical string   `yaml:"alphabetical,omitempty"`
		Filter       string   `yaml:"filter,omitempty"`
		Exclude      []string `yaml:"exclude,omitempty"`
		Platforms    []string `yaml:"platforms,omitempty"`
	}
	type only struct {
		Environments []string `yaml:"environments"`
	}
	of := c.selection.WithoutStrayGroups()
	keys := struct {
		Image    string    `yaml:"image,omitempty"`
		Chart    string    `yaml:"chart,omitempty"`
		Artifact string    `yaml:"artifact,omitempty"`
		Select   selection `yaml:"select"`
		Only     *only     `yaml:"only,omitempty"`
	}{Select: selection{of.Semver, of.Tag, of.Newest, of.Numeric, of.Alphabetical, of.Filter, of.Exclude, c.platforms}}
	switch c.artifact {
	case image.ArtifactChart:
		keys.Chart = c.repository
	case image.ArtifactOther:
		keys.Artifact = c.repository
	default:
		keys.Image = c.repository
	}
	if len(c.environments) > 0 {
		keys.Only = &only{c.environments}
	}
	return keys
}
