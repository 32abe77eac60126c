package suggest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"promoter/internal/edit"
)

// GuessKind is what a guess is about. The kinds are in the order in which users read
// them: first those that are least certain, or do the most harm if they are wrong.
type GuessKind int

// The kinds.
const (
	GuessOtherBot     GuessKind = iota // another bot updates the same images
	GuessStart                         // how the first reconciliation begins
	GuessTagFiles                      // files with a tag and no image
	GuessWholeTree                     // there are no environments
	GuessApplications                  // what is one application, and what is in none
	GuessOrder                         // which environment gets versions from which
	GuessUnclearTags                   // the tags do not show which one is newer
	GuessOtherTags                     // some tags in the files are not selected
	GuessNarrowed                      // a rule of another bot has no equivalent
	GuessInBase                        // references that environments share
	GuessOutside                       // references in no environment
	GuessNotFollowed                   // images that are not the user's own
	GuessTagOnly                       // references without a digest
	GuessScheme                        // how tags are ordered that are not semantic versions
	GuessPolicy                        // what another bot selects
	GuessRange                         // a range of semantic versions
)

// Guess is something that the files do not prove, and that a user has to check.
type Guess struct {
	Kind      GuessKind
	About     []string // components or environments; may be empty
	Text      string   // what was decided, and why
	Advice    string   // what to change if it is wrong
	Positions []edit.Position
	More      int // guesses of the same kind that a list leaves out
}

const (
	maxOfKind    = 3 // guesses in a list
	maxPositions = 5 // of a guess in a list
)

// listGuesses returns the guesses as all lists show them: the worst first, those that
// differ only in what they are about as one, and few of each kind.
func listGuesses(all []Guess) []Guess {
	slices.SortStableFunc(all, func(a, b Guess) int { return cmp.Compare(a.Kind, b.Kind) })
	var listed []Guess
	counts := map[GuessKind]int{}
	for _, g := range all {
		i := slices.IndexFunc(listed, func(other Guess) bool {
			return len(g.About) > 0 && other.Kind == g.Kind && other.Text == g.Text && other.Advice == g.Advice
		})
		switch {
		case i >= 0:
			for _, name := range g.About {
				if !slices.Contains(listed[i].About, name) {
					listed[i].About = append(listed[i].About, name)
				}
			}
			listed[i].Positions = append(listed[i].Positions, g.Positions...)
		case counts[g.Kind] == maxOfKind && g.Kind != GuessOtherBot: // every bot is named
			listed[len(listed)-1].More += max(len(g.About), 1)
		default:
			counts[g.Kind]++
			listed = append(listed, g)
		}
	}
	return listed
}

// Lines returns a guess as every list shows it: what was decided, the first positions,
// and what to change if it is wrong.
func (g Guess) Lines() (text string, positions []string, advice string) {
	text = g.Text
	if len(g.About) > 0 {
		text = list(g.About, ", and") + ": " + text
	}
	for _, position := range g.Positions[:min(len(g.Positions), maxPositions)] {
		if positions = append(positions, position.String()); position.Line == 0 {
			positions[len(positions)-1] = position.File
		}
	}
	if more := len(g.Positions) - maxPositions; more > 0 {
		positions = append(positions, fmt.Sprintf("and %d more", more))
	}
	return text, positions, g.Advice
}

// guesses returns what was guessed about the tree.
func (d *draft) guesses() []Guess {
	all := slices.Concat(d.botGuesses(), d.startGuesses(), d.layoutGuesses())
	for i := range d.Components {
		c := &d.Components[i]
		g := Guess{Kind: c.kind, About: []string{c.Name}, Text: c.Reason, Advice: "otherwise change its select"}
		switch {
		case c.Off != "":
			g.Kind = GuessNotFollowed
			g.Text = c.Off + " It is not followed."
			g.Advice = "to follow it, remove the # before it"
		case c.kind == GuessNarrowed:
			g.Advice = "decide which tags it may get, and change its select"
		case c.kind == GuessRange && strings.Contains(c.Select.Semver, " <"):
			g.Text = strings.TrimSpace("From the lowest version in the files up to the next major version. " + g.Text)
		}
		all = append(all, g)
	}
	if len(d.tags) > 0 {
		advice := "name the image of each with a component and an entry of write"
		if len(d.writes) > 0 {
			advice = "name the image of the component " + d.tagComponent() + ", and remove the # before it and before each write"
		}
		all = append(all, Guess{Kind: GuessTagFiles, Text: d.tagFilesText(), Advice: advice, Positions: positions(d.tags)})
	}
	var inBase, elsewhere []edit.Reference
	for _, r := range d.Outside {
		folder, ok := baseOf(r.Position.File)
		switch {
		case !ok:
			elsewhere = append(elsewhere, r)
		case !d.isOverridden(r, folder):
			inBase = append(inBase, r)
		}
	}
	if len(inBase) > 0 {
		all = append(all, Guess{
			Kind: GuessInBase,
			Text: count(len(inBase),
				"image is in a base that environments share, outside all paths: a change would affect all of them, so it is not changed.",
				"images are in a base that environments share, outside all paths: a change would affect all of them, so "+
					"they are not changed."),
			Advice: "let each environment set its own version: an entry under images in its kustomization.yaml, or a " +
				"tag in its values file",
			Positions: positions(inBase),
		})
	}
	if len(elsewhere) > 0 {
		all = append(all, Guess{
			Kind: GuessOutside,
			Text: count(len(elsewhere), "image reference is", "image references are") +
				" outside all environments and will not be changed.",
			Advice:    "add the folder to the paths of an environment, or leave it as it is",
			Positions: positions(elsewhere),
		})
	}
	if n := d.tagOnly(); n > 0 {
		all = append(all, Guess{
			Kind: GuessTagOnly, Text: fmt.Sprintf("%s pinned by tag only, and a tag can be moved to another image.",
				count(n, "component is", "components are")),
			Advice: "turn on pin: tag+digest, so that each environment runs the image that was tested before",
		})
	}
	return all
}

// layoutGuesses returns the guesses about environments.
func (d *draft) layoutGuesses() (all []Guess) {
	if d.layout.environments[0].reason != "" {
		all = append(all, Guess{
			Kind: GuessWholeTree, Text: d.layout.environments[0].reason, Advice: d.layout.advice,
		})
	}
	if d.layout.reason != "" {
		all = append(all, Guess{
			Kind: GuessApplications, Text: d.layout.reason,
			Advice: "otherwise change the paths of the environments; {application} in a path is the name of an application",
		})
	}
	if d.layout.services != "" {
		all = append(all, Guess{
			Kind: GuessApplications,
			Text: "Files such as " + d.layout.services +
				" hold several services, so each component is an application, promoted on its own.",
			Advice: "list services that must be promoted together under applications.<name>.components; to promote " +
				"everything together, remove applications from each environment",
		})
	}
	var order []string
	for _, e := range d.Environments {
		if len(e.After) > 0 {
			order = append(order, e.Name+" is after "+list(e.After, " and"))
		}
	}
	if len(order) > 0 {
		all = append(all, Guess{
			Kind: GuessOrder, Text: "The order of the environments is that of their names: " + list(order, ", and") + ".",
			Advice: "otherwise change after of the environments: one without after gets every new version from the registry",
		})
	}
	return all
}

// isOverridden reports whether all environments below the folder of a base set a
// version of the image themselves.
func (d *draft) isOverridden(r edit.Reference, folder string) bool {
	all, overriding := map[string]bool{}, map[string]bool{}
	for file, environment := range d.layout.byFile {
		if isBelow(file, folder) {
			all[environment] = true
		}
	}
	for _, other := range d.references {
		file := other.Position.File
		if environment, ok := d.layout.byFile[file]; ok && isBelow(file, folder) && other.Repository == r.Repository {
			overriding[environment] = true
		}
	}
	return len(all) > 0 && len(overriding) == len(all)
}

func positions(references []edit.Reference) []edit.Position {
	all := make([]edit.Position, 0, len(references))
	for _, r := range references {
		all = append(all, r.Position)
	}
	slices.SortFunc(all, edit.Position.Compare)
	return all
}
