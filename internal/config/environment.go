package config

import (
	"errors"
	"slices"
	"strings"
)

// environments reads what an environment is for all applications; settings reads
// the rest.
func (l *loader) environments() {
	for _, e := range l.raw.Environments.Entries {
		environment := Environment{Position: e.Key.Position, Name: e.Key.Value}
		if !e.Value.bad {
			l.environment(&environment, e.Value)
		}
		l.config.Environments = append(l.config.Environments, environment)
	}
	l.captureEverywhere()
}

func (l *loader) environment(environment *Environment, raw *rawEnvironment) {
	environment.Title = raw.Title.Value
	environment.Branch = l.branch(raw.Branch)
	environment.Paths = texts(raw.Paths)
	environment.Exclude = texts(raw.Exclude)
	environment.Labels = l.labels(raw.Labels)
	environment.match = newMatcher(l.paths(raw), l.excludes(raw.Exclude))
	l.nothingLeft(environment, raw)
}

// nothingLeft refuses excludes that take all paths away.
func (l *loader) nothingLeft(environment *Environment, raw *rawEnvironment) {
	excludes := environment.match.excludes
	for _, path := range environment.match.globs() {
		covered := slices.ContainsFunc(excludes, func(x pathGlob) bool { return x.covers(&path.pathGlob) })
		if !covered || !l.compare(raw.Exclude.Position, len(excludes)) {
			return
		}
	}
	l.failf(raw.Exclude.Position, "narrow exclude", "exclude takes away all files of %s", environment.Name)
}

// branch checks the name by the rules that matter for a branch of a forge.
// https://git-scm.com/docs/git-check-ref-format
func (l *loader) branch(branch at[string]) string {
	if branch.ok() && !validBranch(branch.Value) {
		l.failf(branch.Position, "write the name without refs/heads/", "%q cannot be a branch", branch.Value)
	}
	return branch.Value
}

func validBranch(s string) bool {
	if s == "" || s == "@" || len(s) > 200 || strings.HasPrefix(s, "-") || strings.HasPrefix(s, "refs/") {
		return false
	}
	if strings.ContainsAny(s, " ~^:?*[\\\x7f") || strings.Contains(s, "..") || strings.Contains(s, "@{") {
		return false
	}
	for segment := range strings.SplitSeq(s, "/") {
		if segment == "" || segment[0] == '.' || strings.HasSuffix(segment, ".") || strings.HasSuffix(segment, ".lock") {
			return false
		}
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' })
}

func (l *loader) paths(raw *rawEnvironment) []pathGlob {
	if raw.Paths.ok() && len(raw.Paths.Value) == 0 {
		l.failf(raw.Paths.Position, "leave paths out for the whole tree", "paths is an empty list, which matches nothing")
	}
	var globs []pathGlob
	for _, path := range raw.Paths.Value {
		if glob, ok := l.glob(path); ok {
			globs = append(globs, glob)
		}
	}
	return globs
}

func (l *loader) excludes(excludes list) []pathGlob {
	var globs []pathGlob
	for _, exclude := range excludes.Value {
		glob, ok := l.glob(exclude)
		if ok && glob.captures {
			l.failf(exclude.Position, "write * for it", "an exclude captures no {application}")
			continue
		}
		if ok {
			globs = append(globs, glob)
		}
	}
	return globs
}

func (l *loader) glob(text at[string]) (pathGlob, bool) {
	if !text.ok() {
		return pathGlob{}, false
	}
	glob, err := compileGlob(text.Value)
	if err != nil {
		l.failf(text.Position, globHint(err), "%q: %v", text.Value, err)
		return pathGlob{}, false
	}
	return glob, true
}

// globHint says what to do about an error of compileGlob.
func globHint(err error) string {
	for known, hint := range globHints {
		if errors.Is(err, known) {
			return hint
		}
	}
	return ""
}

// captureEverywhere makes sure that all paths of all environments name the
// application, or none does: otherwise an application of one environment would
// never be found in another.
func (l *loader) captureEverywhere() {
	captures := false
	for i := range l.config.Environments {
		if match := l.config.Environments[i].match; match != nil {
			captures = captures || match.captures()
		}
	}
	l.config.captures = captures
	if !captures {
		return
	}
	for i, e := range l.raw.Environments.Entries {
		if match := l.config.Environments[i].match; match != nil {
			l.captureHere(e)
		}
	}
}

const captureHint = "write {application} into every path of every environment, or into none"

func (l *loader) captureHere(e entry[*rawEnvironment]) {
	if !e.Value.Paths.set() {
		l.failf(e.Key.Position, captureHint, "other environments capture {application} from their paths, but %s has no paths", e.Key.Value)
		return
	}
	for _, path := range e.Value.Paths.Value {
		if path.ok() && !strings.Contains(path.Value, placeholderApplication) {
			l.failf(path.Position, captureHint, "other paths capture {application}, but this one does not")
		}
	}
}

func (m *matcher) captures() bool {
	for i := range m.paths {
		if m.paths[i].captures {
			return true
		}
	}
	return false
}

// maxLabel bounds a label's key and its value, in bytes.
const maxLabel = 250

func (l *loader) labels(raw named[at[string]]) map[string]string {
	if len(raw.Entries) == 0 {
		return nil
	}
	labels := make(map[string]string, len(raw.Entries))
	for _, e := range raw.Entries {
		if e.Key.Value == "" || len(e.Key.Value) > maxLabel || len(e.Value.Value) > maxLabel {
			l.failf(e.Key.Position, "shorten it", "a label has a name and at most %d bytes", maxLabel)
		}
		labels[e.Key.Value] = e.Value.Value
	}
	return labels
}
