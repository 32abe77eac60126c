package updater

import "errors"

// errSigned is why a file of SOPS is not changed. Source: the section "Message
// Authentication Code" of https://getsops.io/docs/.
var errSigned = errors.New("SOPS signs all values of the file, also those that it does not encrypt, and would refuse to decrypt it: " +
	"change the value with sops, move it to another file, or set mac_only_encrypted")

// signed says whether SOPS signs the values of a file, encrypted or not. Its
// signature stands beside them, unless they are asked to be left out.
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
