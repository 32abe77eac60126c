package modeltest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/reconcile/reconciletest"
)

// builds is how far apart the orders of two minor versions are: as many builds of a tag have one in between.
const builds = 100

// mirror copies a release to the mirror.
func (s *story) mirror(reference string) {
	repository, tag, content, known := contentOf(s, reference)
	if !known {
		return
	}
	s.copied[digestOf(reference)] = true
	s.Registry.Push(mirror+strings.TrimPrefix(repository, followed), tag, content, s.Clock.Now().Add(-time.Minute))
}

// contentOf returns the content of a release: the first build of a tag, or a later one.
func contentOf(s *story, of string) (repository, tag, content string, known bool) {
	repository, rest, _ := strings.Cut(of, ":")
	tag, _, _ = strings.Cut(rest, "@")
	content = seed(repository, tag)
	if again, rebuilt := s.rebuilt[of]; rebuilt {
		content = again
	}
	return repository, tag, content, strings.HasSuffix(of, "@"+reconciletest.Digest(content))
}

// releases returns the references to all releases with tags of their own, sorted.
func releases(s *story) (all []string) {
	for _, of := range slices.Sorted(maps.Keys(s.minorOf)) {
		if _, _, _, known := contentOf(s, of); known && s.minorOf[of] != unselected {
			all = append(all, of)
		}
	}
	return all
}

// catchUp copies everything to the mirror.
func catchUp(s *story) {
	if !s.mirrored {
		s.skip()
		return
	}
	s.log("the mirror catches up")
	for _, of := range releases(s) {
		if !s.deleted[of] {
			s.mirror(of)
		}
	}
}

// loseMirrored deletes a release from the mirror.
func loseMirrored(s *story) {
	all := releases(s)
	lost := all[s.random.IntN(len(all))]
	if !s.mirrored || s.minorOf[lost] == 0 {
		s.skip()
		return
	}
	s.log("the mirror loses %s", lost)
	repository, _, _ := strings.Cut(lost, ":")
	s.Registry.Delete(mirror+strings.TrimPrefix(repository, followed), digestOf(lost))
}

// deleteImage deletes a release from the registry, or pushes one again that was deleted.
func deleteImage(s *story) {
	if gone := slices.Sorted(maps.Keys(s.deleted)); len(gone) > 0 && s.random.IntN(2) == 0 {
		again := gone[s.random.IntN(len(gone))]
		s.log("%s is pushed again", again)
		repository, tag, _, _ := contentOf(s, again)
		s.Registry.Tag(repository, tag, digestOf(again))
		delete(s.deleted, again)
		return
	}
	all := slices.DeleteFunc(releases(s), func(of string) bool {
		return s.deleted[of] || s.minorOf[of] == 0 || isRebuilt(s, of)
	})
	if len(all) == 0 {
		s.skip()
		return
	}
	gone := all[s.random.IntN(len(all))]
	s.log("%s is deleted", gone)
	repository, _, _ := strings.Cut(gone, ":")
	s.deleted[gone] = true
	s.Registry.Delete(repository, digestOf(gone))
}

// isRebuilt reports whether the tag of a release has several builds.
func isRebuilt(s *story, of string) bool {
	return s.rebuilt[of] != "" || slices.ContainsFunc(slices.Collect(maps.Keys(s.rebuilt)), func(later string) bool {
		name, _, _ := strings.Cut(later, "@")
		return strings.HasPrefix(of, name+"@")
	})
}

// isDeleted reports whether the registry does not have a digest any more.
func isDeleted(s *story, digest string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(s.deleted)), func(of string) bool { return digestOf(of) == digest })
}

// rebuild pushes another image under the tag of a release of web.
func rebuild(s *story) {
	n := s.random.IntN(s.released[web] + 1)
	tag := fmt.Sprintf("1.%d.0", n)
	if n == 0 || s.deleted[reference(web, tag)] {
		s.skip()
		return
	}
	s.builds++
	content := fmt.Sprintf("%s, build %d", seed(web, tag), s.builds)
	of := web + ":" + tag + "@" + reconciletest.Digest(content)
	s.log("web %s is built again: %s", tag, of)
	s.Registry.Push(web, tag, content, s.Clock.Now().Add(-time.Minute))
	s.rebuilt[of], s.minorOf[of], s.releasedAt[digestOf(of)] = content, n*builds+s.builds, s.Clock.Now()
	maybeSign(s, of)
	if s.random.IntN(2) == 0 {
		s.mirror(of)
	}
}

// moveStable points the tag stable of an image to one of its releases, most often to what a target has.
func moveStable(s *story) {
	all := releases(s)
	of := all[s.random.IntN(len(all))]
	required := requiredIn(s, func(p parent) bool { return p.Tagged != "" })
	if len(required) > 0 && s.random.IntN(4) > 0 {
		of = oneOf(s.random, currentReferences(s, oneOf(s.random, required...))...)
	}
	if len(required) == 0 || s.minorOf[of] == unselected || isDeleted(s, digestOf(of)) {
		s.skip()
		return
	}
	s.log("%s is stable", of)
	repository, _, _ := strings.Cut(of, ":")
	s.stable[digestOf(of)] = true
	s.Registry.Tag(repository, stable, digestOf(of))
}
