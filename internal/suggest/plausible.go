package suggest

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
)

// shapeText is the shape of a scalar that reads as a reference. Only its key or
// its form tells whether it is one: redis:6379 and system:masters read so too.
const shapeText edit.Shape = "reference"

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

func isImage(r edit.Reference) bool {
	switch {
	case r.Repository.IsZero() || r.Tag == "" && r.Digest == "":
		return false
	case r.Shape != shapeText:
		return r.Shape != shapeRemote
	case r.Digest != "" || strings.Contains(strings.ToLower(r.Key), "image"):
		return true
	default:
		host := r.Repository.Host()
		return host != hubHost && strings.Contains(host, ".") && !isAddress(host)
	}
}

// hubHost is Docker Hub, which a text names by saying no host at all.
const hubHost = "docker.io"

// isAddress says whether a host is an IP address: such texts are mostly addresses
// of services.
func isAddress(host string) bool {
	name, _, _ := strings.Cut(host, ":")
	return strings.Trim(name, "0123456789.") == "" || strings.HasPrefix(host, "[")
}

// leftAlone says whether promoter or Flux write a file themselves. What flux
// bootstrap writes it takes back.
func leftAlone(file string) bool {
	return path.Base(file) == "gotk-components.yaml" || file == ".promoter.yaml"
}

// artifactOf says what a reference of a shape names.
func artifactOf(shape edit.Shape) image.Artifact {
	switch shape {
	case "helm-release", "argocd-source", "chart-dependency":
		return image.ArtifactChart
	case "oci-repository":
		return image.ArtifactOther
	default:
		return image.ArtifactImage
	}
}
