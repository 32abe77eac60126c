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
	version, found := wanted.Version(), false
	for _, r := range current.References {
		if r.Repository == wanted.Repository {
			if !SameRollout(r.Version(), version) {
				return false
			}
			found = true
		}
	}
	return found
}
