package suggest

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"promoter/internal/edit"
)

// draft writes the text of one suggestion.
type draft struct {
	*Suggestion
	layout     *layout
	found      Found
	references []edit.Reference
	text       strings.Builder
}

// line writes one line.
func (d *draft) line(format string, args ...any) { fmt.Fprintf(&d.text, format+"\n", args...) }

// comment writes prose. A setting that is turned off begins with # and no space
// instead, so that taking the # away turns it on.
func (d *draft) comment(indent, text string) {
	for _, line := range wrap(text, 96-len(indent)) {
		d.line("%s# %s", indent, line)
	}
}

// wrap breaks a text into lines of a width in bytes, at spaces; line breaks stay.
func wrap(text string, width int) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(text, "\n") {
		line := ""
		for _, w := range strings.Fields(paragraph) {
			if line != "" && len(line)+1+len(w) > width {
				lines, line = append(lines, line), w
				continue
			}
			line = strings.TrimPrefix(line+" "+w, " ")
		}
		lines = append(lines, line)
	}
	return lines
}

func (d *draft) render() string {
	d.header()
	d.line("version: 1")
	d.componentSection()
	d.applicationSection()
	d.environmentSection()
	d.windowSection()
	return d.text.String()
}

func (d *draft) header() {
	d.comment("", "Which versions of images go where, and when. Written by "+d.writer()+" from what stands in this repository: each guess has its reason beside it.")
	d.line("#")
	repositories := map[string]bool{}
	with := map[string]bool{}
	for _, r := range d.references {
		repositories[r.Repository.String()] = true
		with[r.Position.File] = true
	}
	d.comment("", fmt.Sprintf("Looked at %s: %s in %s, of %s.", files(len(d.found.Files)),
		count(len(d.references), "image reference", "image references"), files(len(with)),
		count(len(repositories), "repository", "repositories")))
	d.line("#")
	d.comment("", "What to do next:\n1. Read it through and change what is wrong.\n2. promoter validate checks it; promoter plan shows what it would change now, and why, and writes nothing.\n3. "+d.last()+": it is read from the default branch.")
	d.line("#")
	d.comment("", "A line that begins with # and no space is a setting that is off: take the # away to turn it on. What stands behind \"or:\" can stand in its place.")
}

// writer is who a reader has to thank for the file.
func (d *draft) writer() string {
	if d.found.Offered {
		return "promoter"
	}
	return "promoter init"
}

// last is what lets the file count.
func (d *draft) last() string {
	if d.found.Offered {
		return "Merge its pull request"
	}
	return "Commit it"
}

func (d *draft) componentSection() {
	d.line("")
	d.comment("", "What is followed, and which of its tags are versions.")
	if slices.ContainsFunc(d.Components, func(c Component) bool { return strings.Contains(c.Select.Semver, " <") }) {
		d.comment("", "A semver range begins at the lowest version in the files and ends before the next major version, which is your decision.")
	}
	if tagsOnly(d.Components) > 0 {
		d.comment("", "Where the files hold a tag only: a tag can be moved to another image later, and then two environments with one tag run two images. With pin: tag+digest each runs exactly the image that was tried before.")
	}
	d.line("components:")
	for i := range d.Components {
		if c := &d.Components[i]; c.Active {
			d.component(c)
		}
	}
	for i := range d.Components {
		if c := &d.Components[i]; !c.Active {
			d.comment("  ", c.Because)
			d.line("  #%s: {%s, select: %s%s}", quote(c.Name), c.repositoryKey(), selection(c.Select), c.pin(", "))
		}
	}
	d.patterns()
}

func (d *draft) component(c *Component) {
	d.line("  %s:", quote(c.Name))
	d.line("    %s", c.repositoryKey())
	d.comment("    ", join("In the files: "+c.Present+".", c.Because))
	d.line("    select: %s", selection(c.Select))
	switch {
	case c.Pin != "":
		d.line("    %s", c.pin(""))
	case c.TagOnly:
		d.line("    #pin: tag+digest")
	}
}

// pin writes the key; nothing where the style of the file is kept.
func (c *Component) pin(before string) string {
	if c.Pin == "" {
		return ""
	}
	return before + "pin: " + string(c.Pin)
}

// tagsOnly counts the components whose files hold no digest, and that would keep
// it so.
func tagsOnly(components []Component) (n int) {
	for _, c := range components {
		if c.Active && c.TagOnly && c.Pin == "" {
			n++
		}
	}
	return n
}

func (d *draft) applicationSection() {
	d.line("")
	if !d.layout.captures {
		d.comment("", "Settings per application. settle waits until no image of it got a newer version for that long, so that images built together travel together.")
	} else {
		d.comment("", "Settings per application, by name or glob; {application} in the paths below names it. settle waits until no image of it got a newer version for that long, so that images built together travel together.")
	}
	d.line("#applications: {'*': {settle: 2m}}")
}

func (d *draft) windowSection() {
	d.line("")
	d.comment("", "Times that gates ask for. Deny beats allow.")
	d.line("#windows: {office: {kind: allow, schedule: '0 9 * * 1-4', duration: 7h, timeZone: Europe/Berlin}}")
}

// patterns shows how one component could follow many repositories.
func (d *draft) patterns() {
	groups := map[string][]*Component{}
	for i := range d.Components {
		c := &d.Components[i]
		if parent := path.Dir(c.Repository.String()); c.Active && c.Artifact == "image" && strings.Contains(parent, "/") {
			groups[parent] = append(groups[parent], c)
		}
	}
	taken := map[string]bool{}
	for _, c := range d.Components {
		taken[c.Name] = true
	}
	for _, parent := range sortedKeys(groups) {
		name := "all-" + slug(path.Base(parent))
		if !taken[name] && len(name) <= maxNameLength && sameSelection(groups[parent]) {
			taken[name] = true
			d.comment("  ", fmt.Sprintf("One component can follow all that match: the %d of %s are selected alike, and new ones would be found too.", len(groups[parent]), parent))
			d.line("  #%s: {image: %s, select: %s%s}", quote(name), single(parent+"/*"),
				selection(groups[parent][0].Select), groups[parent][0].pin(", "))
		}
	}
}

// manyAlike is how many components are worth a pattern.
const manyAlike = 4

func sameSelection(group []*Component) bool {
	for _, c := range group {
		if selection(c.Select) != selection(group[0].Select) || c.Pin != group[0].Pin {
			return false
		}
	}
	return len(group) >= manyAlike
}

// count says how many there are of a thing.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func files(n int) string { return count(n, "file", "files") }
