package modeltest

import (
	"strings"
	"time"

	"promoter/internal/engine"
	"promoter/internal/engine/enginetest"
	"promoter/internal/state"
)

func environments() []string { return []string{"dev", "staging", "prod"} }

// places are the applications in the environments, as their files are called.
func places() []string {
	var all []string
	for _, environment := range environments() {
		all = append(all, environment+"/shop", environment+"/cart")
	}
	return all
}

// placeOf returns a place as the state knows it.
func placeOf(target string) state.Target {
	environment, application, _ := strings.Cut(target, "/")
	return state.Target{Environment: environment, Application: application}
}

// within says whether a place lies in one that may be wider.
func within(target string, wide state.Target) bool {
	in := placeOf(target)
	return (wide.Environment == state.All || wide.Environment == in.Environment) &&
		(wide.Application == state.All || wide.Application == in.Application)
}

// reference is how a file holds a version.
func reference(repository, tag string) string {
	return repository + ":" + tag + "@" + enginetest.Digest(seed(repository, tag))
}

// seed is what the stand-in makes the digest of.
func seed(repository, tag string) string {
	return repository[strings.LastIndex(repository, "/")+1:] + " " + tag
}

// list is the file of an application.
func list(references ...string) string { return "- " + strings.Join(references, "\n- ") + "\n" }

// files are those with which a story begins: everything stands at 1.0.0.
func files(config string) map[string]string {
	all := map[string]string{engine.ConfigFile: config, "README": "x\n"}
	for _, environment := range environments() {
		all[environment+"/shop.yaml"] = list(reference(web, "1.0.0"), reference(worker, "1.0.0"))
		all[environment+"/cart.yaml"] = list(reference(worker, "1.0.0"))
	}
	return all
}

// holds returns the references in the file of a place.
func (s *story) holds(commit, target string) []string {
	text := strings.TrimSpace(s.Store.Files(commit)[target+".yaml"])
	return strings.Split(strings.TrimPrefix(text, "- "), "\n- ")
}

// branches are those of the environments.
func (s *story) branches() []string {
	if s.apart {
		return []string{"main", release}
	}
	return []string{"main"}
}

// release is the branch of prod where it has one of its own.
const release = "release"

// branchOf returns the branch that a place lies on.
func (s *story) branchOf(target string) string {
	if s.apart && strings.HasPrefix(target, "prod/") {
		return release
	}
	return "main"
}

// head returns the commit of a branch; empty when it is not there.
func (s *story) head(branch string) string { return s.Store.Branches()[branch] }

// present is what a place holds now.
func (s *story) present(target string) []string { return s.holds(s.head(s.branchOf(target)), target) }

// anyPlace returns a place by chance.
func (s *story) anyPlace() string { return places()[s.random.IntN(len(places()))] }

// wide returns a place, an environment or the repository by chance.
func (s *story) wide() state.Target {
	target := placeOf(s.anyPlace())
	if s.random.IntN(4) == 0 {
		target.Application = state.All
		if s.random.IntN(2) == 0 {
			target.Environment = state.All
		}
	}
	return target
}

// wait lets time pass.
func (s *story) wait() {
	by := time.Duration(s.random.IntN(90)) * time.Minute
	s.tell("%s pass", by)
	s.Clock.Add(by)
}
