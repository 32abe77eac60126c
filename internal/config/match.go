package config

import "strings"

// DefaultExcludes are left alone in every environment: they steer forges and
// pipelines, or hold other people's files. One does not hold for a path that
// names its folder itself, like .gitlab/agents/dev.
func DefaultExcludes() []string {
	return []string{
		".github/**", ".gitlab-ci.yml", ".gitlab/**", ".gitea/**", ".forgejo/**", "vendor/**", "node_modules/**",
	}
}

// matcher decides which files belong to an environment.
type matcher struct {
	paths    []matchPath // none: the whole tree
	excludes []pathGlob
	defaults []string // first segments that are excluded where paths is empty
}

// matchPath is one glob of an environment with the default excludes that hold
// below it, by first segment.
type matchPath struct {
	pathGlob
	prefix   string // literal text that every match begins with
	within   string // literal text that every match holds: a quick way to say no
	defaults []string
}

func newMatcher(paths, excludes []pathGlob) *matcher {
	m := &matcher{excludes: excludes, defaults: defaultFolders()}
	for _, glob := range paths {
		p := matchPath{pathGlob: glob, prefix: glob.literalPrefix(), within: glob.literalRun()}
		for _, folder := range m.defaults {
			if first := glob.segments[0]; first.literal != folder {
				p.defaults = append(p.defaults, folder)
			}
		}
		m.paths = append(m.paths, p)
	}
	return m
}

// defaultFolders returns the default excludes as first segments.
func defaultFolders() []string {
	var folders []string
	for _, exclude := range DefaultExcludes() {
		folders = append(folders, strings.TrimSuffix(exclude, "/**"))
	}
	return folders
}

// literalPrefix returns the text that every path the glob matches begins with.
func (g *pathGlob) literalPrefix() string {
	var b strings.Builder
	for i, segment := range g.segments {
		if i > 0 {
			b.WriteByte('/')
		}
		if segment.any {
			break
		}
		if segment.parts != nil {
			b.WriteString(segment.parts[0])
			break
		}
		b.WriteString(segment.literal)
	}
	return b.String()
}

// literalRun returns the longest run of literal segments behind the first wildcard.
func (g *pathGlob) literalRun() string {
	longest := ""
	var run []string
	behind := false
	for _, segment := range g.segments {
		if segment.any || segment.parts != nil {
			run, behind = nil, true
			continue
		}
		run = append(run, segment.literal)
		if text := strings.Join(run, "/"); behind && len(text) > len(longest) {
			longest = text
		}
	}
	return longest
}

// Match says whether a file, by its path from the root of the branch with
// slashes, belongs to the environment, and to which application. Paths decide in
// the order of the file.
func (e *Environment) Match(path string) (application string, ok bool) {
	if e.match == nil {
		return DefaultApplication, true
	}
	return e.match.match(path)
}

func (m *matcher) match(path string) (application string, ok bool) {
	captured, ok := m.included(path)
	if !ok || m.excluded(path) {
		return "", false
	}
	if captured == "" {
		return DefaultApplication, true
	}
	return nameOf(captured, captured), true
}

func (m *matcher) included(path string) (captured string, ok bool) {
	if len(m.paths) == 0 {
		return "", !within(m.defaults, path)
	}
	for i := range m.paths {
		p := &m.paths[i]
		if !strings.HasPrefix(path, p.prefix) || !strings.Contains(path, p.within) {
			continue
		}
		if captured, ok = p.match(path); ok && !within(p.defaults, path) {
			return captured, true
		}
	}
	return "", false
}

func (m *matcher) excluded(path string) bool {
	for i := range m.excludes {
		if _, ok := m.excludes[i].match(path); ok {
			return true
		}
	}
	return false
}

// within says whether the first segment of the path is one of the folders.
func within(folders []string, path string) bool {
	first, _, _ := strings.Cut(path, "/")
	for _, folder := range folders {
		if first == folder {
			return true
		}
	}
	return false
}
