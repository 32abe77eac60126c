package config

import (
	"slices"

	"promoter/internal/image"
	"promoter/internal/strictyaml"
)

// mirror is where an environment has the repositories below a prefix.
type mirror struct {
	Position
	followed, written image.Prefix
}

// MirrorOf returns the repository that the files of the environment name instead of one that
// a component follows. Of several mirrors, that of the longest prefix counts.
func (e *Environment) MirrorOf(followed image.Repository) (image.Repository, bool) {
	i := slices.IndexFunc(e.mirrors, func(m mirror) bool { return m.followed.Contains(followed) })
	if i < 0 {
		return image.Repository{}, false
	}
	return e.mirrors[i].followed.Replace(followed, e.mirrors[i].written)
}

// MirroredBy returns the repositories whose mirror is the given one: more than one if several
// are mirrored below one prefix.
func (e *Environment) MirroredBy(written image.Repository) []image.Repository {
	var followed []image.Repository
	for _, m := range e.mirrors {
		r, below := m.written.Replace(written, m.followed)
		if !below || slices.Contains(followed, r) {
			continue
		}
		if of, found := e.MirrorOf(r); found && of == written { // not of another mirror
			followed = append(followed, r)
		}
	}
	return followed
}

// MirrorBases returns texts of which every reference to a mirror contains one that its
// component may not have.
func (c *Config) MirrorBases() []string {
	var bases []string
	for _, e := range c.Environments {
		for _, m := range e.mirrors {
			bases = append(bases, m.written.Base())
		}
	}
	return bases
}

// MirrorPatterns returns the patterns of the repositories that mirrors may have, so that a
// push to one is noticed.
func (c *Config) MirrorPatterns() []image.Pattern {
	var patterns []image.Pattern
	add := func(pattern image.Pattern) {
		if !slices.ContainsFunc(patterns, pattern.Equal) {
			patterns = append(patterns, pattern)
		}
	}
	for i := range c.Environments {
		e := &c.Environments[i]
		if len(e.mirrors) == 0 {
			continue
		}
		many := false
		for _, n := range componentsIn(c, e.Name) {
			repository, exact := c.Components[n].Pattern.Repository()
			if many = many || !exact; !exact {
				continue
			}
			if written, mirrored := e.MirrorOf(repository); mirrored {
				if pattern, err := image.ParsePattern(written.String()); err == nil {
					add(pattern)
				}
			}
		}
		for _, m := range e.mirrors {
			if many {
				for _, pattern := range m.written.Patterns() {
					add(pattern)
				}
			}
		}
	}
	return patterns
}

// loadMirrors reads mirrors. The longest prefixes are first.
func loadMirrors(report *strictyaml.Report, raw strictyaml.Map[strictyaml.Located[string]]) []mirror {
	var mirrors []mirror
	report.ErrorIf(raw.IsSet() && raw.Valid() && len(raw.Entries) == 0, raw.Position,
		"remove it, or write REPOSITORY: MIRROR", "mirrors is empty")
	for _, e := range raw.Entries {
		followed, ok := loadPrefix(report, e.Key)
		written, also := loadPrefix(report, e.Value)
		switch {
		case !ok || !also:
			continue
		case followed == written:
			report.Errorf(e.Value.Position, "write where the mirror is, or remove it", "%s is its own mirror", followed)
			continue
		case slices.ContainsFunc(mirrors, func(m mirror) bool { return m.followed == followed }):
			report.Errorf(e.Key.Position, "keep one", "%s has two mirrors", followed)
			continue
		}
		mirrors = append(mirrors, mirror{e.Key.Position, followed, written})
	}
	slices.SortStableFunc(mirrors, func(a, b mirror) int { return len(b.followed.String()) - len(a.followed.String()) })
	return mirrors
}

func loadPrefix(report *strictyaml.Report, text strictyaml.Located[string]) (image.Prefix, bool) {
	if !text.Valid() {
		return image.Prefix{}, false
	}
	prefix, err := image.ParsePrefix(text.Value)
	if err != nil {
		report.Errorf(text.Position,
			"write HOST, HOST/PATH, or HOST/PATH/NAME, without oci://, a tag, and *: a mirror is of all repositories below it",
			"%v", err)
	}
	return prefix, err == nil
}

// checkMirrors refuses two components that certainly have one repository in the files of an
// environment. What else two components have in common shows when a file names it. It warns
// about mirrors that no component uses.
func checkMirrors(in *input, c *Config) {
	for i := range c.Environments {
		e := &c.Environments[i]
		used := componentsIn(c, e.Name)
		if len(e.mirrors) == 0 || !in.compare(e.Position, len(used)*len(e.mirrors)) {
			continue
		}
		type use struct {
			component Component
			Position  // of its mirror, if it has one
		}
		written, needed := map[image.Repository]use{}, map[image.Prefix]bool{}
		for _, n := range used {
			component := use{component: c.Components[n], Position: e.Position}
			repository, exact := component.component.Pattern.Repository()
			here := repository
			for _, m := range slices.Backward(e.mirrors) { // the longest prefix last
				if replaced, below := m.followed.Replace(repository, m.written); below {
					here, component.Position = replaced, m.Position
				}
				needed[m.followed] = needed[m.followed] || !exact || m.followed.Contains(repository)
			}
			other, taken := written[here]
			if written[here] = component; !exact || !taken {
				continue
			}
			if of, _ := other.component.Pattern.Repository(); of != repository && other.component.Only.overlaps(component.component.Only) {
				at := strictyaml.Last(strictyaml.Origin{Position: other.Position}, strictyaml.Origin{Position: component.Position})
				in.report.Errorf(at, "give each a repository of its own", "%s and %s are both %s in %s",
					other.component.Name, component.component.Name, here.Familiar(), e.Name)
			}
		}
		for _, m := range e.mirrors {
			if !needed[m.followed] && len(used) > 0 {
				in.report.Warnf(m.Position, "correct it, or remove it", "no component of %s is below %s", e.Name, m.followed)
			}
		}
	}
}
