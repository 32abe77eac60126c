package updater_test

import (
	"strings"
	"testing"

	"promoter/internal/image"
)

func TestHelmValues_shapes(t *testing.T) {
	t.Parallel()
	hex1, hex2 := digest1[len("sha256:"):], digest2[len("sha256:"):]
	checkShapes(t, []shapeCase{
		{
			name: "registry, repository, tag and digest", kinds: "helm-values",
			before: "web: {registry: quay.io, repository: acme/web, tag: v1, digest: " + digest1 + "}\n",
			after:  "web: {registry: quay.io, repository: acme/web, tag: v2, digest: " + digest2 + "}\n",
		},
		{
			name:   "several images",
			before: "a:\n  repository: quay.io/acme/web\n  tag: v1\nb:\n  repository: quay.io/acme/web-b\n  tag: v1\nc:\n  registry: x\n  repository: quay.io/acme/web\n  tag: v1\n",
			after:  "a:\n  repository: quay.io/acme/web\n  tag: v2\nb:\n  repository: quay.io/acme/web-b\n  tag: v1\nc:\n  registry: x\n  repository: quay.io/acme/web\n  tag: v1\n",
		},
		{
			name:   "digest without its algorithm",
			before: "repository: quay.io/acme/web\ntag: v1\nsha: " + hex1 + "\n", after: "repository: quay.io/acme/web\ntag: v2\nsha: \"" + hex2 + "\"\n",
		},
		{
			name:   "repository that ends in @sha256",
			before: "repository: quay.io/acme/web@sha256\ntag: '" + hex1 + "'\n", after: "repository: quay.io/acme/web@sha256\ntag: '" + hex2 + "'\n",
		},
		{name: "repository that ends in @sha256, and a tag", before: "repository: quay.io/acme/web@sha256\ntag: v1\n", refused: "not a tag or digest"},
		{name: "name and version of a chart", before: "name: quay.io/acme/web\nversion: v1\n"},
		{name: "repository and version", before: "repository: quay.io/acme/web\nversion: v1\n", after: "repository: quay.io/acme/web\nversion: v2\n"},
		{name: "repository, image and version", before: "repository: quay.io/acme\nimage: web\nversion: v1\n", after: "repository: quay.io/acme\nimage: web\nversion: v2\n"},
		{name: "image and tag", before: "image: quay.io/acme/web\ntag: v1\n", after: "image: quay.io/acme/web\ntag: v2\n"},
		{name: "name and tag", before: "name: quay.io/acme/web\ntag: v1\n", after: "name: quay.io/acme/web\ntag: v2\n"},
		{name: "imageRepository and imageTag", before: "imageRepository: quay.io/acme/web\nimageTag: v1\n", after: "imageRepository: quay.io/acme/web\nimageTag: v2\n"},
		{name: "hub, image and tag", before: "hub: quay.io/acme\nimage: web\ntag: v1\n", after: "hub: quay.io/acme\nimage: web\ntag: v2\n"},
		{
			name:   "hub and tag for images elsewhere",
			before: "global: {hub: quay.io/acme, tag: v1}\npilot: {image: web}\n", after: "global: {hub: quay.io/acme, tag: v2}\npilot: {image: web}\n",
		},
		{
			name:   "global registry",
			before: "global: {imageRegistry: quay.io}\nweb: {image: {repository: acme/web, tag: v1}}\n",
			after:  "global: {imageRegistry: quay.io}\nweb: {image: {repository: acme/web, tag: v2}}\n",
		},
		{
			name:   "tag and digest in one scalar",
			before: "repository: quay.io/acme/web\ntag: v1@" + digest1 + "\n", after: "repository: quay.io/acme/web\ntag: v2@" + digest2 + "\n",
		},
		{
			name: "the tag is an alias", noted: "*t changes along",
			before: "t: &t v1\nweb: {repository: quay.io/acme/web, tag: *t}\n", after: "t: &t v2\nweb: {repository: quay.io/acme/web, tag: *t}\n",
		},
		{name: "variable", before: "repository: quay.io/acme/web\ntag: ${TAG}\n", refused: "the version is a variable"},
		{name: "the repository stands twice", before: "repository: quay.io/acme/web\nrepository: quay.io/acme/web\ntag: v1\n", refused: "the key repository occurs twice"},
		{name: "a name beside another repository", before: "name: web\nrepository: quay.io/acme/other\ntag: v1\n"},
		{name: "image, name and version", before: "image: {name: quay.io/acme/web, version: v1}\n", after: "image: {name: quay.io/acme/web, version: v2}\n"},
		{name: "full image and version", before: "image: quay.io/acme/web\nversion: v1\n", after: "image: quay.io/acme/web\nversion: v2\n"},
		{name: "repository and imageTag", before: "repository: quay.io/acme/web\nimageTag: v1\n", after: "repository: quay.io/acme/web\nimageTag: v2\n"},
		{name: "registry, repository, image and tag", before: "registry: quay.io\nrepository: acme\nimage: web\ntag: v1\n", after: "registry: quay.io\nrepository: acme\nimage: web\ntag: v2\n"},
		{name: "the chart chooses", before: "repository: quay.io/acme/web\ntag: \"\"\n"},
		{name: "not a tag", before: "repository: quay.io/acme/web\ntag: a b\n", refused: "is not a tag or digest"},
	})
}

// TestHelmValues_shortNames follows redis on Docker Hub, a name that many
// groups and images in other registries share.
func TestHelmValues_shortNames(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{
		"name beside a repository":  "name: redis\nrepository: quay.io/acme/redis\ntag: \"7.2\"\n",
		"image beside a repository": "image: redis\nrepository: quay.io/acme\ntag: \"7.2\"\n",
		"image beside a hub":        "image: redis\nhub: quay.io/acme\ntag: \"7.2\"\n",
		"name beside a repo":        "name: redis\nrepo: quay.io/acme/redis\ntag: \"7.2\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkHub(t, before, before, "")
		})
	}
}

// TestHelmValues_pin covers the table in docs/writing.md.
func TestHelmValues_pin(t *testing.T) {
	t.Parallel()
	group := func(rest string) string { return "web:\n  repository: quay.io/acme/web\n" + rest }
	checkShapes(t, []shapeCase{
		{name: "tag and digest, keep", before: group("  tag: v1\n  digest: " + digest1 + "\n"), after: group("  tag: v2\n  digest: " + digest2 + "\n"), pin: image.PinKeep},
		{name: "tag and empty digest, keep", before: group("  tag: v1\n  digest: \"\"\n"), after: group("  tag: v2\n  digest: \"\"\n"), pin: image.PinKeep},
		{name: "tag and empty digest, tag+digest", before: group("  tag: v1\n  digest: \"\"\n"), after: group("  tag: v2\n  digest: \"" + digest2 + "\"\n"), pin: image.PinTagDigest},
		{name: "tag and digest, tag", before: group("  tag: v1\n  digest: " + digest1 + "\n"), after: group("  tag: v2\n  digest: \"\"\n"), pin: image.PinTag},
		{name: "tag and digest, digest", before: group("  tag: v1\n  digest: " + digest1 + "\n"), after: group("  tag: v2\n  digest: " + digest2 + "\n"), pin: image.PinDigest},
		{name: "tag and a digest key without a value, tag+digest", before: group("  tag: v1\n  digest: # none\n"), after: group("  tag: v2\n  digest: " + digest2 + " # none\n"), pin: image.PinTagDigest},
		{name: "in a flow mapping, tag+digest", before: "{repository: quay.io/acme/web, tag: v1, digest: }\n", after: "{repository: quay.io/acme/web, tag: v2, digest: " + digest2 + " }\n", pin: image.PinTagDigest},
		{name: "tag and a null digest, tag+digest", before: group("  tag: v1\n  digest: ~\n"), after: group("  tag: v2\n  digest: " + digest2 + "\n"), pin: image.PinTagDigest},
		{name: "tag and a null digest, keep", before: group("  tag: v1\n  digest: null\n"), after: group("  tag: v2\n  digest: null\n")},
		{name: "tag alone, tag+digest", before: group("  tag: v1\n"), after: group("  tag: v2@" + digest2 + "\n"), pin: image.PinTagDigest},
		{name: "tag alone, digest", before: group("  tag: v1\n"), refused: "the file has no place for a digest: set pin: tag+digest", pin: image.PinDigest},
		{name: "digest alone, tag", before: group("  digest: " + digest1 + "\n"), refused: "the file has no place for a tag", pin: image.PinTag},
		{name: "digest alone, keep", before: group("  digest: " + digest1 + "\n"), after: group("  digest: " + digest2 + "\n"), pin: image.PinKeep},
	})
}

// A key may have no word at all.
func TestHelmValues_keysWithoutWords(t *testing.T) {
	t.Parallel()
	const values = "_: x\n\"\": y\n-.-: z\nWEB_IMAGE: quay.io/acme/web\nWEB_TAG: v1\n"
	checkShapes(t, []shapeCase{{name: "beside a group", before: values, after: strings.Replace(values, "v1", "v2", 1)}})
}
