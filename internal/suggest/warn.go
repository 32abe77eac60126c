package suggest

import (
	"fmt"
	"slices"
	"strings"

	"promoter/internal/edit"
)

// warnings lists what a person has to decide, the heaviest first.
func (d *draft) warnings() []Warning {
	var out []Warning
	if d.layout.wholeTree() {
		out = append(out, Warning{
			Text:   "no environments were recognized, so the whole tree is one",
			Advice: "write one environment for each folder (paths) or branch (branch) that is deployed on its own",
		})
	}
	inBase, elsewhere := d.sortOutside()
	out = append(out, baseWarning(inBase)...)
	if len(elsewhere) > 0 {
		out = append(out, Warning{
			Text:      count(len(elsewhere), "image reference stands", "image references stand") + " outside all environments and will not be changed",
			Advice:    "add the folder to the paths of an environment, or leave it as it is",
			Positions: positions(elsewhere),
		})
	}
	if n := tagsOnly(d.Components); n > 0 {
		out = append(out, Warning{
			Text:   fmt.Sprintf("%s pinned by tag only, and a tag can be moved to another image", count(n, "component is", "components are")),
			Advice: "turn on pin: tag+digest, so that each environment runs the image that was tried before",
		})
	}
	return out
}

// baseWarning is about images that no environment can change alone; none if there
// are none.
func baseWarning(inBase []edit.Reference) []Warning {
	if len(inBase) == 0 {
		return nil
	}
	const (
		one  = "image stands in a base that environments share, outside all paths: it would change everywhere at once, so it is left alone"
		many = "images stand in a base that environments share, outside all paths: they would change everywhere at once, so they are left alone"
	)
	return []Warning{{
		Text:      count(len(inBase), one, many),
		Advice:    "let each environment name its own version: an entry under images in its kustomization.yaml, or a tag in its values file",
		Positions: positions(inBase),
	}}
}

// sortOutside parts the references outside by whether they stand in a base. One
// that every environment beside the base sets itself needs no word.
func (d *draft) sortOutside() (inBase, elsewhere []edit.Reference) {
	for _, r := range d.Outside {
		prefix, ok := baseOf(r.Position.File)
		switch {
		case !ok:
			elsewhere = append(elsewhere, r)
		case !d.overridden(r, prefix):
			inBase = append(inBase, r)
		}
	}
	return inBase, elsewhere
}

// overridden says whether all environments below the folder of a base name a
// version of the image themselves.
func (d *draft) overridden(r edit.Reference, prefix string) bool {
	below := func(file string) bool { return prefix == "" || strings.HasPrefix(file, prefix+"/") }
	beside, with := map[string]bool{}, map[string]bool{}
	for file, environment := range d.layout.byFile {
		if below(file) {
			beside[environment] = true
		}
	}
	for _, other := range d.references {
		if environment, ok := d.layout.byFile[other.Position.File]; ok && below(other.Position.File) && other.Repository == r.Repository {
			with[environment] = true
		}
	}
	return len(beside) > 0 && len(with) == len(beside)
}

func positions(references []edit.Reference) []edit.Position {
	out := make([]edit.Position, 0, len(references))
	for _, r := range references {
		out = append(out, r.Position)
	}
	slices.SortFunc(out, comparePositions)
	return out
}
