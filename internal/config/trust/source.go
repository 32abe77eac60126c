package trust

import (
	"slices"
	"strings"
)

// ValidSource reports whether s is HOST/OWNER/NAME. The host may have a port, and an
// owner may have several segments.
func ValidSource(s string) bool {
	segments := strings.Split(s, "/")
	host, port, _ := strings.Cut(segments[0], ":")
	if segments[0] = host; strings.Trim(port, "0123456789") != "" {
		return false
	}
	return len(segments) >= 3 && !slices.ContainsFunc(segments, func(segment string) bool {
		return segment == "" || segment == "." || segment == ".." || strings.ContainsAny(segment, " \t*:@?#\\")
	})
}
