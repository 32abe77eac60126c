package suggest

import (
	"fmt"
	"strings"

	"promoter/internal/config"
	"promoter/internal/image"
)

// componentNames names each repository by the end of its path, and where two
// would be called alike, by what tells them apart as well.
func componentNames(subjects []subject) []string {
	wishes := make([][wishCount]string, len(subjects))
	for i := range subjects {
		wishes[i] = subjects[i].names()
	}
	names := make([]string, len(subjects))
	taken := map[string]bool{}
	for round := range wishCount {
		counts := map[string]int{}
		for i := range subjects {
			if names[i] == "" {
				counts[wishes[i][round]]++
			}
		}
		for i := range subjects {
			if name := wishes[i][round]; names[i] == "" && counts[name] == 1 && !taken[name] && config.ValidName(name) {
				names[i] = name
			}
		}
		for _, name := range names {
			taken[name] = true
		}
	}
	return numbered(names, subjects, taken)
}

// wishCount is how many names each repository may get.
const wishCount = 7

// names returns what the repository may be called, the shortest first: its own
// name, that with the kind of artifact, with one of the folders above it, with
// its registry, and with all of them.
func (s *subject) names() [wishCount]string {
	parts := strings.Split(s.repository.Path(), "/")
	kind := parts[len(parts)-1]
	if s.artifact != image.ArtifactImage {
		kind += "-" + string(s.artifact)
	}
	host, _, _ := strings.Cut(s.repository.Host(), ".")
	nearest, furthest := host, host
	if len(parts) > 1 {
		nearest, furthest = parts[len(parts)-2], parts[0]
	}
	return [wishCount]string{
		slug(s.repository.Name()), slug(kind), slug(nearest + "-" + kind), slug(furthest + "-" + kind), slug(host + "-" + kind),
		slug(s.repository.Path()), slug(s.repository.String()),
	}
}

// maxNameLength leaves room for a number in the 40 characters of a name.
const maxNameLength = 33

// numbered cuts what is left to a length, and gives it a number where that is
// taken.
func numbered(names []string, subjects []subject, taken map[string]bool) []string {
	last := map[string]int{} // the number that was given last
	for i := range names {
		if names[i] != "" {
			continue
		}
		base := slug(subjects[i].repository.Name())
		base = strings.Trim(base[:min(len(base), maxNameLength)], "-")
		name := base
		for n := max(last[base], 1); taken[name]; {
			n++
			name, last[base] = fmt.Sprintf("%s-%d", base, n), n
		}
		names[i], taken[name] = name, true
	}
	return names
}
