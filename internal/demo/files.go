package demo

// The files of the sample. HOST, WEB_TAG and so on stand for what fill puts in.
// Quotes, comments and odd spaces are there to be kept.

const config = `version: 1

components:
  web:
    image: HOST/acme/web
    select: {semver: ">=1.4 <2"}
  worker:
    image: HOST/acme/worker
    select: {newest: '^main-[0-9a-f]{7,}$'}
  shop-chart:
    chart: oci://HOST/acme/charts/shop
    select: {semver: "^3"}

environments:
  dev:
    paths: ["apps/{application}/overlays/dev", "apps/{application}/charts/dev", "clusters/dev/{application}"]
  staging:
    paths: ["apps/{application}/overlays/staging", "apps/{application}/charts/staging", "clusters/staging/{application}"]
    after: [dev]
`

const kustomization = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [worker.yaml]

images:
  - name: web          # the name in the manifests
    newName: HOST/acme/web
    newTag: "WEB_TAG"    # quotes and comments stay
    digest: WEB_DIGEST
`

const manifest = `apiVersion: apps/v1
kind: Deployment
metadata: {name: worker}
spec:
  template:
    spec:
      containers:
        - {name: worker, image: 'HOST/acme/worker:WORKER_TAG@WORKER_DIGEST'}
`

const values = `# values of the chart
replicas: 2
image:
  registry: HOST
  repository: acme/web
  tag: WEB_TAG
worker:
  image:   HOST/acme/worker:WORKER_TAG   # three spaces
`

const chartSource = `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata:
  name: shop
spec:
  interval: 10m
  url: oci://HOST/acme/charts/shop
  ref: {tag: CHART_TAG}
`

const helmRelease = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: shop
spec:
  interval: 10m
  chartRef: {kind: OCIRepository, name: shop}
  values:
    image: {repository: HOST/acme/web, tag: WEB_TAG}
`
