package benchworld

import (
	"crypto/sha256"
	"fmt"

	"promoter/internal/benchtree"
)

// MovingTag is a tag of all images that stands at the newest version. Each version has
// a tag of its own too.
const MovingTag = "released"

// tagOf is that of one version. The first is the one in the tree of all benchmarks.
func tagOf(version int) string {
	if version == 0 {
		return benchtree.Tag
	}
	return fmt.Sprintf("2.0.%d", version)
}

func tagsUpTo(newest int) []string {
	tags := []string{MovingTag}
	for version := range newest + 1 {
		tags = append(tags, tagOf(version))
	}
	return tags
}

// versionOf finds what a tag or a digest stands for.
func versionOf(image, reference string, newest int) int {
	for version := range newest {
		if reference == tagOf(version) || reference == Digest(image, version) {
			return version
		}
	}
	return newest
}

const imageConfig = `{"architecture":"amd64","os":"linux","created":"2026-01-02T03:04:05Z","rootfs":{"type":"layers","diff_ids":[]},"config":{}}`

// manifestOf differs for every image and version.
func manifestOf(image string, version int) string {
	return fmt.Sprintf(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",`+
		`"config":{"mediaType":"application/vnd.oci.image.config.v1+json","size":%d,"digest":%q},"layers":[],"annotations":{"name":%q,"version":"%d"}}`,
		len(imageConfig), digestOf(imageConfig), image, version)
}

// Digest is that of one version of an image.
func Digest(image string, version int) string { return digestOf(manifestOf(image, version)) }

func digestOf(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) }
