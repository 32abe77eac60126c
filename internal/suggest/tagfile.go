package suggest

import (
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/edit"
)

// shapeTagFile is the tag in a file that names no image.
const shapeTagFile edit.Shape = "tag-file"

// minTagFiles is how many files make it certain that they hold the tags of applications.
const minTagFiles = 2

// tagFiles returns the tags in files that hold nothing else, all under the most common
// key, sorted by position.
func tagFiles(references []edit.Reference) []edit.Reference {
	keys := map[string]int{}
	excluded := defaultExcludes()
	var tags []edit.Reference
	for _, r := range references {
		if _, aside := isAside(r.Position.File); r.Shape == shapeTagFile && !aside && !excluded(r.Position.File) {
			keys[r.Key]++
			tags = append(tags, r)
		}
	}
	if len(tags) < minTagFiles {
		return nil
	}
	key := mostCommon(keys)
	tags = slices.DeleteFunc(tags, func(r edit.Reference) bool { return r.Key != key })
	slices.SortFunc(tags, func(a, b edit.Reference) int { return a.Position.Compare(b.Position) })
	return tags
}

func tagsOf(references []edit.Reference) (tags []string) {
	for _, r := range references {
		tags = append(tags, r.Tag)
	}
	return tags
}

// onlyTags ends an error about a tree without images.
func onlyTags(tags []edit.Reference) string {
	if len(tags) == 0 {
		return ""
	}
	return "; " + count(len(tags), "file holds", "files hold") + " only a tag: name the image with write, see docs/configuration.md#write"
}

// writesOf returns the file of the entry of write for the tags of each environment, with
// {application} in place of what its paths capture.
func writesOf(c *config.Config, tags []edit.Reference) map[string]string {
	forms := map[string]map[string]int{} // by environment
	for _, tag := range tags {
		for i := range c.Environments {
			e := &c.Environments[i]
			captured, ok := e.Capture(tag.Position.File)
			if !ok || captured == "" {
				continue
			}
			// The last occurrence is the likeliest: the name of a folder above is shorter.
			at := strings.LastIndex(tag.Position.File, captured)
			if forms[e.Name] == nil {
				forms[e.Name] = map[string]int{}
			}
			forms[e.Name][tag.Position.File[:at]+placeholder+tag.Position.File[at+len(captured):]]++
		}
	}
	writes := map[string]string{}
	for name, counts := range forms {
		writes[name] = mostCommon(counts)
	}
	return writes
}

// tagComponent is the name of the component of the tag files.
func (d *draft) tagComponent() string {
	name := "app"
	for slices.ContainsFunc(d.Components, func(c Component) bool { return c.Name == name }) {
		name += "-image"
	}
	return name
}

func (d *draft) tagFilesText() string {
	return count(len(d.tags), "file holds", "files hold") + " only a tag, under " + d.tags[0].Key + ", and no image."
}
