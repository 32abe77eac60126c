package lex

import (
	"bytes"
	"strings"
)

// RenovateMarker starts the text of a comment with which Renovate finds versions in any file.
const RenovateMarker = "renovate:"

// MayHaveRenovate reports whether the text may contain comments for Renovate.
func MayHaveRenovate(data []byte) bool {
	return bytes.Contains(data, []byte("# "+RenovateMarker)) || bytes.Contains(data, []byte("#"+RenovateMarker))
}

// ParseRenovate returns the name of the image whose version follows a comment for Renovate. It returns false if the version is
// not that of an image, or only a part of its tag.
// https://docs.renovatebot.com/modules/manager/regex/
func ParseRenovate(comment string) (name string, found bool) {
	rest, found := strings.CutPrefix(strings.TrimSpace(comment), RenovateMarker)
	if !found {
		return "", false
	}
	fields := map[string]string{}
	for field := range strings.FieldsSeq(rest) {
		key, value, _ := strings.Cut(field, "=")
		fields[key] = strings.Trim(value, `"'`)
	}
	name = fields["packageName"]
	if name == "" {
		name = fields["depName"]
	}
	if fields["datasource"] != "docker" || name == "" || fields["extractVersion"] != "" {
		return "", false
	}
	for _, key := range []string{"registryUrl", "registryUrls"} {
		if registry := fields[key]; registry != "" {
			registry = strings.TrimPrefix(strings.TrimPrefix(registry, "https://"), "http://")
			return strings.TrimSuffix(registry, "/") + "/" + name, !strings.Contains(registry, ",")
		}
	}
	return name, true
}
