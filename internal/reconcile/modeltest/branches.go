package modeltest

import (
	"fmt"
	"slices"
	"strings"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// revert reverts a reference of a target.
func revert(s *story) {
	target := anyTarget(s)
	acceptCurrent(s)
	now := currentReferences(s, target)
	i := s.random.IntN(len(now))
	repository, _, _ := strings.Cut(now[i], ":")
	older := reference(repository, "1.0.0")
	if now[i] == older {
		s.skip()
		return
	}
	s.log("a user reverts %s in %s", now[i], target)
	if madeByPromoter(s, target, now[i]) {
		s.refused[target][now[i]] = true
		s.byRevert[target+" "+now[i]] = true
	}
	replace(s, target, now[i], older)
	acceptUserChange(s)
}

// madeByPromoter reports whether promoter landed a reference in the file that a target has now, by its trailers.
func madeByPromoter(s *story, target, reference string) bool {
	file := s.fileOf(target, s.Store.Files(s.head(branchOf(s, target))))
	for _, commit := range line(s.Store, s.head(branchOf(s, target)), "") {
		if s.fileOf(target, s.Store.Files(commit.ID)) != file {
			return false
		}
		for _, landed := range promotion.ReadTrailers(commit.Trailers) {
			if !slices.Contains(slices.Collect(everAt(s, target)), state.Target(landed.Target)) {
				continue
			}
			for _, pinned := range landed.Snapshot {
				if pinned.String() == reference {
					return true
				}
			}
		}
	}
	return false
}

// moveBase commits something unrelated to the branches.
func moveBase(s *story) {
	s.log("an unrelated commit on the base")
	acceptCurrent(s)
	for _, branch := range s.branches() {
		commitNote(s, branch, "Elsewhere")
	}
	acceptUserChange(s)
}

// commitNote commits something outside every target.
func commitNote(s *story, branch, message string) {
	s.commit(branch, "README", s.Store.Files(s.head(branch))["README"]+"x\n", message)
}

// forgeTrailers commits something with false trailers.
func forgeTrailers(s *story) {
	s.push(web, "edge")
	name, tag := anyTarget(s), "edge"
	if s.random.IntN(2) == 0 {
		tag = fmt.Sprintf("1.%d.0", s.released[web]+1) // which must still be promoted
	}
	target := s.targetOf(name)
	s.log("a user forges trailers of web %s in %s", tag, target)
	parsed, err := image.Parse(reference(web, tag))
	if err != nil {
		s.t.Fatal(err)
	}
	message := "Nice work\n\n"
	for _, t := range promotion.Trailers(target.Environment, map[string]promotion.Snapshot{target.Application: {
		"web": {Repository: parsed.Repository, Version: parsed.Version()},
	}}, nil) {
		message += fmt.Sprintf("%s: %s\n", t.Key, t.Value)
	}
	acceptCurrent(s)
	commitNote(s, branchOf(s, name), message)
	acceptUserChange(s)
}

// writeUnselected writes a version into a target that the config does not select.
func writeUnselected(s *story) {
	s.push(web, "edge")
	target := oneOf(s.random, environments()...) + "/shop"
	s.log("a user writes web edge into %s", target)
	acceptCurrent(s)
	edge := reference(web, "edge")
	s.minorOf[edge] = unselected
	replace(s, target, currentReferences(s, target)[0], edge)
	acceptUserChange(s)
}

// writeReleased writes the newest version into a target, whether it is signed or not.
func writeReleased(s *story) {
	target, newest := anyTarget(s), reference(worker, s.newest(worker))
	i := slices.IndexFunc(currentReferences(s, target), func(held string) bool { return strings.HasPrefix(held, worker+":") })
	if now := currentReferences(s, target); s.minorOf[now[i]] < s.minorOf[newest] {
		s.log("a user writes %s into %s", newest, target)
		acceptCurrent(s)
		replace(s, target, now[i], newest)
		acceptUserChange(s)
		return
	}
	s.skip()
}

// unselected is the minor version of a reference that promoter may not bring anywhere.
const unselected = -1

// holdFile changes whether a file holds an application in prod.
func holdFile(s *story) {
	application := oneOf(s.random, "shop", "cart")
	branch := branchOf(s, "prod/"+application)
	now := goes
	all := s.Store.Files(s.head(branch))
	file := s.folderOf("prod", all) + fileOfHold(application)
	if all[file] == goes {
		now = oneOf(s.random, stays, silent)
	}
	s.log("a user writes %q for %s in prod", strings.TrimSpace(now), application)
	acceptCurrent(s)
	s.write(branch, file, now)
	acceptUserChange(s)
}

// changeConfig commits another config.
func changeConfig(s *story) {
	s.configSeed = s.random.Uint64()
	text := s.configNow()
	s.log("the config changes\n%s", text)
	acceptCurrent(s)
	s.write("main", repo.ConfigFile, text)
	acceptUserChange(s)
}

// rename renames the repository. The old name still leads to it.
func (s *story) rename() {
	if s.renamed {
		s.skip()
		return
	}
	s.renamed = true
	s.Name = s.World.Bench.World.Rename(s.t)
	s.log("a user renames the repository to %s", s.Name)
	s.open()
}
