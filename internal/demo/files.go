package demo

// The files of the sample. HOST, TAG and so on are placeholders for fill.
// Quotes, comments and unusual spaces test that they are preserved.

const environments = `environments:
  dev:
    paths: ["apps/{application}/dev"]
    land: push
  staging:
    paths: ["apps/{application}/staging"]
    after: [dev]
    propose: manual            # a person asks for it
    land: push
  prod:
    paths: ["apps/{application}/prod"]
    after: {staging: {soak: 2s}}
    gates: {windows: [change]} # lands only inside the window
    land: push
`

// environmentsOnGitHub are the environments of the demo with pull requests.
const environmentsOnGitHub = `environments:
  dev:
    paths: ["apps/{application}/dev"]
    land: push
  staging:
    paths: ["apps/{application}/staging"]
    after: [dev]
    land: pr                   # a person merges
    pullRequest: {group: environment}
  prod:
    paths: ["apps/{application}/prod"]
    after: {staging: {soak: SOAK}}
    gates: {windows: [change], checks: [e2e]}
    land: automerge            # merges by itself when its gates allow
    pullRequest: {group: environment}
`

const components = `version: 1

components:
  shop: {image: HOST/acme/shop, select: {semver: ">=1.4 <2"}}
  blog: {image: HOST/acme/blog, select: {semver: "^2"}}
  mail: {image: HOST/acme/mail, select: {newest: '^main-[0-9a-f]{7,}$'}}

windows:
  change: {kind: allow, from: "OPENS"}

`

const (
	config         = components + environments
	configOnGitHub = components + environmentsOnGitHub
)

// serverFile is promoter's own config for the repository NAME at the forge URL.
const serverFile = `version: 1
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
