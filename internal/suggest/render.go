package suggest

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"promoter/internal/config/setting"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/printable"
)

// draft is the text of a suggestion.
type draft struct {
	*Suggestion
	layout     *layout
	found      Found
	references []edit.Reference
	tags       []edit.Reference  // in files that hold only a tag
	writes     map[string]string // the file of an entry of write, by environment
	text       strings.Builder
}

func (d *draft) render() string {
	d.text.Reset()
	d.header()
	d.line("version: 1")

	d.line("")
	d.componentSection()

	d.line("")
	about := "Settings per application."
	switch {
	case d.layout.services != "":
		about = "Settings per application, by name or glob; each component is one, and components lists those that are promoted together."
	case d.layout.captures:
		about = "Settings per application, by name or glob; {application} in the paths below is its name."
	}
	d.comment("",
		about+" settle waits until no image of the application got a newer version for that long, so that images built "+
			"together are promoted together.")
	d.line("#applications: {'*': {settle: 2m}}")

	d.line("")
	d.comment("", "Where versions go. Environments without after get them from the registries, the others from the environments in after.")
	d.line("environments:")
	for i := range d.Environments {
		d.environment(&d.Environments[i])
	}

	d.line("")
	d.comment("", "Time windows for gates. Deny overrides allow.")
	d.line("#windows: {office: {kind: allow, schedule: '0 9 * * 1-4', duration: 7h, timeZone: Europe/Berlin}}")
	return d.text.String()
}

func (d *draft) line(format string, args ...any) { fmt.Fprintf(&d.text, format+"\n", args...) }

// comment writes prose. A setting that is off begins with # and no space instead,
// so that removing the # turns it on.
func (d *draft) comment(indent, text string) {
	for _, line := range printable.Wrap(text, 96-len(indent)) {
		d.line("%s# %s", indent, line)
	}
}

func (d *draft) header() {
	d.line("%s", d.found.SchemaLine())
	author, last := cmp.Or(d.found.Author, "promoter init"), "Commit it"
	if d.found.ForPullRequest {
		author, last = "promoter", "Merge its pull request"
	}
	repositories, with := map[string]bool{}, map[string]bool{}
	for _, r := range d.references {
		repositories[r.Repository.String()] = true
		with[r.Position.File] = true
	}
	d.comment("", "Which versions of images go where, and when. Written by "+author+" from the files of this repository.")
	d.line("#")
	references := count(len(d.references), "image reference", "image references")
	of := count(len(repositories), "repository", "repositories")
	d.comment("", fmt.Sprintf("Scanned %s: %s in %s, of %s.", fileCount(len(d.found.Files)), references, fileCount(len(with)), of))
	if len(d.found.Notes) > 0 {
		d.line("#")
		d.comment("", "Not here, or narrower than before:")
		for _, note := range d.found.Notes {
			d.comment("", "- "+printable.Line(note))
		}
	}
	d.guessList()
	d.line("#")
	d.comment("", "Next steps:")
	d.comment("", "1. Read the file and correct it.")
	d.comment("", "2. promoter validate checks it; promoter plan shows what it would change now, and why, and writes nothing.")
	d.comment("", "3. "+last+": it is read from the default branch.")
	d.line("#")
	d.comment("", "A line that begins with # and no space is a setting that is off: remove the # to turn it on. A value "+
		"after \"or:\" is an alternative.")
}

// guessList lists the guesses that are about no single component: those have their
// reasons there.
func (d *draft) guessList() {
	shown := slices.DeleteFunc(slices.Clone(d.Guesses), func(g Guess) bool { return len(g.About) > 0 })
	if len(shown) == 0 {
		return
	}
	d.line("#")
	d.comment("", "Guesses to check, the worst first; those about a component are beside it:")
	for _, g := range shown {
		text, _, advice := g.Lines()
		d.comment("", "- "+text+"\n-> "+advice+".")
	}
}

func (d *draft) componentSection() {
	d.comment("", "What is followed, and which of its tags are versions.")
	if slices.ContainsFunc(d.Components, func(c Component) bool { return strings.Contains(c.Select.Semver, " <") }) {
		d.comment("", "A semver range begins at the lowest version in the files and ends before the next major version, "+
			"which is your decision.")
	}
	d.line("components:")
	for i := range d.Components {
		c := &d.Components[i]
		if c.Off != "" {
			continue
		}
		d.line("  %s:", quote(c.Name))
		d.line("    %s", c.repositoryKey())
		d.comment("    ", join("In the files: "+c.Current+".", c.Reason))
		d.line("    select: %s", c.Selected())
		switch {
		case c.Pin != "":
			d.line("    pin: %s", c.Pin)
		case c.TagOnly:
			d.line("    #pin: tag+digest")
		}
	}
	for i := range d.Components {
		if c := &d.Components[i]; c.Off != "" {
			d.comment("  ", join(c.Off, c.Reason))
			d.line("  #%s: {%s, %s}", quote(c.Name), c.repositoryKey(), c.selectAndPin())
		}
	}
	d.patterns()
	if len(d.writes) > 0 {
		d.comment("  ", d.tagFilesText()+" Name the image, then remove the # here and before each write.")
		g := guessSelection(validTags(tagsOf(d.tags)), nil, false)
		c := Component{Select: g.Selection}
		d.line("  #%s: {image: 'registry.example.com/team/{application}', %s}", d.tagComponent(), c.selectAndPin())
	}
}

// tagOnly counts the components whose references have no digest and would not get
// one.
func (d *draft) tagOnly() (n int) {
	for _, c := range d.Components {
		if c.Off == "" && c.TagOnly && c.Pin == "" {
			n++
		}
	}
	return n
}

// minPattern is how many components make a pattern worthwhile.
const minPattern = 4

// patterns shows how one component could follow many repositories.
func (d *draft) patterns() {
	groups, names := map[string][]*Component{}, map[string]bool{}
	for i := range d.Components {
		c := &d.Components[i]
		names[c.Name] = true
		if parent := path.Dir(c.Repository.String()); c.Off == "" && c.Artifact == image.ArtifactImage && strings.Contains(parent, "/") {
			groups[parent] = append(groups[parent], c)
		}
	}
	for _, parent := range sortedKeys(groups) {
		group, name := groups[parent], "all-"+slug(path.Base(parent))
		differs := slices.ContainsFunc(group, func(c *Component) bool { return c.selectAndPin() != group[0].selectAndPin() })
		if len(group) < minPattern || differs || names[name] || len(name) > maxNameLength {
			continue
		}
		names[name] = true
		d.comment("  ", fmt.Sprintf("One component can follow all that match: the %d of %s have the same selection, and "+
			"new ones would be found too.", len(group), parent))
		d.line("  #%s: {image: %s, %s}", quote(name), single(parent+"/*"), group[0].selectAndPin())
	}
}

// maxParents is how many parents an alternative lists, and how many children.
const maxParents = 3

func (d *draft) environment(e *Environment) {
	isProd, children := e.rank >= rankProd, d.childrenOf(e)
	d.line("  %s:", quote(e.Name))
	references, in := 0, map[string]bool{}
	for _, r := range d.references {
		if name, ok := d.layout.environmentOf(r.Position.File); ok && name == e.Name {
			references++
			in[r.Position.File] = true
		}
	}
	if references > 0 {
		d.comment("    ", fmt.Sprintf("%s in %s.", count(references, "reference", "references"), fileCount(len(in))))
	}
	d.globs("paths", e.Paths)
	d.globs("exclude", e.Exclude)
	if d.layout.services != "" {
		d.line("    applications: {by: component}")
	}
	if len(e.After) > 0 {
		soak := "1h"
		if isProd {
			soak = "24h"
		}
		conditions := make([]string, 0, len(e.After))
		for _, parent := range e.After {
			conditions = append(conditions, quote(parent)+": {soak: "+soak+"}")
		}
		if len(conditions) > maxParents {
			d.line("    # Each parent may have conditions: {%s}", conditions[0])
			d.line("    after: %s", quoteList(e.After))
		} else {
			d.line("    after: %s # or: {%s}", quoteList(e.After), strings.Join(conditions, ", "))
		}
	}
	manual := d.isManual(e) || e.start.Manual
	if manual {
		d.line("    propose: manual # or: automatic")
	}
	if len(children) > 0 && !manual {
		d.line("    #newer: drain # with a soak in %s: otherwise each newer version restarts it", strings.Join(children, ", "))
	}
	if len(e.After) == 0 && !isProd && !e.start.Limited {
		d.line("    land: pr # or: push")
	} else {
		d.line("    land: pr # or: automerge")
		if (d.layout.captures || d.layout.services != "") && !e.start.Limited {
			d.line("    #pullRequest: {group: environment} # one pull request for all applications")
		}
	}
	if e.start.Limited {
		d.line("    pullRequest: {limit: %d} # or: {limit: %d}", firstLimit, setting.DefaultLimit)
	}
	if file := d.writes[e.Name]; file != "" {
		d.line("    #write: [{file: %s, path: %s, component: %s}]", single(file), d.tags[0].Key, d.tagComponent())
	}
	if isProd {
		d.line("    #gates: {windows: [office], approvals: {count: 1}}")
	}
}

// isManual reports whether a user decides about every promotion to the environment: a
// change of land alone must not let one run carry a version from the registry to the last
// environment.
func (d *draft) isManual(e *Environment) bool {
	return len(e.After) > 0 && (e.rank >= rankProd || len(d.childrenOf(e)) == 0)
}

// childrenOf returns up to maxParents environments that get their versions from one.
func (d *draft) childrenOf(e *Environment) (names []string) {
	for _, other := range d.Environments {
		if slices.Contains(other.After, e.Name) && len(names) < maxParents {
			names = append(names, other.Name)
		}
	}
	return names
}

// globs writes a list of globs: one in brackets, several on a line each.
func (d *draft) globs(key string, globs []string) {
	switch len(globs) {
	case 0:
	case 1:
		d.line("    %s: [%s]", key, single(globs[0]))
	default:
		d.line("    %s:", key)
		for _, g := range globs {
			d.line("      - %s", single(g))
		}
	}
}

// count returns a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func fileCount(n int) string { return count(n, "file", "files") }

// plainText is text that every YAML parser reads as text, in every position.
var plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]*([:/][A-Za-z0-9._/-]*[A-Za-z0-9])?$`)

// quote returns a text as a YAML scalar: plain if it cannot be read as anything
// else, otherwise in single quotes.
func quote(s string) string {
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return single(s)
	}
	if plainText.MatchString(s) {
		return s
	}
	return single(s)
}

// single returns a text in single quotes, in which only these are special.
func single(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// quoteList returns a flow list.
func quoteList(texts []string) string {
	quoted := make([]string, 0, len(texts))
	for _, text := range texts {
		quoted = append(quoted, quote(text))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// repositoryKey returns the key and value of the repository, in its short form if
// that is the same repository.
func (c *Component) repositoryKey() string {
	if c.Artifact != image.ArtifactImage {
		return string(c.Artifact) + ": " + quote("oci://"+c.Repository.String())
	}
	name := c.Repository.String()
	if same, err := image.ParseRepository(c.Repository.Familiar()); err == nil && same == c.Repository {
		name = c.Repository.Familiar()
	}
	return "image: " + quote(name)
}

// selectAndPin returns the keys select and pin within a flow mapping.
func (c *Component) selectAndPin() string {
	text := "select: " + c.Selected()
	if c.Pin != "" {
		text += ", pin: " + string(c.Pin)
	}
	return text
}

// Selected returns the value of select as a flow mapping.
func (c *Component) Selected() string { return formatSelection(c.Select) }

func formatSelection(s image.Selection) string {
	var key, value string
	switch {
	case s.Semver != "":
		key, value = "semver", single(s.Semver)
	case s.Tag != "":
		key, value = "tag", quote(s.Tag)
	case s.Newest != "":
		key, value = "newest", single(s.Newest)
	case s.Numeric != "":
		key, value = "numeric", single(s.Numeric)
	default:
		key, value = "alphabetical", single(s.Alphabetical)
	}
	text := "{" + key + ": " + value
	if s.Filter != "" {
		text += ", filter: " + single(s.Filter)
	}
	if len(s.Exclude) > 0 {
		excluded := make([]string, 0, len(s.Exclude))
		for _, expression := range s.Exclude {
			excluded = append(excluded, single(expression))
		}
		text += ", exclude: [" + strings.Join(excluded, ", ") + "]"
	}
	return text + "}"
}
