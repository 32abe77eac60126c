package config

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// writes reads the values that the default writer does not find.
func (l *loader) writes() {
	written := map[scalar]string{}
	for i, e := range l.raw.Environments.Entries {
		for _, raw := range e.Value.Write {
			if raw.bad {
				continue
			}
			l.write(e.Key.Value, raw)
			environment := &l.config.Environments[i]
			environment.Write = append(environment.Write, Write{
				Position: raw.Position, File: raw.File.Value, Path: raw.Path.Value, Regex: raw.Regex.Value,
				Component: raw.Component.Value, Value: or(raw.Value, DefaultWriteValue), Create: raw.Create.Value,
			})
			l.writtenOnce(written, environment, raw)
		}
	}
}

// scalar is what one write changes.
type scalar struct{ branch, file, path, regex string }

func (l *loader) writtenOnce(written map[scalar]string, e *Environment, raw *rawWrite) {
	if !raw.File.ok() {
		return
	}
	file := strings.ReplaceAll(raw.File.Value, "{environment}", e.Name)
	key := scalar{branch: e.Branch, file: path.Clean(file), path: raw.Path.Value, regex: raw.Regex.Value}
	if other, twice := written[key]; twice {
		l.failf(raw.Position, "keep one of them, or use {environment} in the file", "%s and %s write the same value of %s", other, e.Name, file)
	}
	written[key] = e.Name
}

func (l *loader) write(environment string, raw *rawWrite) {
	l.writeFile(raw)
	l.writePlace(raw)
	l.writeValue(raw)
	if !raw.Component.set() {
		l.failf(raw.Position, "add component: NAME", "an entry of write says no component")
		return
	}
	if !l.known("component", raw.Component, l.componentNames) {
		return
	}
	component := l.config.Components[l.componentNames.index[raw.Component.Value]]
	if isPattern(component.Pattern) {
		l.failf(raw.Component.Position, "make a component of the one image", "%s is a pattern, so it does not say which image's version to write", component.Name)
	}
	if only := component.Only; only != nil && len(only.Environments) > 0 && !slices.Contains(only.Environments, environment) {
		l.failf(raw.Component.Position, "change only.environments of "+component.Name, "%s is not used in %s, so it is never written there", component.Name, environment)
	}
}

func (l *loader) writeFile(raw *rawWrite) {
	switch file := raw.File; {
	case !file.set():
		l.failf(raw.Position, "add file: PATH", "an entry of write says no file")
	case !file.ok():
	case file.Value == "" || strings.ContainsAny(file.Value, "*\\") || path.IsAbs(file.Value) || hasDots(file.Value):
		l.failf(file.Position, "write the path from the root of the branch, without * and ..", "%q is not the path of one file", file.Value)
	case strings.Contains(file.Value, placeholderApplication) && !l.config.captures:
		l.failf(file.Position, "write {application} into the paths of the environments, or the name here", "nothing captures {application}")
	default:
		l.placeholders(file, "write.file", "environment", "application")
	}
}

func hasDots(file string) bool {
	return slices.ContainsFunc(strings.Split(file, "/"), func(segment string) bool { return segment == ".." || segment == "." || segment == "" })
}

// writePlace checks the one of path and regex.
func (l *loader) writePlace(raw *rawWrite) {
	switch {
	case raw.Path.set() && raw.Regex.set():
		l.failf(last(raw.Path.place, raw.Regex.place), "keep one of them", "an entry of write has both path and regex")
	case !raw.Path.set() && !raw.Regex.set():
		l.failf(raw.Position, "add path: KEY.KEY, or regex", "an entry of write does not say which value")
	case raw.Create.Value && raw.Regex.set():
		l.failf(raw.Create.Position, "remove create, or write path", "create: true needs a path: a regular expression cannot say where to add a value")
	}
	if raw.Path.ok() {
		if err := checkYAMLPath(raw.Path.Value); err != nil {
			l.failf(raw.Path.Position, "write spec.image.tag, images[0].newTag or images[name=web].newTag", "%q is not a YAML path: %v", raw.Path.Value, err)
		}
	}
	if raw.Regex.ok() && l.expression(raw.Regex, "write.regex") {
		l.writeGroup(raw.Regex)
	}
}

// writeGroup wants to know which part of a match is the value.
func (l *loader) writeGroup(expression at[string]) {
	compiled, err := regexp.Compile(expression.Value)
	if err == nil && compiled.NumSubexp() != 1 {
		l.failf(expression.Position, `put the value alone into a group; write (?:…) for others`,
			"write.regex has %d groups, but the one group is the value", compiled.NumSubexp())
	}
}

func (l *loader) writeValue(raw *rawWrite) {
	l.placeholders(raw.Value, "write.value", "tag", "version", "digest", "revision", "component", "environment", "application")
	if v := raw.Value; v.ok() && !slices.ContainsFunc([]string{"{tag}", "{version}", "{digest}", "{revision}"}, func(p string) bool { return strings.Contains(v.Value, p) }) {
		l.failf(v.Position, "use {tag}, {version}, {digest} or {revision}", "write.value holds no version, so it would never change")
	}
}
