package config

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"promoter/internal/config/field"
	"promoter/internal/glob"
	"promoter/internal/strictyaml"
)

// Write is one value that the default writer does not find. Exactly one of Path and
// Regex is set.
type Write struct {
	Position
	File      string // may contain {environment} and {application}
	Path      string // of the value in YAML, in the grammar of the updater
	Regex     string
	Component string
	Value     string // may contain {tag}, {version}, {digest}, {revision}, {component}, {environment}, {application}
	Create    bool
}

// DefaultWriteValue is what is written by default.
const DefaultWriteValue = "{tag}"

// rawWrite is a value that promoter does not find by itself. Set exactly one of path and
// regex.
type rawWrite struct {
	strictyaml.Origin
	// Path from the root of the branch. Placeholders: `{environment}`, `{application}`. Never `.promoter.yaml`, nor
	// a path with a folder `.git`.
	File strictyaml.Located[string] `yaml:"file" required:"true"`
	// Path of the value in YAML, such as `spec.values.image.tag` or `images[name=web].newTag`. See docs/writing.md#paths-of-write.
	Path strictyaml.Located[string] `yaml:"path"`
	// Regular expression whose only group is the value, within one scalar. In files that are not YAML or JSON, it must match once.
	Regex strictyaml.Located[string] `yaml:"regex"`
	// Name of the component whose version is written.
	Component strictyaml.Located[string] `yaml:"component" required:"true"`
	// What is written. Placeholders: `{tag}`, `{version}`, `{digest}`, `{revision}`, `{component}`,
	// `{environment}`, `{application}`. Default: `{tag}`.
	Value strictyaml.Located[string] `yaml:"value"`
	// Add the key if it is missing. With `path` only. Default: `false`.
	Create strictyaml.Located[bool] `yaml:"create"`
}

// loadWrites reads the values that the default writer does not find. Each is written
// once per branch.
func loadWrites(in *input, c *Config) {
	type target struct{ branch, file, path, regex string }
	written := map[target]string{} // environment
	for i, e := range in.raw.Environments.Entries {
		environment := &c.Environments[i]
		for _, raw := range e.Value.Write {
			if raw.Invalid {
				continue
			}
			checkWriteFile(in, raw)
			checkWriteValue(in.report, raw)
			checkWriteComponent(in, c, environment.Name, raw)
			environment.Write = append(environment.Write, Write{
				Position: raw.Position, File: raw.File.Value, Path: raw.Path.Value, Regex: raw.Regex.Value,
				Component: raw.Component.Value, Value: raw.Value.Or(DefaultWriteValue), Create: raw.Create.Value,
			})
			if !raw.File.Valid() {
				continue
			}
			file := strings.ReplaceAll(raw.File.Value, "{environment}", environment.Name)
			key := target{environment.Branch, path.Clean(file), raw.Path.Value, raw.Regex.Value}
			if other, twice := written[key]; twice {
				in.report.Errorf(raw.Position, "keep one of them, or use {environment} in the file",
					"%s and %s write the same value of %s", other, environment.Name, file)
			}
			written[key] = environment.Name
		}
	}
}

func checkWriteFile(in *input, raw *rawWrite) {
	file := raw.File
	dots := func(segment string) bool { return segment == ".." || segment == "." || segment == "" }
	switch {
	case !file.IsSet():
		in.report.Errorf(raw.Position, "add file: PATH", "an entry of write has no file")
	case !file.Valid():
	case file.Value == "" || strings.ContainsAny(file.Value, "*\\") || path.IsAbs(file.Value) ||
		slices.ContainsFunc(strings.Split(file.Value, "/"), dots):
		in.report.Errorf(file.Position, "write the path from the root of the branch, without * and ..",
			"%q is not the path of one file", file.Value)
	case mayBeReserved(file.Value):
		in.report.Errorf(file.Position, "name a file of an application",
			"%q is or can be a file of Git or the config of promoter, which is never written", file.Value)
	case strings.Contains(file.Value, glob.Application) && !in.captures:
		in.report.Errorf(file.Position, "write {application} into the paths of the environments, or the name here",
			"nothing captures {application}")
	default:
		field.CheckPlaceholders(in.report, file, "write.file", "environment", "application")
	}
}

// mayBeReserved reports whether a file, with names in place of its placeholders, can be one
// that no promotion may change: the config itself, or what Git treats as its own folder on
// some file system.
func mayBeReserved(file string) bool {
	segments := strings.Split(strings.NewReplacer("{environment}", "{}", glob.Application, "{}").Replace(strings.ToLower(file)), "/")
	return len(segments) == 1 && couldBe(segments[0], ".promoter.yaml") ||
		slices.ContainsFunc(segments, func(segment string) bool { return couldBe(segment, ".git") || couldBe(segment, "git~1") })
}

// couldBe reports whether a segment, in which {} is a name, can be the given one.
func couldBe(segment, name string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(segment), regexp.QuoteMeta("{}"), "[a-z0-9-]+")
	matched, err := regexp.MatchString("^(?:"+pattern+")$", name)
	return err != nil || matched
}

// checkWriteValue validates which value is written, and what is written.
func checkWriteValue(report *strictyaml.Report, raw *rawWrite) {
	switch {
	case raw.Path.IsSet() && raw.Regex.IsSet():
		report.Errorf(strictyaml.Last(raw.Path.Origin, raw.Regex.Origin), "keep one of them", "an entry of write has both path and regex")
	case !raw.Path.IsSet() && !raw.Regex.IsSet():
		report.Errorf(raw.Position, "add path: KEY.KEY, or regex", "an entry of write has neither path nor regex")
	case raw.Create.Value && raw.Regex.IsSet():
		report.Errorf(raw.Create.Position, "remove create, or write path",
			"create: true needs a path: a regular expression has no location for a new value")
	}
	if raw.Path.Valid() {
		if _, err := field.ParseYAMLPath(raw.Path.Value); err != nil {
			report.Errorf(raw.Path.Position, "write spec.image.tag, images[0].newTag or images[name=web].newTag",
				"%q is not a YAML path: %v", raw.Path.Value, err)
		}
	}
	if raw.Regex.Valid() && report.Regexp(raw.Regex, "write.regex") {
		if compiled, err := regexp.Compile(raw.Regex.Value); err == nil && compiled.NumSubexp() != 1 {
			report.Errorf(raw.Regex.Position, `put only the value into a group; write (?:…) for others`,
				"write.regex has %d groups, but exactly one group is the value", compiled.NumSubexp())
		}
	}
	versions := []string{"tag", "version", "digest", "revision"}
	field.CheckPlaceholders(report, raw.Value, "write.value", append(versions, "component", "environment", "application")...)
	if v := raw.Value; v.Valid() && !slices.ContainsFunc(versions, func(p string) bool { return strings.Contains(v.Value, "{"+p+"}") }) {
		report.Errorf(v.Position, "use {tag}, {version}, {digest} or {revision}", "write.value has no version, so it would never change")
	}
}

func checkWriteComponent(in *input, c *Config, environment string, raw *rawWrite) {
	if !raw.Component.IsSet() {
		in.report.Errorf(raw.Position, "add component: NAME", "an entry of write has no component")
		return
	}
	if !in.report.Known("component", raw.Component, in.components) {
		return
	}
	component, _ := c.Component(raw.Component.Value)
	at, name := raw.Component.Position, component.Name
	in.report.ErrorIf(isPattern(component.Pattern) && component.Template == "", at, "add a component for the one image",
		"%s is a pattern, so it does not determine which image's version to write", name)
	if e, _ := c.Environment(environment); component.Template != "" && e.ByComponent {
		in.report.Errorf(at, "write {application} into the paths of "+environment,
			"%s is another image in each application, and no path captures {application}", name)
	}
	in.report.ErrorIf(!component.Only.allowsEnvironment(environment), at, "change only.environments of "+name,
		"%s is not used in %s, so it is never written there", name, environment)
}
