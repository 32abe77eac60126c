package suggest

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
)

// Shapes of which only the key or the form of the name tells whether it is an
// image: redis:6379 and system:masters read as references, and a chart of its own
// has a name and a version.
const (
	shapeText     edit.Shape = "reference"
	shapeTemplate edit.Shape = "template-line"
	shapeValues   edit.Shape = "helm-values"
)

// shapeRemote is a folder of another Git repository. It follows an image that
// stands elsewhere.
const shapeRemote edit.Shape = "remote-resource"

// plausible returns the references that surely name something in a registry, in
// the order of their places, without those that no environment may change.
func plausible(references []edit.Reference) []edit.Reference {
	var out []edit.Reference
	excluded := defaultExcludes()
	for _, r := range references {
		if file := r.Position.File; isImage(r) && !leftAlone(file) && !excluded(file) {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b edit.Reference) int {
		return cmp.Or(comparePositions(a.Position, b.Position), cmp.Compare(a.Repository.String(), b.Repository.String()),
			cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.Digest, b.Digest), cmp.Compare(a.Shape, b.Shape))
	})
	return slices.CompactFunc(out, func(a, b edit.Reference) bool {
		return a.Position == b.Position && a.Repository == b.Repository
	})
}

// defaultExcludes says which files no environment has unless it names them.
func defaultExcludes() func(file string) bool {
	paths, err := config.ParsePaths(config.DefaultExcludes())
	if err != nil {
		return func(string) bool { return false } // the defaults parse; a test of their own says so
	}
	return paths.Match
}

// replaced is a tag that something fills in before it is applied.
var replaced = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$`)

// isImage says whether a reference surely names something in a registry.
func isImage(r edit.Reference) bool {
	if r.Repository.IsZero() || r.Tag == "" && r.Digest == "" || replaced.MatchString(r.Tag) {
		return false
	}
	saysSo := r.Digest != "" || strings.Contains(strings.ToLower(r.Key), "image") || hasHost(r.Repository)
	switch r.Shape {
	case shapeRemote:
		return false
	case shapeText, shapeTemplate:
		return saysSo
	case shapeValues:
		return saysSo || !strings.HasPrefix(r.Repository.Path(), "library/")
	default:
		return true
	}
}

// hasHost says whether the name begins with a registry by its domain. An address
// mostly is one of a service.
func hasHost(r image.Repository) bool {
	host := r.Host()
	return host != hubHost && strings.Contains(host, ".") && !isAddress(host)
}

// hubHost is Docker Hub, which a text names by saying no host at all.
const hubHost = "docker.io"

// isAddress says whether a host is an IP address: such texts are mostly addresses
// of services.
func isAddress(host string) bool {
	name, _, _ := strings.Cut(host, ":")
	return strings.Trim(name, "0123456789.") == "" || strings.HasPrefix(host, "[")
}

// leftAlone says whether a file belongs to a tool, to promoter, or to Flux, which
// takes back what others change in what flux bootstrap writes.
func leftAlone(file string) bool {
	first, _, _ := strings.Cut(file, "/")
	return tools[first] || path.Base(file) == "gotk-components.yaml" || file == ".promoter.yaml"
}

// toolsOf returns globs of the folders and files of tools that a tree has.
func toolsOf(files []string) []string {
	found := map[string]bool{}
	for _, file := range files {
		first, _, folder := strings.Cut(file, "/")
		switch {
		case tools[first] && folder:
			found[first+"/**"] = true
		case tools[first]:
			found[first] = true
		}
	}
	return sortedKeys(found)
}

// artifactOf says what a reference names. Flux keeps charts and manifests in the
// same kind of source; only the path tells.
func artifactOf(r edit.Reference) image.Artifact {
	switch {
	case chartVersion(r):
		return image.ArtifactChart
	case r.Shape != "oci-repository":
		return image.ArtifactImage
	case strings.Contains(r.Repository.Path(), "chart") || strings.Contains(r.Repository.Path(), "helm"):
		return image.ArtifactChart
	default:
		return image.ArtifactOther
	}
}

// chartVersion says whether the reference is the version of a chart, which has no
// place for a digest.
func chartVersion(r edit.Reference) bool {
	return r.Shape == "helm-release" || r.Shape == "argocd-source" || r.Shape == "chart-dependency"
}
