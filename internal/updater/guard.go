package updater

import (
	"bytes"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"promoter/internal/edit"
)

// largestSearched is the size in bytes up to which a file over the limit is
// still searched for followed names.
const largestSearched = 32 << 20

// read returns the content of a file that must be parsed, or the reason why the
// file is left unchanged. It returns neither if the file cannot contain a
// reference.
func (u *Updater) read(file File) (content []byte, refusal *edit.Refusal) {
	if file.Mode == Submodule {
		return nil, refuseFile(file, "a submodule: promoter does not look into other repositories; exclude the path")
	}
	kind := u.kinds.of(file.Path)
	if kind == kindOther && len(u.writes(file.Path)) == 0 {
		return nil, nil
	}
	if file.Size > largestSearched {
		return nil, u.refuseUnread(file, kind, u.tooLarge())
	}
	if file.Read == nil {
		return nil, u.refuseUnread(file, kind, "a "+string(file.Mode)+" that leads to nothing readable")
	}
	content, err := file.Read()
	if err != nil {
		return nil, u.refuseUnread(file, kind, "cannot be read: "+err.Error())
	}
	return u.guard(file, kind, content)
}

// guard checks content before it is parsed.
func (u *Updater) guard(file File, kind fileKind, content []byte) ([]byte, *edit.Refusal) {
	if decoded, wide := decodeUTF16(content); wide {
		if !u.may.pass(decoded) {
			return nil, nil
		}
		return nil, refuseFile(file, "not UTF-8 but UTF-16: convert it")
	}
	if isPointer(content) {
		return nil, u.refuseUnread(file, kind, "a pointer of Git LFS: the content is not in the repository")
	}
	over := int64(len(content)) > u.options.MaxFileSize
	cut := over && int64(len(content)) == u.options.MaxFileSize+1 && file.Size != int64(len(content))
	may := u.may.pass(content) || len(u.writes(file.Path)) > 0
	switch {
	case cut, may && over && u.mayHold(file.Path, content):
		return nil, u.refuseUnread(file, kind, u.tooLarge())
	case !may || over:
		return nil, nil
	case file.Mode == Symlink:
		return nil, refuseFile(file, "a symbolic link: change the file that it leads to")
	}
	return u.guardText(file, kind, content)
}

// guardText checks for content that must not reach a parser.
func (u *Updater) guardText(file File, kind fileKind, content []byte) ([]byte, *edit.Refusal) {
	if line := conflictLine(content); line > 0 {
		refusal := refuseFile(file, "conflict markers: the merge was not finished")
		refusal.Line = line
		return nil, refusal
	}
	if bytes.IndexByte(content, 0) >= 0 || !utf8.Valid(content) {
		return nil, u.refuseUnread(file, kind, "not UTF-8 text")
	}
	return content, nil
}

func (u *Updater) tooLarge() string {
	return fmt.Sprintf("over the limit of %d bytes for one file: exclude the path or raise the limit", u.options.MaxFileSize)
}

// refuseUnread refuses a file whose content was not read if its name indicates
// manifests.
func (u *Updater) refuseUnread(file File, kind fileKind, reason string) *edit.Refusal {
	if kind != kindManifest && kind != kindTemplate {
		return nil
	}
	return refuseFile(file, reason)
}

// refuseFile refuses a whole file. It reports the first line so that editors
// can open it there.
func refuseFile(file File, reason string) *edit.Refusal {
	return &edit.Refusal{File: file.Path, Line: 1, Reason: reason}
}

// writes returns the configured locations in a file.
func (u *Updater) writes(file string) []Write {
	if u.options.Writes == nil {
		return nil
	}
	return u.options.Writes(file)
}

// isPointer reports whether the content is a Git LFS pointer. The LFS
// specification requires this first line and a size below 1,024 bytes.
func isPointer(content []byte) bool {
	return len(content) < 1024 && bytes.HasPrefix(content, []byte("version https://git-lfs.github.com/spec/"))
}

// conflictLine returns the line of the first Git conflict marker, or 0.
func conflictLine(content []byte) int {
	start := markerAt(content, "<<<<<<< ")
	if start < 0 || markerAt(content[start:], "=======") < 0 || markerAt(content[start:], ">>>>>>> ") < 0 {
		return 0
	}
	return 1 + bytes.Count(content[:start], []byte{'\n'})
}

// markerAt returns the offset of a line that starts with the marker, or -1.
func markerAt(content []byte, marker string) int {
	if bytes.HasPrefix(content, []byte(marker)) {
		return 0
	}
	if at := bytes.Index(content, []byte("\n"+marker)); at >= 0 {
		return at + 1
	}
	return -1
}

// decodeUTF16 decodes text that starts with a UTF-16 byte order mark or has a
// zero in one of its first two bytes, which is how YAML 1.2 detects encodings.
func decodeUTF16(content []byte) (text []byte, wide bool) {
	if len(content) < 2 {
		return nil, false
	}
	big := content[0] == 0xFE && content[1] == 0xFF || content[0] == 0 && content[1] != 0
	little := content[0] == 0xFF && content[1] == 0xFE || content[0] != 0 && content[1] == 0
	if !big && !little {
		return nil, false
	}
	units := make([]uint16, len(content)/2)
	for i := range units {
		units[i] = uint16(content[2*i]) | uint16(content[2*i+1])<<8
		if big {
			units[i] = units[i]<<8 | units[i]>>8
		}
	}
	return []byte(string(utf16.Decode(units))), true
}
