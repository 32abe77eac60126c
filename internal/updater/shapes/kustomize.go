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

// shapeKustomize is an entry of kustomize's images list, which Flux
// Kustomizations also have.
const shapeKustomize edit.Shape = "kustomize-images"

// findKustomizeImages inspects the entries of an images list.
func findKustomizeImages(d *document, out *sink, m *yaml.Node) {
	list := node.Get(m, "images")
	if list == nil || list.Kind != yaml.SequenceNode {
		return
	}
	for _, item := range list.Content {
		if item.Kind == yaml.MappingNode {
			findKustomizeImage(d, out, item)
		}
	}
}

// findKustomizeImage inspects one entry. The repository is newName if set,
// otherwise name. The name selects the images to change and is never changed
// itself.
func findKustomizeImage(d *document, out *sink, entry *yaml.Node) {
	name, newName := node.Get(entry, "name"), node.Get(entry, "newName")
	tag, digest := node.Get(entry, "newTag"), node.Get(entry, "digest")
	states := node.IsText(tag) || node.IsText(digest)
	if states || node.IsText(newName) {
		out.claim(name)
		if followed, found := d.follow(node.Text(entry, "name")); found {
			out.inspected(d, entry, followed.Component) // it selects the images to change
		}
	}
	if node.IsText(newName) {
		name = newName
	}
	if !states || !node.IsText(name) {
		return
	}
	reference, err := image.Parse(d.scalar(name).Value())
	if err != nil {
		return
	}
	followed, found := d.follower.Follow(d.file, reference.Repository)
	if !found {
		noteEntryReader(d, out, entry, name)
		out.other(shapeKustomize, d.scalar(name), reference.Repository, node.Text(tag), node.Text(digest))
		return
	}
	if reference.Tag != "" || reference.Digest != "" {
		out.claim(name)
		out.refuse(d.scalar(name), followed.Component, "the name %s has a version of its own, so the entry applies to no other; "+
			"name only the repository", lex.Shorten(name.Value))
		return
	}
	s := site.Site{Shape: shapeKustomize, Followed: followed, Kind: image.ArtifactImage, Editable: &site.Editable{
		Mapping: entry, TagKey: "newTag", DigestKey: "digest",
	}}
	addGroup(d, out, entry, s, tag, digest, "newTag", "digest", "newName")
}

// shapeRemote is a remote kustomize resource at a commit of the repository from
// which an image of the same kustomization is built.
const shapeRemote edit.Shape = "remote-resource"

// commitRef matches the commit of a remote resource. Branch and tag names are
// not changed: only a commit can be the revision of an image.
var commitRef = regexp.MustCompile(`[?&]ref=([0-9a-f]{40})(?:&|$)`)

// remoteKeys are the lists of a kustomization that may contain remote
// resources.
var remoteKeys = []string{"resources", "components", "bases", "crds"}

// findRemotes inspects the remote resources of a kustomization and the
// components in its images list.
func findRemotes(d *document, out *sink, m *yaml.Node) {
	components := builtComponents(d, m)
	if len(components) == 0 {
		return
	}
	for _, key := range remoteKeys {
		list := node.Get(m, key)
		if list == nil || list.Kind != yaml.SequenceNode {
			continue
		}
		for _, item := range list.Content {
			if node.IsText(item) {
				findRemote(d, out, item, components)
			}
		}
	}
}

// built is a component and its source repository, as host/path.
type built struct {
	followed site.Followed
	source   string
}

// builtComponents returns the components of the images list whose source is
// known, without duplicates.
func builtComponents(d *document, m *yaml.Node) []built {
	list := node.Get(m, "images")
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	var all []built
	seen := map[string]bool{}
	for _, item := range list.Content {
		followed, found := d.follow(node.FirstText(item, "newName", "name"))
		if found && followed.Source != "" && !seen[followed.Component] {
			seen[followed.Component] = true
			all = append(all, built{followed, strings.TrimSuffix(plainRepository(followed.Source), ".git")})
		}
	}
	return all
}

// findRemote inspects one remote resource. Several images with the same source
// may have different revisions, and the intended one is then ambiguous.
func findRemote(d *document, out *sink, n *yaml.Node, components []built) {
	value := d.scalar(n).Value()
	found := commitRef.FindStringSubmatchIndex(value)
	if found == nil {
		return
	}
	address, _, _ := strings.Cut(value, "?")
	address = plainRepository(address)
	var owner *built
	for i := range components {
		if !leadsInto(address, components[i].source) {
			continue
		}
		if owner != nil {
			first, second := owner.followed, components[i].followed
			out.note(d.scalar(n), "%s and %s are both built from %s, so the ref stays", first.Component, second.Component, first.Source)
			return
		}
		owner = &components[i]
	}
	if owner != nil {
		out.add(site.Site{Shape: shapeRemote, Followed: owner.followed, Tag: &site.Part{
			Scalar: d.scalar(n), Format: site.FormatRevision, Before: value[:found[2]], After: value[found[3]:],
		}}, d.key())
	}
}

// leadsInto reports whether a plain kustomize URL refers to a repository or a
// path in it. Kustomize separates the path in the repository by // or, for
// known hosts, by the number of segments.
func leadsInto(address, source string) bool {
	rest, found := strings.CutPrefix(address, source)
	if !found || source == "" {
		return false
	}
	rest = strings.TrimPrefix(rest, ".git")
	return rest == "" || rest[0] == '/'
}

// plainRepository normalizes a Git URL to host/path: without scheme and user,
// and with a slash after the host.
func plainRepository(url string) string {
	url = strings.TrimPrefix(url, "git::")
	scheme, rest, found := strings.Cut(url, "://")
	if found {
		url = rest
	}
	if at := strings.IndexByte(url, '@'); at >= 0 && at < strings.IndexAny(url+"/", "/") {
		url = url[at+1:]
	}
	host, path, _ := strings.Cut(url, "/")
	if !found || scheme == "" {
		if before, after, short := strings.Cut(host, ":"); short {
			host, path = before, strings.TrimSuffix(after+"/"+path, "/")
		}
	}
	return strings.TrimRight(strings.ToLower(host)+"/"+path, "/")
}
