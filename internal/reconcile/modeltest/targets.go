package modeltest

import (
	"math/rand/v2"
	"strings"
	"time"

	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/repo"
	"promoter/internal/state"
)

func environments() []string { return []string{"dev", "staging", "prod"} }

// targets are the applications in the environments, named like their files.
func targets() []string {
	var all []string
	for _, environment := range environments() {
		all = append(all, environment+"/shop", environment+"/cart")
	}
	return all
}

// targetOf returns a target as the state has it.
func targetOf(target string) state.Target {
	environment, application, _ := strings.Cut(target, "/")
	return state.Target{Environment: environment, Application: application}
}

// within reports whether a target is in a scope.
func within(target string, wide state.Target) bool {
	in := targetOf(target)
	return (wide.Environment == state.All || wide.Environment == in.Environment) &&
		(wide.Application == state.All || wide.Application == in.Application)
}

// reference is how a file contains a version.
func reference(repository, tag string) string {
	return repository + ":" + tag + "@" + reconciletest.Digest(seed(repository, tag))
}

// seed is the content of an image.
func seed(repository, tag string) string {
	return repository[strings.LastIndex(repository, "/")+1:] + " " + tag
}

// list is the file of an application.
func list(references ...string) string { return "- " + strings.Join(references, "\n- ") + "\n" }

// files are those at the start: everything is at 1.0.0.
func files(config string) map[string]string {
	all := map[string]string{repo.ConfigFile: config, "README": "x\n"}
	for _, environment := range environments() {
		all[environment+"/shop.yaml"] = list(reference(web, "1.0.0"), reference(worker, "1.0.0"))
		all[environment+"/cart.yaml"] = list(reference(worker, "1.0.0"))
	}
	return all
}

// referencesIn returns the references in the file of a target.
func referencesIn(s *story, commit, target string) []string {
	text := strings.TrimSpace(s.Store.Files(commit)[target+".yaml"])
	return strings.Split(strings.TrimPrefix(text, "- "), "\n- ")
}

// branches returns the branches of the environments.
func (s *story) branches() []string {
	if s.ownBranch {
		return []string{"main", release}
	}
	return []string{"main"}
}

// release is the branch of prod where it has its own.
const release = "release"

// branchOf returns the branch of a target.
func branchOf(s *story, target string) string {
	if s.ownBranch && strings.HasPrefix(target, "prod/") {
		return release
	}
	return "main"
}

// head returns the head of a branch; empty when it does not exist.
func (s *story) head(branch string) string { return s.Store.Branches()[branch] }

// currentReferences returns the current references of a target.
func currentReferences(s *story, target string) []string {
	return referencesIn(s, s.head(branchOf(s, target)), target)
}

// anyTarget returns a random target.
func anyTarget(s *story) string { return targets()[s.random.IntN(len(targets()))] }

// anyScope returns a random target, environment, or everything.
func anyScope(s *story) state.Target {
	target := targetOf(anyTarget(s))
	if s.random.IntN(4) == 0 {
		target.Application = state.All
		if s.random.IntN(2) == 0 {
			target.Environment = state.All
		}
	}
	return target
}

// wait advances the clock.
func (s *story) wait() {
	by := time.Duration(s.random.IntN(90)) * time.Minute
	s.log("%s pass", by)
	s.Clock.Add(by)
}

// The images of the stories.
const web, worker = "quay.io/acme/web", "quay.io/acme/worker"

// shape is what a story keeps when its config changes.
type shape struct {
	pushOnly  bool
	moving    bool // worker has a moving tag
	ownBranch bool // prod has a branch of its own
	byCheck   bool // the health of staging is a commit status
	verified  bool // the server requires signatures
}

// config returns a random config.
func (s shape) config(random *rand.Rand) string {
	text := `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
  worker: {image: quay.io/acme/worker, WORKER}
applications:
  "*": {SETTLE}
environments:
  dev: {paths: ["dev/{application}.yaml"], land: LAND, HEALTH1}
  staging: {paths: ["staging/{application}.yaml"], after: {dev: {SOAK}}, land: PR, NEWER GROUP HEALTH2}
  prod: {BRANCH paths: ["prod/{application}.yaml"], after: {staging: {WELL}}, land: AUTO, PROPOSE GROUP HEALTH3 GATES}
`
	branch := ""
	if s.ownBranch {
		branch = "branch: release,"
	}
	text = strings.ReplaceAll(text, "BRANCH", branch)
	pick := func(choices ...string) string { return choices[random.IntN(len(choices))] }
	set := func(key string, choices ...string) { text = strings.ReplaceAll(text, key, pick(choices...)) }
	set("SETTLE", "", "", "settle: 5m")
	monitor := func(key, health string) bool {
		set(key, "", health+"},", health+", onFailure: rollback},")
		return strings.Contains(text, health)
	}
	if monitor("HEALTH1", healthOfDev) {
		set("SOAK", "", "soak: 1h", "healthy: true", "healthy: true, soak: 1h")
	}
	set("SOAK", "", "", "soak: 1h")
	staging := healthOfStaging
	if s.byCheck {
		staging = healthByCheck
	}
	if monitor("HEALTH2", staging) {
		set("WELL", "", "healthy: true", "healthy: true, soak: 1h")
	}
	set("WELL", "")
	monitor("HEALTH3", healthOfProd)
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

// pushes reports whether a release lands in dev without a user.
func pushes(config string) bool {
	return strings.Contains(config, `dev/{application}.yaml"], land: push`)
}
