package updater

import (
	"bytes"
	"regexp"
)

// largestWeighed is the size in bytes up to which the names in a file that is not
// parsed are compared. The largest bundles of CRDs have some 5 MiB.
const largestWeighed = 8 << 20

// splitName is a key with a value that says one half of a reference whose other
// half stands elsewhere, or a registry's URL.
var splitName = regexp.MustCompile(`(?i)(?:registry|hub|repository|repo|tag|digest|sha|sha256|chart)["']?[ \t]*:[ \t]*["']?[^\s"'{}\[\],|>#]|oci://`)

// mayHold says whether a file that is not parsed, and in which a followed name
// stands, may hold a reference. Bundles of CRDs and dashboards have words such as web or
// operator in their prose. A name that stands whole on its line is compared;
// halves of one may belong together anywhere.
func (u *Updater) mayHold(file string, content []byte) bool {
	if len(content) > largestWeighed || len(u.writes(file)) > 0 || hasMarkers(content) || splitName.Match(content) {
		return true
	}
	f := finder{follower: u.follower, path: file}
	for line := range bytes.Lines(content) {
		for name := range mentions(string(line)) {
			if _, found := f.follow(name); found {
				return true
			}
		}
	}
	return false
}
