package demo

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// version is one pushed image.
type version struct {
	application string
	tag, digest string
	created     time.Time
}

func (v version) String() string { return v.application + " " + v.tag }

// made returns a version that is not pushed yet.
func made(application, tag string, day int) version {
	return version{application: application, tag: tag, created: time.Date(2026, time.March, day, 9, 30, 0, 0, time.UTC)}
}

// firstRelease is the initial content of the repository.
func firstRelease() []version {
	return []version{made("shop", "1.4.2", 2), made("blog", "2.0.1", 2), made("mail", "main-3f9c2ab", 2)}
}

// secondRelease is what the pipeline pushes.
func secondRelease() []version {
	return []version{made("shop", "1.5.0", 9), made("blog", "2.1.0", 9), made("mail", "main-a81d04e", 9)}
}

// place is one application in one environment.
type place struct{ environment, application string }

// sample is the expected content of the repository. It is generated without the
// promoter commands, which must produce the same bytes.
type sample struct {
	host   string
	config string    // the template of the config
	soak   string    // of prod, if the template has one
	opens  time.Time // the window of prod
	holds  map[place]version
}

// take puts versions into an environment.
func (s *sample) take(environment string, versions ...version) {
	for _, v := range versions {
		s.holds[place{environment, v.application}] = v
	}
}

// file returns the file of a target and its template.
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

// tree maps paths to the content of a repository.
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
