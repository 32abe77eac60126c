package suggest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"promoter/internal/edit"
	"promoter/internal/image"
)

// subject is a repository with all that the files say about it.
type subject struct {
	repository image.Repository
	artifact   image.Artifact
	inside     []placed
	outside    []edit.Reference
}

// placed is a reference in an environment.
type placed struct {
	edit.Reference
	environment string
}

// components suggests a component for each repository. Active are those that
// stand in an environment; where none does, all are.
func components(references []edit.Reference, l *layout) []Component {
	subjects := subjectsOf(references, l)
	names := componentNames(subjects)
	out := make([]Component, 0, len(subjects))
	for i := range subjects {
		c := subjects[i].component(l)
		c.Name = names[i]
		out = append(out, c)
	}
	activate(out, subjects)
	slices.SortFunc(out, func(a, b Component) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// subjectsOf sorts the references by repository.
func subjectsOf(references []edit.Reference, l *layout) []subject {
	byRepository := map[image.Repository]*subject{}
	var all []*subject
	for _, r := range references {
		s, known := byRepository[r.Repository]
		if !known {
			s = &subject{repository: r.Repository, artifact: artifactOf(r)}
			byRepository[r.Repository] = s
			all = append(all, s)
		}
		if artifactOf(r) == image.ArtifactImage {
			s.artifact = image.ArtifactImage
		}
		if environment, ok := l.environmentOf(r.Position.File); ok {
			s.inside = append(s.inside, placed{r, environment})
		} else {
			s.outside = append(s.outside, r)
		}
	}
	slices.SortFunc(all, func(a, b *subject) int { return cmp.Compare(a.repository.String(), b.repository.String()) })
	out := make([]subject, 0, len(all))
	for _, s := range all {
		out = append(out, *s)
	}
	return out
}

// environmentOf returns the environment that a file was read as; the whole tree
// has one for all.
func (l *layout) environmentOf(file string) (name string, ok bool) {
	if l.wholeTree() {
		return l.environments[0].Name, true
	}
	name, ok = l.byFile[file]
	return name, ok
}

func (s *subject) component(l *layout) Component {
	roots, all := s.tags(l)
	c := Component{
		Artifact: s.artifact, Repository: s.repository, Present: s.present(l),
		TagOnly: !slices.ContainsFunc(s.references(), func(r edit.Reference) bool { return r.Digest != "" || chartVersion(r) }),
	}
	g := guess(roots, all, s.thirdParty())
	c.Select, c.Because = g.Selection, g.because
	if g.Tag != "" && c.TagOnly {
		c.Pin = image.PinTagDigest
	}
	if g.Tag != "" && len(all) == 0 {
		c.Pin = image.PinDigest
	}
	return c
}

func (s *subject) references() []edit.Reference {
	out := slices.Clone(s.outside)
	for _, p := range s.inside {
		out = append(out, p.Reference)
	}
	return out
}

// tags returns the tags in the environments that versions enter first, and all
// tags. What stands only in a base counts for both.
func (s *subject) tags(l *layout) (roots, all []string) {
	first := rankProd + 10
	for _, p := range s.inside {
		first = min(first, l.rankOf(p.environment))
	}
	for _, p := range s.inside {
		all = append(all, p.Tag)
		if l.rankOf(p.environment) == first {
			roots = append(roots, p.Tag)
		}
	}
	if len(s.inside) == 0 {
		for _, r := range s.outside {
			all = append(all, r.Tag)
		}
		roots = all
	}
	return usable(roots), usable(all)
}

func (l *layout) rankOf(name string) int {
	for _, e := range l.environments {
		if e.Name == name {
			return e.rank
		}
	}
	return rankProd
}

// usable drops what is no tag.
func usable(tags []string) []string {
	var out []string
	for _, tag := range tags {
		if image.ValidTag(tag) {
			out = append(out, tag)
		}
	}
	return out
}

// maxPresent is how many versions the comment of a component names.
const maxPresent = 4

// present lists the versions in the files with their environments, in the order
// of the environments: 1.4.2 (dev), 1.4.1 (staging, prod).
func (s *subject) present(l *layout) string {
	var p presence
	for _, e := range l.environments {
		for _, r := range s.inside {
			if r.environment == e.Name {
				p.add(short(r.Reference), e.Name)
			}
		}
	}
	for _, r := range s.outside {
		p.add(short(r), "outside")
	}
	return p.text(l.wholeTree())
}

// presence is versions with the places where they stand, in the order of finding.
type presence struct {
	versions []string
	places   map[string][]string
}

func (p *presence) add(version, target string) {
	if p.places == nil {
		p.places = map[string][]string{}
	}
	if _, known := p.places[version]; !known {
		p.versions = append(p.versions, version)
	}
	if !slices.Contains(p.places[version], target) {
		p.places[version] = append(p.places[version], target)
	}
}

// text names a few of the versions; the places only where there are several.
func (p *presence) text(onePlace bool) string {
	var texts []string
	for _, version := range p.versions[:min(len(p.versions), maxPresent)] {
		if !onePlace {
			version = fmt.Sprintf("%s (%s)", version, list(p.places[version]))
		}
		texts = append(texts, version)
	}
	if more := len(p.versions) - maxPresent; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, ", ")
}

// list joins a few names.
func list(names []string) string {
	if len(names) > maxPresent {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxPresent], ", "), len(names)-maxPresent)
	}
	return strings.Join(names, ", ")
}

// short is the version of a reference as a person names it.
func short(r edit.Reference) string {
	if r.Tag != "" && image.ValidTag(r.Tag) {
		return r.Tag
	}
	if _, hex, ok := strings.Cut(r.Digest, ":"); ok {
		return "digest " + hex[:min(len(hex), 12)]
	}
	return "no version"
}

// thirdParty says whether the image is one that people run and do not build: an
// official one of Docker Hub, or one of Kubernetes.
func (s *subject) thirdParty() bool {
	host := s.repository.Host()
	return host == hubHost && strings.HasPrefix(s.repository.Path(), "library/") ||
		host == "registry.k8s.io" || host == "k8s.gcr.io"
}

// activate decides which components are written and which are offered in a
// comment. At least one is written.
func activate(out []Component, subjects []subject) {
	inside := slices.ContainsFunc(subjects, func(s subject) bool { return len(s.inside) > 0 })
	own := slices.ContainsFunc(subjects, func(s subject) bool {
		return !s.thirdParty() && (len(s.inside) > 0 || !inside)
	})
	for i := range out {
		s := &subjects[i]
		switch {
		case inside && len(s.inside) == 0:
			out[i].Because = join("Stands only outside the environments.", out[i].Because)
		case own && s.thirdParty():
			out[i].Because = join("A common image that is probably not yours.", out[i].Because)
		default:
			out[i].Active = true
		}
	}
}

// join puts sentences behind one another; an empty one is none.
func join(sentences ...string) string {
	return strings.Join(slices.DeleteFunc(sentences, func(s string) bool { return s == "" }), " ")
}

// written is the repository in the short form, where that says the same.
func written(r image.Repository) string {
	if same, err := image.ParseRepository(r.Familiar()); err == nil && same == r {
		return r.Familiar()
	}
	return r.String()
}
