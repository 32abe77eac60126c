package config

import (
	"slices"
	"strings"

	"promoter/internal/image"
)

// ociScheme may stand before a chart or another artifact.
const ociScheme = "oci://"

func (l *loader) components() {
	for _, e := range l.raw.Components.Entries {
		component := l.component(e.Key, e.Value)
		l.config.Components = append(l.config.Components, component)
	}
	l.countPolls()
}

func (l *loader) component(name at[string], raw *rawComponent) Component {
	component := Component{Position: name.Position, Name: name.Value, Pin: image.Pin(or(raw.Pin, string(image.PinKeep)))}
	if raw.bad {
		return component
	}
	where, artifact := l.artifact(name, raw)
	component.Artifact = artifact
	component.Pattern = l.pattern(where, artifact)
	component.Select = l.selection(name, raw, component)
	component.Source = l.source(raw.Source)
	component.Poll, _ = raw.Poll.times(l.collector)
	l.pin(raw)
	return component
}

// artifact returns the one of image, chart and artifact that is set.
func (l *loader) artifact(name at[string], raw *rawComponent) (at[string], image.Artifact) {
	var found []at[string]
	var kinds []image.Artifact
	for _, kind := range []image.Artifact{image.ArtifactImage, image.ArtifactChart, image.ArtifactOther} {
		value := map[image.Artifact]at[string]{
			image.ArtifactImage: raw.Image, image.ArtifactChart: raw.Chart, image.ArtifactOther: raw.Artifact,
		}[kind]
		if value.set() {
			found, kinds = append(found, value), append(kinds, kind)
		}
	}
	if len(found) == 0 {
		l.failf(name.Position, "add image: REPOSITORY", "the component %s has no image, chart or artifact", name.Value)
		return at[string]{}, image.ArtifactImage
	}
	if len(found) > 1 {
		l.failf(found[1].Position, "make two components of it", "the component %s has both %s and %s", name.Value, kinds[0], kinds[1])
	}
	return found[0], kinds[0]
}

// pattern reads the repository of a component.
func (l *loader) pattern(where at[string], artifact image.Artifact) image.Pattern {
	if !where.ok() {
		return image.Pattern{}
	}
	text, hasScheme := strings.CutPrefix(where.Value, ociScheme)
	switch {
	case artifact == image.ArtifactImage && hasScheme:
		l.failf(where.Position, "remove oci://, or write chart: for a Helm chart", "an image has no oci:// before it")
	case strings.Contains(text, "://"):
		l.failf(where.Position, "write HOST/PATH; charts must lie in an OCI registry", "%q is not a repository of an OCI registry", where.Value)
		return image.Pattern{}
	}
	pattern, err := image.ParsePattern(text)
	if err == nil {
		return pattern
	}
	if reference, notTagged := image.Parse(text); notTagged == nil && (reference.Tag != "" || reference.Digest != "") {
		l.failf(where.Position, "write "+reference.Name+"; select says which version is wanted", "%q names a version", where.Value)
		return image.Pattern{}
	}
	l.failf(where.Position, "write HOST/PATH without a tag; * is one segment, ** many", "%v", err)
	return image.Pattern{}
}

// source checks HOST/OWNER/NAME, where an owner may have several segments.
func (l *loader) source(source at[string]) string {
	if !source.ok() {
		return ""
	}
	if !repositoryName(source.Value) {
		l.failf(source.Position, "write HOST/OWNER/NAME, as in github.com/acme/web", "%q is not a source repository", source.Value)
	}
	return source.Value
}

// repositoryName takes a host with a port too.
func repositoryName(s string) bool {
	segments := strings.Split(s, "/")
	host, port, _ := strings.Cut(segments[0], ":")
	if segments[0] = host; strings.Trim(port, "0123456789") != "" {
		return false
	}
	return len(segments) >= 3 && !slices.ContainsFunc(segments, func(segment string) bool {
		return segment == "" || segment == "." || segment == ".." || strings.ContainsAny(segment, " \t*:@?#\\")
	})
}

// pin refuses to write a moving tag without its digest, which would never change
// the file.
func (l *loader) pin(raw *rawComponent) {
	if raw.Select == nil || !raw.Select.Tag.set() || image.Pin(or(raw.Pin, "")) != image.PinTag {
		return
	}
	l.failf(raw.Pin.Position, "write pin: tag+digest or pin: digest",
		"pin: tag cannot follow the moving tag of select.tag, because the written text would never change")
}
