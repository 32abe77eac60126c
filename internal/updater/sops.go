package updater

import "errors"

// errSigned is the reason why a file managed by SOPS is not changed. Source:
// the section "Message Authentication Code" of https://getsops.io/docs/.
var errSigned = errors.New("SOPS signs all values of the file, also those that it does not encrypt, and would refuse to decrypt it: " +
	"change the value with sops, move it to another file, or set mac_only_encrypted")

// signed reports whether SOPS signs the values of a file, encrypted or not. The
// signature covers unencrypted values too, unless they are explicitly excluded.
func (s *stream) signed() bool {
	for _, document := range s.documents {
		for _, root := range document.Content {
			if lookupText(root, "sops", "mac") != "" && lookupText(root, "sops", "mac_only_encrypted") != "true" {
				return true
			}
		}
	}
	return false
}
