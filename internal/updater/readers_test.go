package updater_test

import (
	"testing"

	"promoter/internal/image"
)

// A value that is the version of several images changes only if all of them get that version.
func TestReaders_ofOneValue(t *testing.T) {
	t.Parallel()
	const shared = "the value is also the version of "
	checkShapes(t, []shapeCase{
		{
			name:   "two components with one version",
			before: "a: {repository: quay.io/acme/web, tag: &v v1}\nb: {repository: quay.io/acme/worker, tag: *v}\n",
			after:  "a: {repository: quay.io/acme/web, tag: &v v2}\nb: {repository: quay.io/acme/worker, tag: *v}\n", noted: "*v changes along",
		},
		{
			name:    "image that no component follows",
			before:  "a: {repository: quay.io/acme/web, tag: &v v1}\nb: {repository: quay.io/acme/other, tag: *v}\n",
			refused: shared + "quay.io/acme/other in line 2",
		},
		{
			name:    "anchor of an image that no component follows",
			before:  "b: {registry: quay.io, repository: acme/other, tag: &v v1}\na: {repository: quay.io/acme/web, tag: *v}\n",
			refused: shared + "quay.io/acme/other in line 1",
		},
		{
			name:    "merge key",
			before:  "base: &b\n  tag: v1\na:\n  <<: *b\n  repository: quay.io/acme/web\nb:\n  <<: *b\n  repository: quay.io/acme/other\n",
			refused: shared + "quay.io/acme/other in line 7",
		},
		{
			name:    "several others",
			before:  "a: {repository: quay.io/acme/web, tag: &v v1}\nb: {repository: quay.io/x/b, tag: *v}\nc: {image: quay.io/x/c, tag: *v}\n",
			refused: "quay.io/x/b in line 2 and of quay.io/x/c in line 3",
		},
		{
			name:    "keys with a prefix",
			before:  "webImage: quay.io/acme/web\nwebTag: &v v1\notherImage: quay.io/x/other\notherTag: *v\n",
			refused: shared + "quay.io/x/other",
		},
		{
			name:    "kustomize",
			before:  "images:\n- {name: quay.io/acme/web, newTag: &v v1}\n- {name: quay.io/x/other, newTag: *v}\n",
			refused: shared + "quay.io/x/other in line 3",
		},
		{
			name:    "digest",
			before:  "a: {repository: quay.io/acme/web, digest: &v '" + digest1 + "'}\nb: {repository: quay.io/acme/other, digest: *v}\n",
			refused: shared + "quay.io/acme/other",
		},
		{
			name: "hub", before: "global: {hub: quay.io/acme, tag: v1}\na: {image: web}\nb: {image: other}\n",
			refused: shared + "quay.io/acme/other",
		},
		{
			name:   "no image",
			before: "a: {repository: quay.io/acme/web, tag: &v v1}\nlabels: {version: *v}\n",
			after:  "a: {repository: quay.io/acme/web, tag: &v v2}\nlabels: {version: *v}\n", noted: "*v changes along",
		},
		{
			name:   "an image with a version of its own",
			before: "a: {repository: quay.io/acme/web, tag: &v v1}\nb: {repository: quay.io/acme/other, tag: v1}\nc: *v\n",
			after:  "a: {repository: quay.io/acme/web, tag: &v v2}\nb: {repository: quay.io/acme/other, tag: v1}\nc: *v\n", noted: "*v changes along",
		},
		{
			name:   "one image twice",
			before: "a: {repository: quay.io/acme/web, tag: &v v1}\nb: {repository: quay.io/acme/web, tag: *v}\n",
			after:  "a: {repository: quay.io/acme/web, tag: &v v2}\nb: {repository: quay.io/acme/web, tag: *v}\n", noted: "*v changes along",
		},
	})
}

// A component that stays shares no value with one that moves.
func TestReaders_thatStay(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"anchor":    "a: {repository: quay.io/acme/web, tag: &v v1}\nb: {repository: quay.io/acme/worker, tag: *v}\n",
		"hub":       "global: {hub: quay.io/acme, tag: v1}\na: {image: web}\nb: {image: worker}\n",
		"parameter": "kind: Template\nobjects:\n- a: 'quay.io/acme/web:${TAG}'\n- b: 'quay.io/acme/worker:${TAG}'\nparameters:\n- {name: TAG, value: v1}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := acme("")
			inventory := scanTree(t, c, oneFile("f.yaml", []byte(content)))
			file := oneFile("f.yaml", []byte(content)).file("f.yaml")
			got := inventory.Rewrite(t.Context(), file, func(component string) (image.Version, bool) {
				return image.Version{Tag: "v2"}, component == "web"
			})
			if got.Content != nil || len(got.Refusals) != 1 {
				t.Fatalf("became %q, refused %v", got.Content, got.Refusals)
			}
			expectPart(t, "refusals", got.Refusals[0].Reason, "also the version of worker, which would not get the same version")
		})
	}
}

// What only configures other tools is not changed, unless it is marked.
func TestForeign_objects(t *testing.T) {
	t.Parallel()
	checkShapes(t, []shapeCase{
		{name: "ImageUpdater", before: "apiVersion: argocd-image-updater.argoproj.io/v1alpha1\nkind: ImageUpdater\nspec: {images: [{imageName: 'quay.io/acme/web:v1'}]}\n"},
		{name: "Warehouse", before: "apiVersion: kargo.akuity.io/v1alpha1\nkind: Warehouse\nspec: {image: 'quay.io/acme/web:v1'}\n"},
		{name: "without an API version", before: "kind: Warehouse\nspec: {image: 'quay.io/acme/web:v1'}\n"},
		{name: "Freight in a list", before: "kind: List\nitems:\n- {apiVersion: kargo.akuity.io/v1alpha1, kind: Freight, image: 'quay.io/acme/web:v1'}\n- {image: 'quay.io/acme/web:v1'}\n", after: "kind: List\nitems:\n- {apiVersion: kargo.akuity.io/v1alpha1, kind: Freight, image: 'quay.io/acme/web:v1'}\n- {image: 'quay.io/acme/web:v2'}\n"},
		{name: "ImagePolicy in a block", before: "a: |\n  apiVersion: image.toolkit.fluxcd.io/v1beta2\n  kind: ImagePolicy\n  spec: {image: 'quay.io/acme/web:v1'}\n"},
		{name: "the same kind of another group", before: "apiVersion: x.io/v1\nkind: Stage\nspec: {image: 'quay.io/acme/web:v1'}\n", after: "apiVersion: x.io/v1\nkind: Stage\nspec: {image: 'quay.io/acme/web:v2'}\n"},
		{name: "marked", before: "kind: Warehouse\nspec: {image: 'quay.io/acme/web:v1'} # promoter: web\n", after: "kind: Warehouse\nspec: {image: 'quay.io/acme/web:v2'} # promoter: web\n"},
		{name: "Renovate", path: "a/renovate.json", before: "{\"image\": \"quay.io/acme/web:v1\"}\n"},
		{name: "Dependabot", path: ".github/dependabot.yml", before: "image: quay.io/acme/web:v1\n"},
	})
}

// Comments of other tools name an image.
func TestMarkers_ofOtherTools(t *testing.T) {
	t.Parallel()
	const renovate = "# renovate: datasource=docker depName="
	checkShapes(t, []shapeCase{
		{name: "Renovate, above", before: "a:\n  " + renovate + "quay.io/acme/web\n  version: v1\n", after: "a:\n  " + renovate + "quay.io/acme/web\n  version: v2\n", kinds: "marker"},
		{name: "Renovate, after", before: "a: v1 " + renovate + "quay.io/acme/web\nb: v1\n", after: "a: v2 " + renovate + "quay.io/acme/web\nb: v1\n"},
		{name: "Renovate, the line after the next", before: renovate + "quay.io/acme/web\n\na: v1\n"},
		{name: "Renovate, image of no component", before: renovate + "quay.io/acme/other\na: v1\n"},
		{name: "Renovate, other datasource", before: "# renovate: datasource=github-tags depName=quay.io/acme/web\na: v1\n"},
		{name: "Renovate, a whole reference", before: renovate + "quay.io/acme/web\nimage: quay.io/acme/web:v1\n", after: renovate + "quay.io/acme/web\nimage: quay.io/acme/web:v2\n", kinds: "reference"},
		{
			name:    "Flux, name of another image",
			before:  "repository: old.example.com/web # {\"$imagepolicy\": \"x:web:name\"}\ntag: v1 # {\"$imagepolicy\": \"x:web:tag\"}\n",
			refused: "old.example.com/web in line 1 has a marker of web, which is quay.io/acme/web",
		},
		{
			name:   "Flux, name in two halves",
			before: "registry: quay.io\nrepository: acme/web # {\"$imagepolicy\": \"x:web:name\"}\ntag: v1 # {\"$imagepolicy\": \"x:web:tag\"}\n",
			after:  "registry: quay.io\nrepository: acme/web # {\"$imagepolicy\": \"x:web:name\"}\ntag: v2 # {\"$imagepolicy\": \"x:web:tag\"}\n",
		},
		{name: "Flux, reference to another image", before: "a: old.example.com/web:v1 # {\"$imagepolicy\": \"x:web\"}\n", refused: "old.example.com/web has a marker of web"},
		{name: "own, reference to another image", before: "a: old.example.com/web:v1 # promoter: web\n", after: "a: old.example.com/web:v2 # promoter: web\n"},
	})
}
