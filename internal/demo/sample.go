package demo

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// version is one image that was pushed.
type version struct {
	application string
	tag, digest string
	created     time.Time
}

func (v version) String() string { return v.application + " " + v.tag }

// made is a version that is not pushed yet.
func made(application, tag string, day int) version {
	return version{application: application, tag: tag, created: time.Date(2026, time.March, day, 9, 30, 0, 0, time.UTC)}
}

// firstRelease is what the repository holds when the story begins.
func firstRelease() []version {
	return []version{made("shop", "1.4.2", 2), made("blog", "2.0.1", 2), made("mail", "main-3f9c2ab", 2)}
}

// secondRelease is what the pipeline pushes.
func secondRelease() []version {
	return []version{made("shop", "1.5.0", 9), made("blog", "2.1.0", 9), made("mail", "main-a81d04e", 9)}
}

// place is one application in one environment.
type place struct{ environment, application string }

// sample is what the repository has to hold: made without the verbs, which must
// arrive at the same bytes.
type sample struct {
	host   string
	config string    // the template of the config
	soak   string    // of prod, where the template asks for one
	opens  time.Time // the window of prod
	holds  map[place]version
}

// take puts versions into an environment.
func (s *sample) take(environment string, versions ...version) {
	for _, v := range versions {
		s.holds[place{environment, v.application}] = v
	}
}

// file names the file of a place and what it is made of.
func (p place) file() (path, template string) {
	dir := "apps/" + p.application + "/" + p.environment + "/"
	switch p.application {
	case "shop":
		return dir + "kustomization.yaml", kustomization
	case "blog":
		return dir + "values.yaml", values
	default:
		return dir + "deployment.yaml", manifest
	}
}

// tree is the content of a repository by path.
type tree map[string]string

func (t tree) names() []string { return slices.Sorted(maps.Keys(t)) }

func (s *sample) tree() tree {
	t := tree{configFile: s.fill(s.config, version{})}
	for at, v := range s.holds {
		path, template := at.file()
		t[path] = s.fill(template, v)
	}
	return t
}

func (s *sample) fill(template string, v version) string {
	return strings.NewReplacer(
		"HOST", s.host, "OPENS", s.opens.UTC().Format(time.RFC3339), "SOAK", s.soak, "TAG", v.tag, "DIGEST", v.digest,
	).Replace(template)
}
