package promotion

import (
	"promoter/internal/image"
)

// HasImage reports whether files refer to an image, repository:tag@digest, and to no other version of it. The
// name of the component does not count, because it can change.
func HasImage(current Current, text string) bool {
	wanted, err := image.Parse(text)
	if err != nil {
		return false
	}
	version := wanted.Version()
	is, other := map[string]bool{}, map[string]bool{} // by component: several may be of one repository
	for _, r := range current.References {
		if r.Repository == wanted.Repository {
			same := SameRollout(r.Version(), version)
			is[r.Component], other[r.Component] = is[r.Component] || same, other[r.Component] || !same
		}
	}
	for component, found := range is {
		if found && !other[component] {
			return true
		}
	}
	return false
}
