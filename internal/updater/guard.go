package updater

import "promoter/internal/edit"

// read returns the content of a file that must be parsed, or why it is left as
// it is. Neither: it cannot hold a reference.
func (u *Updater) read(file File) ([]byte, *edit.Refusal) {
	content, err := file.Read()
	if err != nil {
		return nil, &edit.Refusal{File: file.Path, Reason: "cannot be read: " + err.Error()}
	}
	if !u.may.pass(content) {
		return nil, nil
	}
	return content, nil
}
