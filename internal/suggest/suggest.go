// Package suggest writes a first .promoter.yaml for a repository. It guesses
// environments from the paths of files, components from the image references in
// them, and the selection of versions from the tags in the files. Each guess that a
// user has to check is a value, which the comments of the file, init, and the
// onboarding pull request show in the same words.
//
// The package is pure: the caller finds the files and the references. The returned
// config always loads, because Config loads it before it returns it.
package suggest

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/suggest/bots"
)

// Found is the content of a tree. References are of any repository: Config decides
// which of them are images and not other text with a colon.
type Found struct {
	Files          []string // slash separated, relative to the root of the tree
	References     []edit.Reference
	Bots           bots.Setup // other bots that update images there
	Schema         string     // address of the JSON Schema of the config; empty: not published
	ForPullRequest bool       // the file is read in a pull request, not by a user who ran init
	Author         string     // the command that writes the file; empty: init
	Notes          []string   // what the file does not have, for its header
}

// schemaFile is the JSON Schema of the config file, if users save it beside the file.
const schemaFile = "promoter.schema.json"

// SchemaLine returns the comment that connects the config with its schema in editors: the one
// beside the file, else the published one. Editors show an error if the schema is missing, so
// without both the comment only describes what to do.
// https://github.com/redhat-developer/yaml-language-server#using-inlined-schema
func (f Found) SchemaLine() string {
	const prefix = "# yaml-language-server: $schema="
	switch {
	case slices.Contains(f.Files, schemaFile):
		return prefix + schemaFile
	case f.Schema != "":
		return prefix + f.Schema
	}
	return "# For editors: save " + schemaFile + " beside this file, and begin this line with " + prefix + schemaFile
}

// Suggestion is a config file and how it came about.
type Suggestion struct {
	Text         string // the file, with comments
	Components   []Component
	Environments []Environment
	Applications []string         // captured by the paths, or one for each component
	Inside       []edit.Reference // in an environment
	Outside      []edit.Reference // in no environment, so never changed
	Guesses      []Guess          // the worst first, as lists show them
	draft        *draft
}

// Component is a repository to follow.
type Component struct {
	Name       string
	Artifact   image.Artifact
	Repository image.Repository
	Select     image.Selection
	Pin        image.Pin // empty: as in the file
	TagOnly    bool      // its references could have a digest, and none does
	Off        string    // why it is not followed but written as a comment; empty: it is followed
	Reason     string    // for the selection
	Current    string    // the versions in the files, by environment
	kind       GuessKind // of the selection
}

// Frozen reports whether nothing but the tags in the files is selected, because a rule of another
// bot has no equivalent.
func (c Component) Frozen() bool { return c.kind == GuessNarrowed }

// Environment is a part of the tree that versions are promoted to.
type Environment struct {
	Name    string
	Paths   []string // globs; none: the whole tree
	Exclude []string // globs
	After   []string
	rank    int
	sandbox bool
	start   Start
	reason  string // empty: the paths tell
}

// ErrNothing reports that a tree has no reference that could be followed. A config
// must follow something.
var ErrNothing = errors.New("no image reference was found")

// Config suggests a config for a tree. ErrNothing is a NotFound fault.
func Config(found Found) (*Suggestion, error) {
	references := imageReferences(found.References, found.Bots.Resources)
	tags := tagFiles(found.References)
	if len(references) == 0 {
		return nil, fault.Wrap(fault.NotFound, fmt.Errorf("%w in %s%s", ErrNothing, fileCount(len(found.Files)), onlyTags(tags)))
	}
	for _, l := range layouts(found.Files, slices.Concat(references, tags)) {
		s := &Suggestion{Environments: l.environments, Components: components(references, l, found.Bots.Rules)}
		l.divide(s.Components, references)
		d := &draft{Suggestion: s, layout: l, found: found, references: references, tags: tags}
		s.Text = d.render()
		loaded, problems := config.Load(config.FileName, []byte(s.Text))
		if problems.Err() == nil && l.matches(loaded) {
			s.Inside, s.Outside = divide(loaded, references)
			s.Applications = l.applications(loaded, s.Components)
			s.excludeResources(loaded, found.Bots.Resources)
			d.writes = writesOf(loaded, tags)
			s.draft = d
			s.Begin(nil)
			return s, nil
		}
		if len(s.Text) > config.MaxSize {
			break // the components are the same in every layout
		}
	}
	return nil, fault.New(fault.Invalid,
		"%d image references name more than one config can hold: write one with patterns, such as registry.example.com/team/**",
		len(references))
}

// excludeResources excludes files of other bots from the environments that match them.
func (s *Suggestion) excludeResources(c *config.Config, files []string) {
	for i := range s.Environments {
		e := &s.Environments[i]
		for _, file := range files {
			if matched, ok := c.Environment(e.Name); ok && isPrintable(file) {
				if _, in := matched.Match(file); in {
					e.Exclude = append(e.Exclude, file)
				}
			}
		}
	}
}

// matches reports whether the paths of the config assign every file to the
// environment of the layout, and to no other.
func (l *layout) matches(c *config.Config) bool {
	for file, wanted := range l.byFile {
		for i := range c.Environments {
			e := &c.Environments[i]
			if _, ok := e.Match(file); ok != (e.Name == wanted) {
				return false
			}
		}
	}
	return true
}

// divide separates the references in environments from all others.
func divide(c *config.Config, references []edit.Reference) (inside, outside []edit.Reference) {
	for _, r := range references {
		if slices.ContainsFunc(c.Environments, func(e config.Environment) bool {
			_, ok := e.Match(r.Position.File)
			return ok
		}) {
			inside = append(inside, r)
		} else {
			outside = append(outside, r)
		}
	}
	return inside, outside
}

// applications returns the names that the paths capture, or those of the components if
// each is an application.
func (l *layout) applications(c *config.Config, components []Component) []string {
	names := map[string]bool{}
	for _, component := range components {
		names[component.Name] = l.services != "" && component.Off == ""
	}
	maps.DeleteFunc(names, func(_ string, is bool) bool { return !is })
	if !l.captures {
		return sortedKeys(names)
	}
	for file := range l.byFile {
		for i := range c.Environments {
			if name, ok := c.Environments[i].Match(file); ok {
				names[name] = true
			}
		}
	}
	return sortedKeys(names)
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
