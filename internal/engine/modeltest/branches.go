package modeltest

import (
	"fmt"
	"strings"

	"promoter/internal/promotion"

	"promoter/internal/engine"
	"promoter/internal/image"
	"promoter/internal/state"
)

// revert reverts a reference of a target.
func (s *story) revert() {
	target := s.anyTarget()
	s.acceptCurrent()
	branch, now := s.branchOf(target), s.current(target)
	i := s.random.IntN(len(now))
	repository, _, _ := strings.Cut(now[i], ":")
	older := reference(repository, "1.0.0")
	if now[i] == older {
		s.skip()
		return
	}
	s.log("a user reverts %s in %s", now[i], target)
	if s.madeByPromoter(target, now[i]) {
		s.refused[target][now[i]] = true
	}
	content := s.Store.Files(s.head(branch))[target+".yaml"]
	s.write(branch, target+".yaml", strings.ReplaceAll(content, now[i], older))
	s.acceptUserChange()
}

// madeByPromoter reports whether promoter landed a reference, by its trailers.
func (s *story) madeByPromoter(target, reference string) bool {
	for _, commit := range line(s.Store, s.head(s.branchOf(target)), "") {
		for _, landed := range promotion.ReadTrailers(commit.Trailers) {
			if state.Target(landed.Target) != targetOf(target) {
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
func (s *story) moveBase() {
	s.log("an unrelated commit on the base")
	s.acceptCurrent()
	for _, branch := range s.branches() {
		s.commitNote(branch, "Elsewhere")
	}
	s.acceptUserChange()
}

// commitNote commits something outside every target.
func (s *story) commitNote(branch, message string) {
	s.commit(branch, "README", s.Store.Files(s.head(branch))["README"]+"x\n", message)
}

// forgeTrailers commits something with false trailers.
func (s *story) forgeTrailers() {
	s.push(web, "edge")
	name := s.anyTarget()
	target := targetOf(name)
	s.log("a user forges trailers of %s", target)
	parsed, err := image.Parse(reference(web, "edge"))
	if err != nil {
		s.t.Fatal(err)
	}
	message := "Nice work\n\n"
	for _, t := range promotion.Trailers(target.Environment, map[string]promotion.Snapshot{target.Application: {
		"web": {Repository: parsed.Repository, Version: image.Version{Tag: parsed.Tag, Digest: parsed.Digest}},
	}}) {
		message += fmt.Sprintf("%s: %s\n", t.Key, t.Value)
	}
	s.acceptCurrent()
	s.commitNote(s.branchOf(name), message)
	s.acceptUserChange()
}

// changeConfig commits another config.
func (s *story) changeConfig() {
	s.log("the config changes")
	s.acceptCurrent()
	s.write("main", engine.ConfigFile, s.config(s.random))
	s.acceptUserChange()
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
