package updater_test

import (
	"strings"
	"testing"

	"promoter/internal/image"
	"promoter/internal/updater/site"
)

// Digests beside the version of an image change with it, or keep it from changing.
func TestCompanions(t *testing.T) {
	t.Parallel()
	hex1, hex2 := strings.TrimPrefix(digest1, "sha256:"), strings.TrimPrefix(digest2, "sha256:")
	checkShapes(t, []shapeCase{
		{
			name:   "digest beside a whole reference",
			before: "image: quay.io/acme/web:v1\ndigest: " + digest1 + "\n", after: "image: quay.io/acme/web:v2\ndigest: " + digest2 + "\n",
		},
		{
			name:   "digest of the image beside a whole reference",
			before: "a: {webImage: 'quay.io/acme/web:v1', webImageDigest: '" + digest1 + "'}\n",
			after:  "a: {webImage: 'quay.io/acme/web:v2', webImageDigest: '" + digest2 + "'}\n",
		},
		{
			name:   "hex digits beside a whole reference",
			before: "image: quay.io/acme/web:v1\nimageSha: " + hex1 + "\n", after: "image: quay.io/acme/web:v2\nimageSha: \"" + hex2 + "\"\n",
		},
		{
			name:   "digest beside a reference with a digest",
			before: "image: quay.io/acme/web:v1@" + digest1 + "\ndigest: " + digest1 + "\n",
			after:  "image: quay.io/acme/web:v2@" + digest2 + "\ndigest: " + digest2 + "\n",
		},
		{
			name:   "image digest beside repository and tag",
			before: "repository: quay.io/acme/web\ntag: v1\nimageDigest: " + digest1 + "\n",
			after:  "repository: quay.io/acme/web\ntag: v2\nimageDigest: " + digest2 + "\n",
		},
		{
			name:   "two digests of the image",
			before: "repository: quay.io/acme/web\ntag: v1\ndigest: " + digest1 + "\nimageDigest: " + digest1 + "\n",
			after:  "repository: quay.io/acme/web\ntag: v2\ndigest: " + digest2 + "\nimageDigest: " + digest2 + "\n",
		},
		{
			name:   "digests of images of one chart",
			before: "repository: quay.io/acme/web\ntag: v1\nawsDigest: " + digest1 + "\n", refused: "the digest under awsDigest in line 3",
		},
		{
			name:    "digest of a variant",
			before:  "image: {repository: quay.io/acme/web, tag: v1, digest: '" + digest1 + "', digestSlim: '" + digest1 + "'}\n",
			refused: "the digest under digestSlim in line 1",
		},
		{
			name:    "digest of a variant with the prefix of the image",
			before:  "webRepository: quay.io/acme/web\nwebTag: v1\nwebDigestSlim: " + digest1 + "\notherDigestSlim: " + digest1 + "\n",
			refused: "the digest under webDigestSlim in line 3",
		},
		{name: "digest of a variant, empty", before: "repository: quay.io/acme/web\ntag: v1\nslimDigest: ''\n", after: "repository: quay.io/acme/web\ntag: v2\nslimDigest: ''\n"},
		{
			name:   "digest of another image",
			before: "repository: quay.io/acme/web\ntag: v1\ninitRepository: quay.io/x/init\ninitDigest: " + digest1 + "\n",
			after:  "repository: quay.io/acme/web\ntag: v2\ninitRepository: quay.io/x/init\ninitDigest: " + digest1 + "\n",
		},
		{
			name:   "digest of something else",
			before: "image: quay.io/acme/web:v1\nconfigDigest: " + digest1 + "\nchecksum: " + hex1 + "\n",
			after:  "image: quay.io/acme/web:v2\nconfigDigest: " + digest1 + "\nchecksum: " + hex1 + "\n",
		},
		{
			name:    "the digest of the old version under any key",
			before:  "repository: quay.io/acme/web\ntag: v1@" + digest1 + "\nchecksum: " + hex1 + "\n",
			refused: "the digest under checksum in line 3",
		},
		{
			name:   "marked", // another one is named
			before: "repository: quay.io/acme/web\ntag: v1\nawsDigest: " + digest1 + " # promoter: worker.digest\n",
			after:  "repository: quay.io/acme/web\ntag: v2\nawsDigest: " + digest2 + " # promoter: worker.digest\n",
		},
		{
			name:   "ignored",
			before: "repository: quay.io/acme/web\ntag: v1\nawsDigest: " + digest1 + " # promoter: ignore\n",
			after:  "repository: quay.io/acme/web\ntag: v2\nawsDigest: " + digest1 + " # promoter: ignore\n",
		},
		{
			name: "empty key for hex digits", pin: image.PinTagDigest,
			before: "repository: quay.io/acme/web\ntag: v1\nsha: ''\n", after: "repository: quay.io/acme/web\ntag: v2\nsha: '" + hex2 + "'\n",
		},
		{
			name: "empty key for a digest", pin: image.PinTagDigest,
			before: "repository: quay.io/acme/web\ntag: v1\ndigest: ''\n", after: "repository: quay.io/acme/web\ntag: v2\ndigest: '" + digest2 + "'\n",
		},
		{
			name: "empty marked key for hex digits", pin: image.PinTagDigest,
			before: "a:\n  tag: v1 # promoter: web.tag\n  webSha256: '' # promoter: web.digest\n",
			after:  "a:\n  tag: v2 # promoter: web.tag\n  webSha256: '" + hex2 + "' # promoter: web.digest\n",
		},
		{
			name: "empty parameter for hex digits", pin: image.PinTagDigest,
			before: "helm:\n  parameters:\n  - {name: image.repository, value: quay.io/acme/web}\n  - {name: image.tag, value: v1}\n  - {name: image.sha, value: ''}\n",
			after:  "helm:\n  parameters:\n  - {name: image.repository, value: quay.io/acme/web}\n  - {name: image.tag, value: v2}\n  - {name: image.sha, value: '" + hex2 + "'}\n",
		},
	})
}

// A version without a digest changes no image with a digest beside it.
func TestCompanions_needTheDigest(t *testing.T) {
	t.Parallel()
	for _, before := range []string{
		"image: quay.io/acme/web:v1\ndigest: " + digest1 + "\n",
		"repository: quay.io/acme/web\ntag: v1\nimageDigest: " + digest1 + "\n",
	} {
		content, refused := rewriteWeb(t, site.Followed{}, before, image.Version{Tag: "v2"})
		if content != before || !strings.Contains(refused, "the file has a digest") {
			t.Errorf("%q became %q, refused %q", before, content, refused)
		}
	}
}
