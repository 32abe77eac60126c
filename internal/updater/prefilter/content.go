package prefilter

import (
	"bytes"
	"unicode/utf16"
)

// IsPointer reports whether the content is a Git LFS pointer. The LFS
// specification requires this first line and a size below 1,024 bytes.
func IsPointer(content []byte) bool {
	return len(content) < 1024 && bytes.HasPrefix(content, []byte("version https://git-lfs.github.com/spec/"))
}

// ConflictLine returns the line of the first Git conflict marker, or 0.
func ConflictLine(content []byte) int {
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

// DecodeUTF16 decodes text that starts with a UTF-16 byte order mark or has a
// zero in one of its first two bytes, which is how YAML 1.2 detects encodings.
func DecodeUTF16(content []byte) (text []byte, found bool) {
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
