package image

import "strings"

// attachment says whether a tag names something attached to an image instead of
// an image: cosign's signatures, attestations and SBOMs (sha256-HEX.sig), and
// the fallback tags of the OCI referrers API (sha256-HEX), which cut the hex
// digits of longer digests to 64.
// https://github.com/opencontainers/distribution-spec/blob/main/spec.md#referrers-tag-schema
func attachment(tag string) bool {
	for _, suffix := range []string{".sig", ".att", ".sbom"} {
		if strings.HasSuffix(tag, suffix) {
			return true
		}
	}
	algorithm, rest, found := strings.Cut(tag, "-")
	if !found || algorithm != "sha256" && algorithm != "sha512" || len(rest) < sha256Hex {
		return false
	}
	hex, suffix := rest[:sha256Hex], rest[sha256Hex:]
	return all(hex, classHex) && (suffix == "" || suffix[0] == '.')
}
