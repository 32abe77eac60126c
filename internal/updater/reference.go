package updater

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/node"
)

// shapeReference is a scalar that is a whole reference: image:
// quay.io/acme/web:1.4.2.
const shapeReference edit.Shape = "reference"

// findReference checks whether a scalar is a whole reference: alone, after a
// scheme, or after the equals sign of an argument. A reference without tag and
// digest states no version and is only a name.
func findReference(d *document, out *sink, n *yaml.Node) bool {
	value := d.scalar(n).Value()
	if !strings.ContainsAny(value, ":@") || strings.HasPrefix(d.key(), imageUpdater) {
		return false
	}
	before, name, after := cutReference(value)
	reference, err := image.Parse(name)
	if err != nil {
		return refuseOther(d, out, n, before, name)
	}
	if reference.Tag == "" && reference.Digest == "" {
		return false
	}
	followed, found := d.follower.Follow(d.file, reference.Repository)
	if !found && saysImage(d.key()+before) {
		out.other(shapeReference, d.scalar(n), reference.Repository, reference.Tag, reference.Digest)
	}
	if !found || !followed.is(reference, d.key()+before) {
		return false
	}
	if isTag(reference, d.key()) {
		out.add(site{shape: shapeReference, followed: followed, tag: &part{scalar: d.scalar(n), format: formatTag}}, d.key())
		return true
	}
	out.add(newReference(shapeReference, d.scalar(n), followed, reference, before, after), d.key())
	return true
}

// imageUpdater is the prefix of the annotations in which Argo CD Image Updater
// keeps version constraints, as in web=quay.io/acme/web:1.x. None of them sets
// the running version.
const imageUpdater = "argocd-image-updater.argoproj.io/"

// is reports whether a text that reads like a reference is one. key is what precedes it.
func (f Followed) is(r image.Reference, key string) bool {
	switch {
	case saysImage(key):
		return true
	case !f.Numeric && isAddress(r):
		return false
	default:
		return !f.AnyWord || r.Digest != "" || r.Repository.HasDomain()
	}
}

// isTag reports whether NAME@DIGEST is a tag with its digest, based on its key,
// as in tag: 1.4.2@sha256:…. There, 1.4.2 is the tag, although it also parses as
// the name of a Docker Hub repository, and it is not kept as a name.
func isTag(r image.Reference, key string) bool {
	key = strings.ToLower(key)
	return r.Tag == "" && !strings.Contains(r.Name, "/") && (strings.HasSuffix(key, "tag") || strings.HasSuffix(key, "version"))
}

// isAddress reports whether the text may also be a host and port, as in
// redis:6379: a name without a slash, and a number that few images use as a
// tag.
func isAddress(r image.Reference) bool {
	if r.Digest != "" || strings.Contains(r.Name, "/") {
		return false
	}
	port, err := strconv.ParseUint(r.Tag, 10, 16)
	return err == nil && (port >= 100 || port == 80)
}

// saysImage reports whether a key or option indicates that its value is an
// image.
func saysImage(key string) bool { return strings.Contains(strings.ToLower(key), "image") }

// referenceSchemes are the transports that tools put before a reference. A
// similar web address, such as https://quay.io/acme/web:v1, is not a reference.
var referenceSchemes = []string{"oci://", "docker://", "docker-image://"}

// cutReference removes what may surround a reference: spaces, including those
// that are not YAML whitespace, the name of an option or variable with its
// equals sign, and a scheme. A sentence with an equals sign is not an option.
func cutReference(value string) (before, name, after string) {
	name = strings.TrimFunc(value, unicode.IsSpace)
	at := strings.Index(value, name)
	after = value[at+len(name):]
	option := strings.LastIndexByte(name[:variableStart(name)], '=') + 1
	if strings.ContainsFunc(name[:option], unicode.IsSpace) {
		return "", value, ""
	}
	name = name[option:]
	for _, scheme := range referenceSchemes {
		name = strings.TrimPrefix(name, scheme)
	}
	return value[:len(value)-len(after)-len(name)], name, after
}

// refuseOther refuses a value that starts like a reference to a followed
// repository but is not one: its version is a variable, it is a list, or it is
// misspelled. Patterns over references, as in policies, and text with spaces
// are not references. before is the text that precedes written.
func refuseOther(d *document, out *sink, n *yaml.Node, before, written string) bool {
	value := fillRegistry(written)
	name := value[:versionStart(value)]
	if !strings.Contains(name, "/") && !strings.Contains(value, "@sha256:") && !saysImage(d.key()+before) {
		return false // redis:6379,other:6379 and redis:$(PORT) are addresses
	}
	if name == "" || len(name) == len(value) || strings.ContainsAny(value, " \n*") || value[len(name):] == pinnedSuffix {
		return false // charts put the hex digits of a digest after a repository that ends in @sha256
	}
	followed, found := d.follow(name)
	switch {
	case !found:
		return false
	case isTriggered(d, value[len(name):]):
		out.note(d.scalar(n), "the event that triggers it has the version of %s (%s): left unchanged", name, shorten(written))
	case isVariable(written):
		out.refuse(d.scalar(n), followed.Component, "the version is a variable (%s); change it where the variable is set", shorten(written))
	default:
		out.refuse(d.scalar(n), followed.Component, "%s starts like a reference to %s but is not one", shorten(value), name)
		for _, other := range followedOnLine(d, value) {
			if other.component != followed.Component {
				out.refuse(d.scalar(n), other.component, "%s mentions %s and is not a reference to it", shorten(value), other.name)
			}
		}
	}
	return true
}

// triggerParameter matches a version that is a parameter of a TriggerTemplate of Tekton.
var triggerParameter = regexp.MustCompile(`^[:@](?:sha256:)?\$\(tt\.params\.([A-Za-z0-9_.-]+)\)$`)

// isTriggered reports whether a version is a parameter of a TriggerTemplate without a default:
// the event has it, and no file does.
// https://tekton.dev/docs/triggers/triggertemplates/
func isTriggered(d *document, version string) bool {
	match := triggerParameter.FindStringSubmatch(version)
	if match == nil || len(d.parents) == 0 {
		return false
	}
	parameters := node.At(d.parents[0], "spec", "params")
	if node.Text(d.parents[0], "kind") != "TriggerTemplate" || parameters == nil {
		return false
	}
	for _, parameter := range parameters.Content {
		if node.Text(parameter, "name") == match[1] {
			return node.Text(parameter, "default") == ""
		}
	}
	return false
}

// versionStart returns the end of a reference's name: the offset of its first
// colon or at sign after the host, or of a placeholder.
func versionStart(value string) int {
	end := variableStart(value)
	host := max(strings.IndexByte(value[:end], '/'), 0)
	if at := strings.IndexAny(value[host:end], ":@"); at >= 0 {
		return host + at
	}
	return end
}

// variableStart returns the offset of the first placeholder: ${…}, $(…) or
// {{…}}. Without one it returns the length of the text.
func variableStart(s string) int {
	start := len(s)
	for _, opening := range []string{"${", "$(", "{{"} {
		if at := strings.Index(s, opening); at >= 0 {
			start = min(start, at)
		}
	}
	return start
}

// defaulted matches a variable with a default, as in Compose and Flux, before a
// name: ${REGISTRY:-quay.io}/ or ${REGISTRY:=quay.io}/.
var defaulted = regexp.MustCompile(`^\$\{\w+:?[-=]([^${}]*)\}`)

// fillRegistry replaces a variable at the start of a reference with its
// default.
func fillRegistry(s string) string {
	if match := defaulted.FindStringSubmatch(s); match != nil {
		return match[1] + s[len(match[0]):]
	}
	return s
}

// isVariable reports whether the text contains a placeholder.
func isVariable(s string) bool { return variableStart(s) < len(s) }

// shorten makes untrusted text suitable for a reason: truncated, on one line,
// and without control characters.
func shorten(s string) string {
	const most = 120
	cut := len(s) > most
	if cut {
		s = s[:most]
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
	if cut {
		s += "…"
	}
	return s
}
