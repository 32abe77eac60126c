package modeltest

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// A story knows its environments by the names that they have at its start. Users may give them other names and
// folders, which no environment had before, and use the earlier name for an environment without files.

// names are the names and folders that environments ever had, the last one now.
type names struct {
	named   map[string][]string // by the name at the start
	folders map[string][]string
	dummies map[string]bool // earlier names that an environment without files has now
}

func newNames() *names {
	n := &names{named: map[string][]string{}, folders: map[string][]string{}, dummies: map[string]bool{}}
	for _, environment := range environments() {
		n.named[environment], n.folders[environment] = []string{environment}, []string{environment}
	}
	return n
}

// of returns the names that an environment ever had.
func (n *names) of(environment string) []string { return n.named[environment] }

// nameOf returns the name of an environment now.
func (n *names) nameOf(environment string) string { return last(n.named[environment]) }

// folder returns the folder of an environment now.
func (n *names) folder(environment string) string { return last(n.folders[environment]) }

// known reports whether an environment ever had a name.
func (n *names) known(name string) bool {
	return slices.ContainsFunc(environments(), func(e string) bool { return slices.Contains(n.named[e], name) })
}

// dummyOf returns the config of the environments that have earlier names of one.
func (n *names) dummyOf(environment string) (text string) {
	for _, name := range n.named[environment] {
		if n.dummies[name] {
			text += "  " + name + `: {paths: ["none/{application}.yaml"], propose: never}` + "\n"
		}
	}
	return text
}

func (s shape) nameOf(environment string) string { return s.names.nameOf(environment) }

func last(all []string) string { return all[len(all)-1] }

// configNow returns the config with the names of now. Another one needs another seed.
func (s *story) configNow() string {
	return s.config(rand.New(rand.NewPCG(s.configSeed, 2))) //nolint:gosec // stories, not secrets
}

// logical returns a target, by the name of its environment at the start.
func (s *story) logical(target state.Target) string {
	for _, environment := range environments() {
		if slices.Contains(s.names.of(environment), target.Environment) {
			return environment + "/" + target.Application
		}
	}
	return target.Environment + "/" + target.Application
}

// headOf returns the branch of the pull requests of a target.
func headOf(s *story, target string) string {
	return promotion.HeadBranch(s.targetOf(target).Environment, s.targetOf(target).Application)
}

// folderOf returns the folder that an environment has among files.
func (s *story) folderOf(environment string, files map[string]string) string {
	for _, folder := range slices.Backward(s.names.folders[environment]) {
		for _, application := range []string{"shop", "cart"} {
			if _, found := files[folder+"/"+application+".yaml"]; found {
				return folder
			}
		}
	}
	return s.names.folder(environment)
}

// fileOf returns the file that a target has among files.
func (s *story) fileOf(target string, files map[string]string) string {
	environment, application, _ := strings.Cut(target, "/")
	return s.folderOf(environment, files) + "/" + application + ".yaml"
}

// everAt yields a target under each name that it ever had, the last one first.
func everAt(s *story, target string) iter.Seq[state.Target] {
	return func(yield func(state.Target) bool) {
		environment, application, _ := strings.Cut(target, "/")
		for _, name := range slices.Backward(s.names.of(environment)) {
			if !yield(state.Target{Environment: name, Application: application}) {
				return
			}
		}
	}
}

// stoppedIn returns the hold or freeze that stopped a target before the step, under any name that it ever had.
func stoppedIn(s *story, target string, thawed bool) (state.Held, bool) {
	for at := range everAt(s, target) {
		held, stopped := s.stored.Held(at, latest(s))
		if stopped && held.Freeze && thawed {
			held, stopped = s.stored.HeldWithoutFreezes(at, latest(s))
		}
		if stopped {
			return held, true
		}
	}
	return state.Held{}, false
}

// renameEnvironment gives an environment another name, and maybe other files in the same commit.
func renameEnvironment(s *story) { renameIn(s, true, s.Rewrite != nil && s.random.IntN(2) == 0) }

// moveFolder moves the files of an environment.
func moveFolder(s *story) { renameIn(s, false, true) }

func renameIn(s *story, name, folder bool) {
	environment := oneOf(s.random, environments()...)
	if _, known := settingsOf(s, s.Store.Files(s.head("main"))[repo.ConfigFile], environment+"/shop"); !known {
		s.skip()
		return
	}
	acceptCurrent(s)
	branch := branchOf(s, environment+"/")
	before, was := s.names.folder(environment), s.nameOf(environment)
	if name {
		now := fmt.Sprintf("%s%d", environment, len(s.names.of(environment))+1)
		s.names.named[environment] = append(s.names.of(environment), now)
		if s.random.IntN(3) == 0 {
			s.names.dummies[was] = true
		}
		for _, target := range targets() { // requests, rollbacks, and bypasses do not move
			if strings.HasPrefix(target, environment+"/") {
				delete(s.rolledBack, target)
				delete(s.bypassing, target)
			}
		}
	}
	if folder { // in other files, a revert in Git cannot be found
		for _, target := range targets() {
			if strings.HasPrefix(target, environment+"/") {
				maps.DeleteFunc(s.refused[target], func(reference string, _ bool) bool { return s.byRevert[target+" "+reference] })
			}
		}
		s.names.folders[environment] = append(s.names.folders[environment], fmt.Sprintf("%s-%d", environment, len(s.names.folders[environment])+1))
	}
	now, text := s.names.folder(environment), s.configNow()
	s.log("a user renames %s to %s, and its folder %s to %s; dummies: %v", was, s.nameOf(environment), before, now, slices.Sorted(maps.Keys(s.names.dummies)))
	change := func(all map[string]string) {
		for path, content := range maps.Clone(all) {
			if rest, within := strings.CutPrefix(path, before+"/"); within && folder {
				delete(all, path)
				all[now+"/"+rest] = content
			}
		}
		if branch == "main" {
			all[repo.ConfigFile] = text
		}
	}
	if folder {
		s.Rewrite(branch, "Move "+before, change)
	}
	if !folder || branch != "main" {
		s.write("main", repo.ConfigFile, text)
	}
	acceptUserChange(s)
}
