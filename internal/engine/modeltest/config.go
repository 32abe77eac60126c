package modeltest

import (
	"math/rand/v2"
	"strings"
)

// The images that the stories are about.
const web, worker = "quay.io/acme/web", "quay.io/acme/worker"

// shape is what a story keeps when its config changes.
type shape struct {
	pushOnly bool
	moving   bool // worker is followed by a tag that moves
	apart    bool // prod lies on a branch of its own
}

// config makes a config by chance.
func (s shape) config(random *rand.Rand) string {
	text := `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
  worker: {image: quay.io/acme/worker, WORKER}
applications:
  "*": {SETTLE}
environments:
  dev: {paths: ["dev/{application}.yaml"], land: LAND}
  staging: {paths: ["staging/{application}.yaml"], after: {dev: {SOAK}}, land: PR, NEWER GROUP}
  prod: {BRANCH paths: ["prod/{application}.yaml"], after: [staging], land: AUTO, PROPOSE GROUP GATES}
`
	branch := ""
	if s.apart {
		branch = "branch: release,"
	}
	text = strings.ReplaceAll(text, "BRANCH", branch)
	pick := func(choices ...string) string { return choices[random.IntN(len(choices))] }
	set := func(key string, choices ...string) { text = strings.ReplaceAll(text, key, pick(choices...)) }
	set("SETTLE", "", "", "settle: 5m")
	set("SOAK", "", "", "soak: 1h")
	set("NEWER", "", "newer: queue,", "newer: refresh,", "newer: drain,")
	set("PROPOSE", "", "", "propose: manual,")
	if s.moving {
		set("WORKER", "select: {tag: released}, pin: tag+digest")
	}
	set("WORKER", `select: {semver: ">=1"}`)
	if s.pushOnly {
		set("GATES", "")
		return strings.NewReplacer("LAND", "push", "PR", "push", "AUTO", "push", "GROUP", "").Replace(text)
	}
	set("LAND", "push", "push", "pr", "automerge")
	set("PR", "pr")
	set("AUTO", "automerge")
	set("GROUP", "", "", "pullRequest: {group: environment},")
	set("GATES", "", "", gateChecks, gateApprovals)
	return text
}

// The gates that prod may have.
const (
	gateChecks    = "gates: {checks: [ci]}"
	gateApprovals = "gates: {approvals: {count: 1, from: [ann, bob]}}"
)

// pushes says whether what is released lands in dev by itself.
func pushes(config string) bool {
	return strings.Contains(config, `dev/{application}.yaml"], land: push`)
}
