package modeltest

import (
	"fmt"
	"strings"

	"promoter/internal/promotion"

	"promoter/internal/engine"
	"promoter/internal/image"
	"promoter/internal/state"
)

// revert takes back what a place holds.
func (s *story) revert() {
	target := s.anyPlace()
	s.byPerson()
	branch, now := s.branchOf(target), s.present(target)
	i := s.random.IntN(len(now))
	repository, _, _ := strings.Cut(now[i], ":")
	older := reference(repository, "1.0.0")
	if now[i] == older {
		s.nothing()
		return
	}
	s.tell("a person takes %s back in %s", now[i], target)
	if s.made(target, now[i]) {
		s.refused[target][now[i]] = true
	}
	content := s.Store.Files(s.head(branch))[target+".yaml"]
	s.write(branch, target+".yaml", strings.ReplaceAll(content, now[i], older))
	s.mine()
}

// made says whether promoter put a reference there: its trailers tell.
func (s *story) made(target, reference string) bool {
	for _, commit := range line(s.Store, s.head(s.branchOf(target)), "") {
		for _, landed := range promotion.ReadTrailers(commit.Trailers) {
			if state.Target(landed.Target) != placeOf(target) {
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

// moveBase changes something else on the branches.
func (s *story) moveBase() {
	s.tell("the base moves elsewhere")
	s.byPerson()
	for _, branch := range s.branches() {
		s.note(branch, "Elsewhere")
	}
	s.mine()
}

// note commits something that no place holds.
func (s *story) note(branch, message string) {
	s.commit(branch, "README", s.Store.Files(s.head(branch))["README"]+"x\n", message)
}

// forgeTrailers commits something with trailers that say what never was.
func (s *story) forgeTrailers() {
	s.push(web, "edge")
	name := s.anyPlace()
	target := placeOf(name)
	s.tell("a person forges trailers of %s", target)
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
	s.byPerson()
	s.note(s.branchOf(name), message)
	s.mine()
}

// changeConfig merges another config.
func (s *story) changeConfig() {
	s.tell("the config changes")
	s.byPerson()
	s.write("main", engine.ConfigFile, s.config(s.random))
	s.mine()
}

// rename gives the repository another name. The old one still leads to it.
func (s *story) rename() {
	if s.renamed {
		s.nothing()
		return
	}
	s.renamed = true
	s.Name = s.World.Bench.World.Rename(s.t)
	s.tell("a person renames the repository to %s", s.Name)
	s.open()
}
