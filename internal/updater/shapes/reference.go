package shapes

import (
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/lex"
	"promoter/internal/updater/node"
	"promoter/internal/updater/site"
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
	before, name, after := lex.CutReference(value)
	reference, err := image.Parse(name)
	if err != nil {
		return findVariable(d, out, n, name) || findDefaulted(d, out, n, before, name, after) || refuseOther(d, out, n, before, name)
	}
	if reference.Tag == "" && reference.Digest == "" {
		return false
	}
	followed, found := d.follower.Follow(d.file, reference.Repository)
	if !found && lex.SaysImage(d.key()+before) {
		out.other(shapeReference, d.scalar(n), reference.Repository, reference.Tag, reference.Digest)
	}
	if !found || !isReference(followed, reference, d.key()+before) {
		return false
	}
	if isTag(reference, d.key()) {
		out.add(site.Site{Shape: shapeReference, Followed: followed, Tag: &site.Part{Scalar: d.scalar(n), Format: site.FormatTag}}, d.key())
		return true
	}
	s := site.NewReference(shapeReference, d.scalar(n), followed, reference, before, after)
	if lex.SaysImage(d.key()+before) && !strings.HasSuffix(before, ociScheme) {
		s.Kind = image.ArtifactImage
	}
	addCompanions(d, out, directValue(d, n), &s, prefixOf(d.key()), true)
	out.add(s, d.key())
	return true
}

// imageUpdater is the prefix of the annotations in which Argo CD Image Updater
// keeps version constraints, as in web=quay.io/acme/web:1.x. None of them sets
// the running version.
const imageUpdater = "argocd-image-updater.argoproj.io/"

// followedReference returns the reference that a text is, if it states a version of a followed
// repository. key is what precedes the text.
func followedReference(d *document, text, key string) (site.Followed, image.Reference, bool) {
	reference, err := image.Parse(text)
	if err != nil || reference.Tag == "" && reference.Digest == "" {
		return site.Followed{}, reference, false
	}
	followed, found := d.follower.Follow(d.file, reference.Repository)
	return followed, reference, found && isReference(followed, reference, key)
}

// isReference reports whether a text that reads like a reference is one. key is what precedes it.
func isReference(f site.Followed, r image.Reference, key string) bool {
	switch {
	case lex.SaysImage(key):
		return true
	case !f.Numeric && lex.IsAddress(r):
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

// refuseOther refuses a value that starts like a reference to a followed
// repository but is not one: its version is a variable, it is a list, or it is
// misspelled. Patterns over references, as in policies, and text with spaces
// are not references. before is the text that precedes written.
func refuseOther(d *document, out *sink, n *yaml.Node, before, written string) bool {
	value := lex.FillRegistry(written)
	name := value[:lex.VersionStart(value)]
	if !strings.Contains(name, "/") && !strings.Contains(value, "@sha256:") && !lex.SaysImage(d.key()+before) {
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
		out.note(d.scalar(n), "the event that triggers it has the version of %s (%s): left unchanged", name, lex.Shorten(written))
	case lex.IsVariable(written):
		out.refuse(d.scalar(n), followed.Component, variableVersion, lex.Shorten(written))
	default:
		out.refuse(d.scalar(n), followed.Component, "%s starts like a reference to %s but is not one", lex.Shorten(value), name)
		for _, other := range followedOnLine(d, value) {
			if other.component != followed.Component {
				out.refuse(d.scalar(n), other.component, "%s mentions %s and is not a reference to it", lex.Shorten(value), other.name)
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
