package suggest

import (
	"testing"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
)

func TestIsImage(t *testing.T) {
	t.Parallel()
	const digest = "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	tests := []struct {
		name, text, key string
		shape           edit.Shape
		want            bool
	}{
		{"under the key image", "web:1.2", "image", shapeText, true},
		{"under a key with image in it", "web:1.2", "sidecarImage", shapeText, true},
		{"a host and a path", "quay.io/acme/web:1.2", "value", shapeText, true},
		{"a digest", "web" + digest, "value", shapeText, true},
		{"a service and its port", "redis:6379", "value", shapeText, false},
		{"a group of users", "system:masters", "name", shapeText, false},
		{"a time of day", "12:30", "at", shapeText, false},
		{"a host without a domain", "localhost:5000/web:1", "value", shapeText, false},
		{"an IP address", "10.0.0.1:8080/web:1", "value", shapeText, false},
		{"a name without a version", "quay.io/acme/web", "image", shapeText, false},
		{"an entry of kustomize", "web:1.2", "images", "kustomize-images", true},
		{"Helm values under image", "web:1.2", "image", shapeValues, true},
		{"Helm values with a path", "acme/web:1.2", "web", shapeValues, true},
		{"name and version of a chart", "web:1.2.3", "", shapeValues, false},
		{"a line of a template", "redis:6379", "", shapeTemplate, false},
		{"an image in a template", "quay.io/acme/web:1.2", "", shapeTemplate, true},
		{"a folder of another repository", "quay.io/acme/web:1.2", "resources", shapeRemote, false},
		{"a chart", "quay.io/acme/charts/web:1.2.3", "spec", "helm-release", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			parsed, err := image.Parse(test.text)
			if err != nil {
				t.Fatal(err)
			}
			r := edit.Reference{Shape: test.shape, Key: test.key, Repository: parsed.Repository, Tag: parsed.Tag, Digest: parsed.Digest}
			if got := isImage(r); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestImageReferences_excludedFiles(t *testing.T) {
	t.Parallel()
	repository, err := image.ParseRepository("quay.io/acme/web")
	if err != nil {
		t.Fatal(err)
	}
	var references []edit.Reference
	for i, file := range []string{
		"b.yaml", ".github/workflows/ci.yaml", ".gitlab-ci.yml", "vendor/x/d.yaml", "clusters/dev/flux-system/gotk-components.yaml", "a.yaml", "a.yaml",
	} {
		references = append(references, edit.Reference{
			Shape: "kustomize-images", Repository: repository, Tag: "1", Position: edit.Position{File: file, Line: min(i, 5)},
		})
	}
	got := imageReferences(references, nil)
	if len(got) != 2 || got[0].Position.File != "a.yaml" || got[1].Position.File != "b.yaml" {
		t.Errorf("got %v", got)
	}
}

func TestDefaultExcludes(t *testing.T) {
	t.Parallel()
	excluded := defaultExcludes()
	if _, err := config.ParsePaths(config.DefaultExcludes()); err != nil || !excluded(".github/workflows/ci.yaml") || excluded("a.yaml") {
		t.Errorf("the default excludes do not match: %v", err)
	}
}

func TestArtifactOf(t *testing.T) {
	t.Parallel()
	tests := []struct {
		shape      edit.Shape
		repository string
		want       image.Artifact
	}{
		{"kustomize-images", "quay.io/acme/web", image.ArtifactImage},
		{"helm-release", "quay.io/acme/web", image.ArtifactChart},
		{"argocd-source", "quay.io/acme/web", image.ArtifactChart},
		{"chart-dependency", "quay.io/acme/web", image.ArtifactChart},
		{"oci-repository", "quay.io/acme/charts/web", image.ArtifactChart},
		{"oci-repository", "quay.io/acme/manifests/web", image.ArtifactOther},
	}
	for _, test := range tests {
		repository, err := image.ParseRepository(test.repository)
		if err != nil {
			t.Fatal(err)
		}
		if got := artifactOf(edit.Reference{Shape: test.shape, Repository: repository}); got != test.want {
			t.Errorf("%s of %s: got %s", test.shape, test.repository, got)
		}
	}
}
