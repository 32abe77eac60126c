package updater_test

import (
	"strings"
	"testing"
)

func argoSource(text string) string {
	return "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web}\nspec:\n  source:\n    " +
		strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ") + "\n"
}

func TestArgoSource_targetRevision(t *testing.T) {
	t.Parallel()
	source := func(url, rest, revision string) string {
		return argoSource("repoURL: " + url + "\n" + rest + "\ntargetRevision: " + revision)
	}
	checkShapes(t, []shapeCase{
		{
			name:   "chart in a registry without a scheme",
			before: source("quay.io/acme/charts", "chart: web", "1.0.0"), after: source("quay.io/acme/charts", "chart: web", "2.0.0+build.5"),
			kinds: "argocd-source",
		},
		{
			name:   "chart in a registry with a scheme",
			before: source("oci://quay.io/acme/charts", "chart: web", `"1.0.0"`), after: source("oci://quay.io/acme/charts", "chart: web", `"2.0.0+build.5"`),
		},
		{
			name:   "artifact by tag",
			before: source("oci://quay.io/acme/manifests", "path: .", "v1"), after: source("oci://quay.io/acme/manifests", "path: .", "v2"),
		},
		{
			name:   "artifact by digest",
			before: source("oci://quay.io/acme/manifests", "path: .", digest1), after: source("oci://quay.io/acme/manifests", "path: .", digest2),
		},
		{
			name:   "artifact by tag and digest, as tag+digest writes it",
			before: source("oci://quay.io/acme/manifests", "path: .", "v1@"+digest1), after: source("oci://quay.io/acme/manifests", "path: .", "v2@"+digest2),
		},
		{name: "Git", before: source("https://github.com/acme/web", "path: deploy", "v1")},
		{name: "Git that looks like the registry", before: source("https://quay.io/acme/manifests", "path: .", "v1")},
		{name: "chart of an index", before: source("https://quay.io/acme/charts", "chart: web", "1.0.0")},
		{name: "range", before: source("quay.io/acme/charts", "chart: web", "1.*"), refused: "file.yaml:8: the range 1.* selects"},
		{name: "partial range", before: source("quay.io/acme/charts", "chart: web", `"1.0"`), refused: "the range"},
		{name: "generated", before: source("quay.io/acme/charts", "chart: web", `"{{.version}}"`), refused: "variable"},
		{name: "no revision", before: argoSource("repoURL: quay.io/acme/charts\nchart: web")},
	})
}

func TestArgoParameters_groups(t *testing.T) {
	t.Parallel()
	parameters := func(text string) string {
		return argoSource("repoURL: https://github.com/acme/deploy\nhelm:\n  parameters:\n" + text)
	}
	checkShapes(t, []shapeCase{
		{
			name: "repository and tag", kinds: "argocd-parameters",
			before: parameters("  - {name: image.repository, value: quay.io/acme/web}\n  - {name: image.tag, value: v1}"),
			after:  parameters("  - {name: image.repository, value: quay.io/acme/web}\n  - {name: image.tag, value: v2}"),
		},
		{
			name:   "the tag before its repository, and a registry",
			before: parameters("  - name: web.image.tag\n    value: \"v1\" # kept\n  - {name: web.image.registry, value: quay.io}\n  - {name: web.image.repository, value: acme/web}"),
			after:  parameters("  - name: web.image.tag\n    value: \"v2\" # kept\n  - {name: web.image.registry, value: quay.io}\n  - {name: web.image.repository, value: acme/web}"),
		},
		{
			name:   "two groups and a whole reference",
			before: parameters("  - {name: a.repository, value: quay.io/acme/web}\n  - {name: b.repository, value: quay.io/other/web}\n  - {name: a.tag, value: v1}\n  - {name: b.tag, value: v1}\n  - {name: c, value: \"quay.io/acme/worker:v1\"}"),
			after:  parameters("  - {name: a.repository, value: quay.io/acme/web}\n  - {name: b.repository, value: quay.io/other/web}\n  - {name: a.tag, value: v2}\n  - {name: b.tag, value: v1}\n  - {name: c, value: \"quay.io/acme/worker:v2\"}"),
		},
		{
			name:   "tag and digest",
			before: parameters("  - {name: i.repository, value: quay.io/acme/web}\n  - {name: i.tag, value: v1}\n  - {name: i.digest, value: \"" + digest1 + "\"}"),
			after:  parameters("  - {name: i.repository, value: quay.io/acme/web}\n  - {name: i.tag, value: v2}\n  - {name: i.digest, value: \"" + digest2 + "\"}"),
		},
		{
			name:   "generated tag",
			before: parameters("  - {name: i.repository, value: quay.io/acme/web}\n  - {name: i.tag, value: \"{{.tag}}\"}"), refused: "variable",
		},
		{
			name:   "the same parameter twice",
			before: parameters("  - {name: i.repository, value: quay.io/acme/web}\n  - {name: i.tag, value: v1}\n  - {name: i.tag, value: v1}"), refused: "twice",
		},
		{
			name:   "no parameters of Helm",
			before: argoSource("plugin:\n  parameters:\n  - {name: image.repository, value: quay.io/acme/web}\n  - {name: image.tag, value: v1}"),
		},
		{name: "nothing in the list", before: parameters("  - {name: image.tag}\n  - text\n  - {value: v1}")},
	})
}

func TestArgoKustomizeImages(t *testing.T) {
	t.Parallel()
	images := func(list string) string {
		return argoSource("repoURL: https://github.com/acme/deploy\nkustomize: {images: [" + list + "]}")
	}
	checkShapes(t, []shapeCase{
		{name: "name, new name and tag", before: images("web=quay.io/acme/web:v1"), after: images("web=quay.io/acme/web:v2")},
		{name: "name and tag", before: images(`"quay.io/acme/web:v1"`), after: images(`"quay.io/acme/web:v2"`)},
		{name: "digest", before: images("web=quay.io/acme/web@" + digest1), after: images("web=quay.io/acme/web@" + digest2)},
		{name: "new name alone", before: images("web=quay.io/acme/web")},
		{name: "somebody else's", before: images("quay.io/acme/web=quay.io/other/web:v1")},
	})
}

// A generated tag cannot be changed where it is used. With one marker where it
// is set, and one that excludes the place of use, all references are covered.
func TestArgoApplicationSet_generatedTags(t *testing.T) {
	t.Parallel()
	set := func(tag, use string) string {
		return `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
spec:
  generators:
    - list:
        elements:
          - cluster: one
            tag: ` + tag + `
  template:
    spec:
      source:
        helm:
          parameters:
            - {name: image.repository, value: quay.io/acme/web}
            - name: image.tag
              value: "{{.tag}}"` + use + "\n"
	}
	checkShapes(t, []shapeCase{
		{name: "refused", before: set("v1", ""), refused: "change it where the variable is set"},
		{
			name:   "marked",
			before: set("v1 # promoter: web.tag", " # promoter: ignore"),
			after:  set("v2 # promoter: web.tag", " # promoter: ignore"),
		},
	})
}
