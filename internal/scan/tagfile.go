package scan

import (
	"path"
	"regexp"
	"strings"

	"promoter/internal/edit"
	"promoter/internal/image"
)

// ShapeTagFile is the shape of the tag in a file that holds only a tag. Such a reference
// has no repository.
const ShapeTagFile edit.Shape = "tag-file"

// maxTagFile is the largest file that is examined for it, in bytes.
const maxTagFile = 1024

var (
	flatLine = regexp.MustCompile(`^\s*"?([A-Za-z_][A-Za-z0-9_.-]*)"?\s*:\s*["']?([^\s"'#{}\[\],]*)["']?\s*,?\s*(?:#.*)?$`)
	noValue  = regexp.MustCompile(`^\s*(?:[{}]|---|#.*)?\s*$`)
)

// tagOf returns the tag in a file that holds only a tag: a YAML or JSON mapping of a few
// scalars, one of which has a key such as image_tag, and none of which names an image.
func tagOf(file string, content []byte) (edit.Reference, bool) {
	switch path.Ext(file) {
	case "", ".yaml", ".yml", ".json":
	default:
		return edit.Reference{}, false
	}
	if len(content) > maxTagFile {
		return edit.Reference{}, false
	}
	var found edit.Reference
	for i, line := range strings.Split(string(content), "\n") {
		if noValue.MatchString(line) {
			continue
		}
		match := flatLine.FindStringSubmatchIndex(line)
		if match == nil {
			return edit.Reference{}, false
		}
		key, value := line[match[2]:match[3]], line[match[4]:match[5]]
		switch strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(key)) {
		case "imagetag", "tag", "dockertag", "containertag", "apptag":
			if found.Tag != "" || !image.ValidTag(value) {
				return edit.Reference{}, false
			}
			found = edit.Reference{
				Shape: ShapeTagFile, Key: key, Tag: value,
				Position: edit.Position{File: file, Line: i + 1, Column: match[4] + 1},
			}
		case "image", "repository", "name", "imagename", "imagerepository":
			return edit.Reference{}, false
		}
	}
	return found, found.Tag != ""
}
