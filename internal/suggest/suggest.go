package suggest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/image"
)

// Found is what a tree holds. References are of any repository: Config decides
// which of them are images and not some other text with a colon.
type Found struct {
	Files      []string // of the whole tree, slash separated, from its root
	References []edit.Reference
	Offered    bool // it is read in a pull request, and not by whoever asked for it in a checkout
}

// Suggestion is a config file and the thoughts behind it.
type Suggestion struct {
	Text         string // the file, with comments
	Components   []Component
	Environments []Environment
	Applications []string         // that the paths capture; none when they capture none
	Inside       []edit.Reference // in an environment
	Outside      []edit.Reference // in no environment, so never changed
	Warnings     []Warning

	holds bool // it loads, and means what was meant
}

// Component is a repository to follow.
type Component struct {
	Name       string
	Artifact   image.Artifact
	Repository image.Repository
	Select     image.Selection
	Pin        image.Pin // empty: as the file has it
	TagOnly    bool      // its places could hold a digest, and none does
	Active     bool      // false: written as a comment
	Because    string    // why it is selected so, or why it is not active
	Present    string    // the versions in the files, by environment
}

// Environment is a place in the tree that promotions go to.
type Environment struct {
	Name    string
	Paths   []string // globs; none: the whole tree
	Exclude []string // globs
	After   []string
	rank    int
	aside   bool   // a playground
	words   string // why it is one; empty when the paths say it
}

// Warning is something that a person has to decide.
type Warning struct {
	Text      string
	Advice    string
	Positions []edit.Position // where it is seen; may be none
}

// ErrNothing says that a tree holds no reference that could be followed. A config
// must follow something.
var ErrNothing = errors.New("no image reference was found")

// Config suggests a config for what was found. ErrNothing is a NotFound fault.
func Config(found Found) (*Suggestion, error) {
	references := plausible(found.References)
	if len(references) == 0 {
		return nil, fault.Wrap(fault.NotFound, fmt.Errorf("%w in %s", ErrNothing, files(len(found.Files))))
	}
	for _, l := range layouts(found.Files, references) {
		s := l.suggestion(found, references)
		if s.holds {
			return s, nil
		}
		if len(s.Text) > config.MaxSize {
			break // the components are the same in every layout
		}
	}
	return nil, fault.New(fault.Invalid, "%d image references name more than one config can hold: write one with patterns, such as registry.example.com/team/**", len(references))
}

// suggestion writes the config of one layout. It counts only when it loads and
// puts every file into the environment that was meant.
func (l *layout) suggestion(found Found, references []edit.Reference) *Suggestion {
	s := &Suggestion{Environments: l.environments, Components: components(references, l)}
	d := draft{Suggestion: s, layout: l, found: found, references: references}
	s.Text = d.render()
	loaded, problems := config.Load(".promoter.yaml", []byte(s.Text))
	if problems.Err() != nil || !l.holds(loaded) {
		return s
	}
	s.holds = true
	s.Inside, s.Outside = divide(loaded, references)
	s.Applications = l.applications(loaded)
	s.Warnings = d.warnings()
	return s
}

// holds says whether the loaded paths lead every file to the environment that
// the layout saw it in, and to no other.
func (l *layout) holds(c *config.Config) bool {
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

// divide parts the references by whether they stand in an environment.
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

// applications returns the names that the paths capture from the files.
func (l *layout) applications(c *config.Config) []string {
	if !l.captures {
		return nil
	}
	seen := map[string]bool{}
	for file := range l.byFile {
		for i := range c.Environments {
			if name, ok := c.Environments[i].Match(file); ok {
				seen[name] = true
			}
		}
	}
	return sortedKeys(seen)
}

func sortedKeys[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func comparePositions(a, b edit.Position) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}
