package modeltest

import (
	"slices"
	"strings"
	"time"

	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// environments are those that a config may have, parents first. Not every one has canary.
func environments() []string { return []string{"dev", "canary", "staging", "prod"} }

// targets are the applications in the environments, named like their files. The cart is not in
// canary: what follows canary then follows what is above it.
func targets() []string {
	var all []string
	for _, environment := range environments() {
		all = append(all, environment+"/shop")
		if environment != "canary" {
			all = append(all, environment+"/cart")
		}
	}
	return all
}

// targetOf returns a target as the state has it, by its name now.
func (s *story) targetOf(target string) state.Target {
	environment, application, _ := strings.Cut(target, "/")
	return state.Target{Environment: s.nameOf(environment), Application: application}
}

// within reports whether a target is in a scope.
func within(s *story, target string, wide state.Target) bool {
	in := s.targetOf(target)
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

// files are those at the start: everything is at 1.0.0, and no file holds anything.
func (s shape) files(config string) map[string]string {
	all := map[string]string{repo.ConfigFile: config, "README": "x\n"}
	for _, target := range targets() {
		references := []string{s.written(target, reference(worker, "1.0.0"))}
		if strings.HasSuffix(target, "/shop") {
			references = slices.Insert(references, 0, s.written(target, reference(web, "1.0.0")))
		}
		all[target+".yaml"] = list(references...)
	}
	for _, application := range []string{"shop", "cart"} {
		all["prod"+fileOfHold(application)] = goes
	}
	return all
}

// fileOfHold is the file of an application in prod with which users hold it, where the config has
// gates.hold. It says goes or stays, or is silent. It is in the folder of prod.
func fileOfHold(application string) string { return "/hold/" + application + ".yaml" }

const goes, stays = "promote: \"true\"\n", "promote: \"false\"\n"

// silent has no key, which holds too.
const silent = "promotes: \"true\"\n"

// referencesIn returns the references in the file of a target, to the repositories that are followed.
func referencesIn(s *story, commit, target string) []string {
	all := s.Store.Files(commit)
	text := strings.TrimSpace(strings.ReplaceAll(all[s.fileOf(target, all)], mirror, followed))
	return strings.Split(strings.TrimPrefix(text, "- "), "\n- ")
}

// replace commits another reference to the file of a target as a user.
func replace(s *story, target, old, now string) {
	s.t.Helper()
	branch := branchOf(s, target)
	all := s.Store.Files(s.head(branch))
	file := s.fileOf(target, all)
	content := all[file]
	s.write(branch, file, strings.ReplaceAll(content, s.written(target, old), s.written(target, now)))
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
	target := s.targetOf(anyTarget(s))
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

// The images of the stories, and where their mirrors are.
const (
	followed = "quay.io/acme/"
	mirror   = "mirror.example.com/acme/"
	web      = followed + "web"
	worker   = followed + "worker"
)
