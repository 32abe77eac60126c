package updater

import (
	"bytes"
	"regexp"
)

// largestWeighed is the size in bytes up to which names in an unparsed file are
// compared. The largest CRD bundles are about 5 MiB.
const largestWeighed = 8 << 20

// splitName matches a key with a value that is one half of a reference whose
// other half is elsewhere, or a registry URL.
var splitName = regexp.MustCompile(`(?i)(?:registry|hub|repository|repo|tag|digest|sha|sha256|chart)["']?[ \t]*:[ \t]*["']?[^\s"'{}\[\],|>#]|oci://`)

// mayHold reports whether an unparsed file that contains a followed name may
// contain a reference. Bundles of CRDs and dashboards contain words such as web
// or operator in prose. Only a name that is complete on its line is compared;
// halves of a name may belong together anywhere in the file.
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
