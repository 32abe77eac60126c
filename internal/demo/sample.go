package demo

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// version is one pushed image.
type version struct {
	application      string
	tag, digest      string
	created          time.Time
	source, revision string // in the labels of the image
}

func (v version) String() string { return v.application + " " + v.tag }

// made returns a version that is not pushed yet.
func made(application, tag string, day int) version {
	return version{application: application, tag: tag, created: time.Date(2026, time.March, day, 9, 30, 0, 0, time.UTC)}
}

// shopCommits are the subjects of the source commits of each version of the shop.
func shopCommits() map[string][]string {
	return map[string][]string{
		"1.4.2": {"Sort products by name"},
		"1.5.0": {"Show prices with taxes", "Keep the cart for a day"},
		"1.6.0": {"Start with a new checkout"},
		"1.6.1": {"Find the settings of the new checkout"},
	}
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

// The files of the sample. HOST, TAG and so on are placeholders for fill.
// Quotes, comments and unusual spaces test that they are preserved.

const environments = `environments:
  dev: {paths: ["apps/{application}/dev"], land: push}
  staging: {paths: ["apps/{application}/staging"], land: push, after: [dev],
    propose: manual}
  prod: {paths: ["apps/{application}/prod"], land: push,
    after: {staging: {soak: 2s}}, gates: {windows: [change]}}
`

// environmentsWithHealth are the same, but prod gets what the tests report healthy.
const environmentsWithHealth = `environments:
  dev: {paths: ["apps/{application}/dev"], land: push}
  staging: {paths: ["apps/{application}/staging"], land: push, after: [dev],
    propose: manual, health: {api: true, from: tests, timeout: 2s, onFailure: rollback}}
  prod: {paths: ["apps/{application}/prod"], land: push,
    after: {staging: {healthy: true}}, gates: {windows: [change]}}
`

// environmentsOnGitHub are the environments of the demo with pull requests.
const environmentsOnGitHub = `environments:
  dev: {paths: ["apps/{application}/dev"], land: push}
  staging: {paths: ["apps/{application}/staging"], land: pr, after: [dev],
    pullRequest: {group: environment}}
  prod: {paths: ["apps/{application}/prod"], land: automerge,
    after: {staging: {soak: SOAK}}, gates: {windows: [change], checks: [e2e]},
    pullRequest: {group: environment}}
`

const components = `version: 1

components:
  shop: {image: HOST/acme/shop, select: {semver: ">=1.4 <2"}}
  blog: {image: HOST/acme/blog, select: {semver: "^2"}}
  mail: {image: HOST/acme/mail, select: {newest: '^main-[0-9a-f]{7,}$'}}

windows: {change: {kind: allow, from: "OPENS"}}

`

const (
	config           = components + environments
	configWithHealth = components + environmentsWithHealth
	configOnGitHub   = components + environmentsOnGitHub
)

// serverFileOnGitHub is promoter's own config for the repository NAME at the forge URL.
const serverFileOnGitHub = `version: 1
forges:
  github: {kind: github, url: "URL", token: "env:TOKEN", insecure: true}
repositories:
  - {forge: github, name: NAME}
registries:
  - {host: "HOST", insecure: true}
networks: [127.0.0.0/8]
`

const kustomization = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../base]

images:
  - name: shop           # the name in the manifests
    newName: HOST/acme/shop
    newTag: "TAG"      # quotes and comments stay
    digest: DIGEST
`

const values = `# values of the chart
replicas: 2
image:
  registry: HOST
  repository:   acme/blog   # three spaces
  tag: TAG
`

const manifest = `apiVersion: apps/v1
kind: Deployment
metadata: {name: mail}
spec:
  template:
    spec:
      containers:
        - {name: mail, image: 'HOST/acme/mail:TAG@DIGEST'}
`
