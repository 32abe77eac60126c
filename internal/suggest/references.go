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

// In these shapes, only the key or the form of the name decides whether a text is an
// image: redis:6379 and system:masters look like references, and a chart of its own
// has a name and a version.
const (
	shapeText     edit.Shape = "reference"
	shapeTemplate edit.Shape = "template-line"
	shapeValues   edit.Shape = "helm-values"
)

// shapeKustomize is an entry of the images of a kustomization.
const shapeKustomize edit.Shape = "kustomize-images"

// shapeRemote is a folder of another Git repository. It follows an image of another
// reference.
const shapeRemote edit.Shape = "remote-resource"

// imageReferences returns the references that certainly name something in a
// registry, sorted by position, without those that no environment may change.
func imageReferences(references []edit.Reference, excludedFiles []string) []edit.Reference {
	var images []edit.Reference
	excluded := defaultExcludes()
	for _, r := range references {
		if file := r.Position.File; isImage(r) && !isToolFile(file) && !excluded(file) && !slices.Contains(excludedFiles, file) {
			images = append(images, r)
		}
	}
	slices.SortStableFunc(images, func(a, b edit.Reference) int {
		byRepository := cmp.Compare(a.Repository.String(), b.Repository.String())
		byVersion := cmp.Or(cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.Digest, b.Digest))
		return cmp.Or(a.Position.Compare(b.Position), byRepository, byVersion, cmp.Compare(a.Shape, b.Shape))
	})
	return slices.CompactFunc(images, func(a, b edit.Reference) bool {
		return a.Position == b.Position && a.Repository == b.Repository
	})
}

// defaultExcludes returns a filter for files that belong to no environment unless
// its paths name them.
func defaultExcludes() func(file string) bool {
	paths, err := config.ParsePaths(config.DefaultExcludes())
	if err != nil {
		return func(string) bool { return false } // a test checks that they parse
	}
	return paths.Match
}

// isImage reports whether a reference certainly names something in a registry.
func isImage(r edit.Reference) bool {
	if r.Repository.IsZero() || r.Tag == "" && r.Digest == "" {
		return false
	}
	certain := r.Digest != "" || strings.Contains(strings.ToLower(r.Key), "image") || r.Repository.HasDomain()
	switch r.Shape {
	case shapeRemote:
		return false
	case shapeText, shapeTemplate:
		return certain
	case shapeValues:
		return certain || !strings.HasPrefix(r.Repository.Path(), "library/")
	default:
		return true
	}
}

// isToolFile reports whether a file belongs to a tool, to promoter, or to Flux,
// which reverts changes in the files of flux bootstrap.
func isToolFile(file string) bool {
	first, _, _ := strings.Cut(file, "/")
	return tools[first] || path.Base(file) == "gotk-components.yaml" || file == config.FileName
}

// toolGlobs returns globs for the folders and files of tools in a tree.
func toolGlobs(files []string) []string {
	globs := map[string]bool{}
	for _, file := range files {
		first, _, inFolder := strings.Cut(file, "/")
		switch {
		case tools[first] && inFolder:
			globs[first+"/**"] = true
		case tools[first]:
			globs[first] = true
		}
	}
	return sortedKeys(globs)
}

// artifactOf returns the kind of artifact. Flux uses one kind of source for charts
// and manifests, so only the path tells.
func artifactOf(r edit.Reference) image.Artifact {
	switch {
	case isChartVersion(r):
		return image.ArtifactChart
	case r.Shape != "oci-repository":
		return image.ArtifactImage
	case strings.Contains(r.Repository.Path(), "chart") || strings.Contains(r.Repository.Path(), "helm"):
		return image.ArtifactChart
	default:
		return image.ArtifactOther
	}
}

// isChartVersion reports whether the reference is the version of a chart, which
// cannot have a digest.
func isChartVersion(r edit.Reference) bool {
	return r.Shape == "helm-release" || r.Shape == "argocd-source" || r.Shape == "chart-dependency"
}
