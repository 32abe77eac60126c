package suggest

import (
	"path"
	"slices"
	"strings"

	"promoter/internal/edit"
)

// basePrefixes returns the folders that hold a base with a reference.
func basePrefixes(references []edit.Reference) []string {
	found := map[string]bool{}
	for _, r := range references {
		if prefix, ok := baseOf(r.Position.File); ok {
			found[prefix] = true
		}
	}
	return sortedKeys(found)
}

// baseOf returns the folder whose environments share the file: that of its base
// folder, or of a values.yaml.
func baseOf(file string) (prefix string, ok bool) {
	segments := strings.Split(file, "/")
	for i, segment := range segments[:len(segments)-1] {
		if bases[strings.ToLower(segment)] {
			return strings.Join(segments[:i], "/"), true
		}
	}
	if base := path.Base(file); base == "values.yaml" || base == "values.yml" || base == "base.yaml" || base == "common.yaml" {
		return strings.Join(segments[:len(segments)-1], "/"), true
	}
	return "", false
}

// beside says whether some environment of the family lies below the folder.
func (f *family) beside(prefix string) bool {
	return slices.ContainsFunc(f.spots, func(s spot) bool {
		return prefix == "" || strings.HasPrefix(s.file, prefix+"/")
	})
}
