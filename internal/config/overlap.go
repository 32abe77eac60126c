package config

import "slices"

// overlaps refuses two environments that would write the same scalar: on one
// branch, with a file in common, for components that can be the same image.
func (l *loader) overlaps() {
	for j := range l.config.Environments {
		for i := range j {
			if !l.compare(l.config.Environments[j].Position, 1) {
				return
			}
			if l.bothWrite(i, j) {
				l.overlap(i, j)
			}
		}
	}
}

// bothWrite says whether both environments are on one branch and write at all.
func (l *loader) bothWrite(i, j int) bool {
	a, b := &l.config.Environments[i], &l.config.Environments[j]
	return a.match != nil && b.match != nil && a.Branch == b.Branch && l.writesAnything(a) && l.writesAnything(b)
}

// writesAnything is false for an environment that is only observed.
func (l *loader) writesAnything(e *Environment) bool {
	if e.Propose != ProposeNever {
		return true
	}
	return slices.ContainsFunc(l.config.layers, func(layer layer) bool {
		over := layer.overrides[e.Name]
		return over != nil && over.Propose.set() && over.Propose.Value != string(ProposeNever)
	})
}

// sameScalars says whether some image is followed in both environments.
func (l *loader) sameScalars(i, j int) bool {
	a, b := l.followedIn(i), l.followedIn(j)
	if !l.compare(l.config.Environments[j].Position, len(l.config.Components)+comparePatterns*len(a)*len(b)) {
		return false
	}
	if slices.ContainsFunc(a, func(component int) bool { return slices.Contains(b, component) }) {
		return true
	}
	for _, x := range a {
		for _, y := range b {
			if l.config.Components[x].Pattern.Intersects(l.config.Components[y].Pattern) {
				return true
			}
		}
	}
	return false
}

// followedIn returns the components that an environment uses.
func (l *loader) followedIn(environment int) []int {
	var out []int
	for i, component := range l.config.Components {
		only := component.Only
		if only == nil || len(only.Environments) == 0 || slices.Contains(only.Environments, l.config.Environments[environment].Name) {
			out = append(out, i)
		}
	}
	return out
}

// overlap reports the first pair of paths with a file in common, when there is an
// image that both would write there.
func (l *loader) overlap(i, j int) {
	a, b := l.config.Environments[i], l.config.Environments[j]
	for _, p := range a.match.globs() {
		for n, q := range b.match.globs() {
			if !l.compare(b.Position, 1+len(a.match.excludes)+len(b.match.excludes)) {
				return
			}
			if !p.meets(&q.pathGlob) || p.leftTo(q) || q.leftTo(p) || excluded(a.match, p, q) || excluded(b.match, p, q) {
				continue
			}
			if !l.sameScalars(i, j) {
				return
			}
			where := b.Position
			if paths := l.raw.Environments.Entries[j].Value.Paths.Value; n < len(paths) {
				where = paths[n].Position
			}
			l.failf(where, "narrow paths, add exclude, or use another branch",
				"%s and %s would write the same files: %s and %s", a.Name, b.Name, p.text, q.text)
			return
		}
	}
}

// globs returns the paths; the whole tree is **.
func (m *matcher) globs() []matchPath {
	if len(m.paths) > 0 {
		return m.paths
	}
	all := pathGlob{text: "the whole tree", segments: []segmentGlob{{any: true}}}
	return []matchPath{{pathGlob: all, defaults: m.defaults}}
}

// leftTo says whether q stands in a folder that p leaves alone by default.
func (p *matchPath) leftTo(q matchPath) bool {
	return slices.Contains(p.defaults, q.segments[0].literal)
}

// excluded says whether an exclude of the matcher takes one of the paths away as
// a whole.
func excluded(m *matcher, p, q matchPath) bool {
	return slices.ContainsFunc(m.excludes, func(x pathGlob) bool { return x.covers(&p.pathGlob) || x.covers(&q.pathGlob) })
}
