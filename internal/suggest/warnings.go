package suggest

import (
	"fmt"
	"slices"

	"promoter/internal/edit"
)

// warnings lists the decisions for the user, the most important first.
func (d *draft) warnings() []Warning {
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
	var all []Warning
	if d.layout.isWholeTree() {
		all = append(all, Warning{
			Text:   "no environments were recognized, so the whole tree is one",
			Advice: "write one environment for each folder (paths) or branch (branch) that is deployed on its own",
		})
	}
	if len(inBase) > 0 {
		all = append(all, Warning{
			Text: count(len(inBase), "image is in a base that environments share, outside all paths: a change would affect all of them, so it is not changed",
				"images are in a base that environments share, outside all paths: a change would affect all of them, so they are not changed"),
			Advice:    "let each environment set its own version: an entry under images in its kustomization.yaml, or a tag in its values file",
			Positions: positions(inBase),
		})
	}
	if len(elsewhere) > 0 {
		all = append(all, Warning{
			Text:      count(len(elsewhere), "image reference is", "image references are") + " outside all environments and will not be changed",
			Advice:    "add the folder to the paths of an environment, or leave it as it is",
			Positions: positions(elsewhere),
		})
	}
	if n := d.tagOnly(); n > 0 {
		all = append(all, Warning{
			Text:   fmt.Sprintf("%s pinned by tag only, and a tag can be moved to another image", count(n, "component is", "components are")),
			Advice: "turn on pin: tag+digest, so that each environment runs the image that was tested before",
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
	slices.SortFunc(all, comparePositions)
	return all
}
