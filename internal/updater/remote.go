package updater

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"promoter/internal/edit"
)

// shapeRemote is a remote resource of kustomize at a commit of the repository
// that an image of the same kustomization is built from.
const shapeRemote edit.Shape = "remote-resource"

// commitRef is the commit of a remote resource. Names of branches and tags stay:
// only a commit can be the revision of an image.
var commitRef = regexp.MustCompile(`[?&]ref=([0-9a-f]{40})(?:&|$)`)

// remoteKeys are the lists of a kustomization that may hold remote resources.
var remoteKeys = []string{"resources", "components", "bases", "crds"}

// findRemotes looks at the remote resources of a kustomization and at the
// components that its images list has.
func findRemotes(f *finder, m *yaml.Node) {
	built := f.builtComponents(m)
	if len(built) == 0 {
		return
	}
	for _, key := range remoteKeys {
		list := lookup(m, key)
		if list == nil || list.Kind != yaml.SequenceNode {
			continue
		}
		for _, item := range list.Content {
			if isText(item) {
				findRemote(f, item, built)
			}
		}
	}
}

// builtComponents returns the components of the images list whose source is
// known.
func (f *finder) builtComponents(m *yaml.Node) []Followed {
	list := lookup(m, "images")
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	var built []Followed
	for _, item := range list.Content {
		name := lookupText(item, "newName")
		if name == "" {
			name = lookupText(item, "name")
		}
		if followed, found := f.follow(name); found && followed.Source != "" {
			built = append(built, followed)
		}
	}
	return built
}

// findRemote looks at one remote resource. Several images of one source may have
// different revisions, and then nothing says which one is meant.
func findRemote(f *finder, n *yaml.Node, built []Followed) {
	value := f.scalar(n).value()
	found := commitRef.FindStringSubmatchIndex(value)
	if found == nil {
		return
	}
	var owner *Followed
	for i := range built {
		if !sameRepository(value, built[i].Source) {
			continue
		}
		if owner != nil && owner.Component != built[i].Component {
			f.note(n, "%s and %s are both built from %s, so the ref stays", owner.Component, built[i].Component, built[i].Source)
			return
		}
		owner = &built[i]
	}
	if owner != nil {
		f.add(site{shape: shapeRemote, followed: *owner, tag: &part{
			scalar: f.scalar(n), spells: spellsRevision, before: value[:found[2]], after: value[found[3]:],
		}})
	}
}

// sameRepository says whether a URL of kustomize leads into the source
// repository. Kustomize separates the path in the repository by // or, where it
// knows the host, by the number of segments.
func sameRepository(url, source string) bool {
	url, _, _ = strings.Cut(url, "?")
	url, source = plainRepository(url), plainRepository(source)
	source = strings.TrimSuffix(source, ".git")
	rest, found := strings.CutPrefix(url, source)
	if !found || source == "" {
		return false
	}
	rest = strings.TrimPrefix(rest, ".git")
	return rest == "" || rest[0] == '/'
}

// plainRepository brings the forms of a Git URL to host/path: without scheme,
// user, and with a slash after the host.
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
	return strings.TrimSuffix(strings.ToLower(host)+"/"+path, "/")
}
