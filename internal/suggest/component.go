package suggest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"promoter/internal/config/field"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/printable"
	"promoter/internal/suggest/bots"
)

// usage is a repository with all references to it.
type usage struct {
	repository image.Repository
	artifact   image.Artifact
	inside     []placedReference
	outside    []edit.Reference
}

// placedReference is a reference in an environment.
type placedReference struct {
	edit.Reference
	environment string
}

// components suggests a component for each repository, sorted by name. Those
// outside of the environments, and third-party images beside the user's own, are
// not active. At least one is.
func components(references []edit.Reference, l *layout, rules []bots.Rule) []Component {
	usages := usagesOf(references, l)
	isInside := func(u *usage) bool { return len(u.inside) > 0 }
	anyInside := slices.ContainsFunc(usages, isInside)
	anyOwn := slices.ContainsFunc(usages, func(u *usage) bool {
		return !u.isThirdParty() && (isInside(u) || !anyInside)
	})
	names := componentNames(usages)
	all := make([]Component, 0, len(usages))
	for i, u := range usages {
		c := u.component(l, rules)
		c.Name = names[i]
		switch {
		case anyInside && !isInside(u):
			c.Off, c.Reason = "In no environment.", cmp.Or(c.Reason, c.Off)
		case c.Off != "":
		case anyOwn && u.isThirdParty():
			c.Off = "A common image that is probably not yours."
		}
		all = append(all, c)
	}
	if !slices.ContainsFunc(all, func(c Component) bool { return c.Off == "" }) { // a config needs one
		if i := slices.IndexFunc(all, func(c Component) bool { return c.kind == GuessNarrowed && c.Reason == "" }); i >= 0 {
			all[i].Off, all[i].Reason = "", all[i].Off
		}
	}
	slices.SortFunc(all, func(a, b Component) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// usagesOf groups the references by repository, sorted.
func usagesOf(references []edit.Reference, l *layout) []*usage {
	byRepository := map[image.Repository]*usage{}
	for _, r := range references {
		u, known := byRepository[r.Repository]
		if !known {
			u = &usage{repository: r.Repository, artifact: artifactOf(r)}
			byRepository[r.Repository] = u
		}
		if artifactOf(r) == image.ArtifactImage {
			u.artifact = image.ArtifactImage
		}
		if environment, ok := l.environmentOf(r.Position.File); ok {
			u.inside = append(u.inside, placedReference{r, environment})
		} else {
			u.outside = append(u.outside, r)
		}
	}
	return slices.SortedFunc(maps.Values(byRepository), func(a, b *usage) int {
		return cmp.Compare(a.repository.String(), b.repository.String())
	})
}

func (u *usage) component(l *layout, rules []bots.Rule) Component {
	canPin := func(r edit.Reference) bool { return r.Digest != "" || isChartVersion(r) }
	c := Component{
		Artifact: u.artifact, Repository: u.repository, Current: u.current(l),
		TagOnly: !slices.ContainsFunc(u.outside, canPin) &&
			!slices.ContainsFunc(u.inside, func(r placedReference) bool { return canPin(r.Reference) }),
	}
	roots, all := u.tags(l)
	own := slices.DeleteFunc(slices.Clone(rules), func(rule bots.Rule) bool {
		return u.artifact != image.ArtifactImage || !rule.Applies(u.repository)
	})
	g := guessSelection(roots, all, u.isThirdParty()).within(own, roots, all)
	g.reason = printable.Line(g.reason)
	c.Select = g.Selection
	c.kind = g.kind
	c.Reason = g.reason
	if g.kind == GuessNarrowed && !isOneTag(all) {
		c.Off, c.Reason = g.reason, ""
	}
	if g.Tag != "" && c.TagOnly {
		c.Pin = image.PinTagDigest
	}
	if g.Tag != "" && len(all) == 0 {
		c.Pin = image.PinDigest
	}
	return c
}

// tags returns the tags in the environments that versions enter first, and all
// tags in environments. If there are none, the others count for both.
func (u *usage) tags(l *layout) (roots, all []string) {
	first := rankProd + 10
	for _, r := range u.inside {
		first = min(first, l.rankOf(r.environment))
	}
	for _, r := range u.inside {
		all = append(all, r.Tag)
		if l.rankOf(r.environment) == first {
			roots = append(roots, r.Tag)
		}
	}
	if len(u.inside) == 0 {
		for _, r := range u.outside {
			all = append(all, r.Tag)
		}
		roots = all
	}
	return validTags(roots), validTags(all)
}

func validTags(tags []string) []string {
	return slices.DeleteFunc(slices.Clone(tags), func(tag string) bool { return !image.ValidTag(tag) })
}

// isThirdParty reports whether the image is one that users run and do not build: an
// official one of Docker Hub, or one of Kubernetes.
func (u *usage) isThirdParty() bool {
	host := u.repository.Host()
	return host == image.DockerHub && strings.HasPrefix(u.repository.Path(), "library/") ||
		host == "registry.k8s.io" || host == "k8s.gcr.io"
}

// maxListed is how many versions or environments a comment lists.
const maxListed = 4

// current lists the versions in the files with their environments, in the order of
// the environments: 1.4.2 (dev), 1.4.1 (staging, prod).
func (u *usage) current(l *layout) string {
	var versions []string
	environments := map[string][]string{} // by version
	add := func(r edit.Reference, environment string) {
		version := versionText(r)
		if !slices.Contains(versions, version) {
			versions = append(versions, version)
		}
		if !slices.Contains(environments[version], environment) {
			environments[version] = append(environments[version], environment)
		}
	}
	for _, e := range l.environments {
		for _, r := range u.inside {
			if r.environment == e.Name {
				add(r.Reference, e.Name)
			}
		}
	}
	for _, r := range u.outside {
		add(r, "in no environment")
	}
	if !l.isWholeTree() {
		for i, version := range versions {
			versions[i] = fmt.Sprintf("%s (%s)", version, list(environments[version], " and"))
		}
	}
	return list(versions, ", and")
}

// list joins a few texts and counts the rest after the given word.
func list(texts []string, and string) string { return printable.First(texts, maxListed, and) }

// versionText is the version of a reference as a user names it.
func versionText(r edit.Reference) string {
	if r.Tag != "" && image.ValidTag(r.Tag) {
		return r.Tag
	}
	if _, hex, ok := strings.Cut(r.Digest, ":"); ok {
		return "digest " + hex[:min(len(hex), 12)]
	}
	return "no version"
}

// join joins sentences, without empty ones.
func join(sentences ...string) string {
	return strings.Join(slices.DeleteFunc(sentences, func(s string) bool { return s == "" }), " ")
}

const (
	nameChoices   = 7
	maxNameLength = 33 // leaves room for a number within the 40 characters of a name
)

// componentNames names each repository after the end of its path, and if two would
// have the same name, also after the part that differs.
func componentNames(usages []*usage) []string {
	choices := make([][nameChoices]string, len(usages))
	for i := range usages {
		choices[i] = usages[i].nameChoices()
	}
	names, used := make([]string, len(usages)), map[string]bool{}
	for choice := range nameChoices {
		counts := map[string]int{}
		for i := range usages {
			if names[i] == "" {
				counts[choices[i][choice]]++
			}
		}
		for i := range usages {
			if name := choices[i][choice]; names[i] == "" && counts[name] == 1 && !used[name] && field.ValidName(name) {
				names[i] = name
			}
		}
		for _, name := range names {
			used[name] = true
		}
	}
	last := map[string]int{} // the last number of each base
	for i := range names {
		if names[i] != "" {
			continue
		}
		base := slug(usages[i].repository.Name())
		base = strings.Trim(base[:min(len(base), maxNameLength)], "-")
		name := base
		for n := max(last[base], 1); used[name]; {
			n++
			name, last[base] = fmt.Sprintf("%s-%d", base, n), n
		}
		names[i], used[name] = name, true
	}
	return names
}

// nameChoices returns possible names for the repository, the shortest first: its
// own name, then with the kind of artifact, with a folder above it, with the host,
// and with everything.
func (u *usage) nameChoices() [nameChoices]string {
	parts := strings.Split(u.repository.Path(), "/")
	kind := parts[len(parts)-1]
	if u.artifact != image.ArtifactImage {
		kind += "-" + string(u.artifact)
	}
	host, _, _ := strings.Cut(u.repository.Host(), ".")
	nearest, furthest := host, host
	if len(parts) > 1 {
		nearest, furthest = parts[len(parts)-2], parts[0]
	}
	return [nameChoices]string{
		slug(u.repository.Name()), slug(kind), slug(nearest + "-" + kind), slug(furthest + "-" + kind), slug(host + "-" + kind),
		slug(u.repository.Path()), slug(u.repository.String()),
	}
}
