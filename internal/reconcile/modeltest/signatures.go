package modeltest

import (
	"maps"
	"slices"
	"strings"

	"promoter/internal/config/trust"
	"promoter/internal/image"
	"promoter/internal/promotion"
)

// required is what the server requires about all images, where it requires something.
func required(image.Repository) []trust.Requirement {
	return []trust.Requirement{{Key: "of the server"}}
}

// sign signs a release, so that it may be promoted.
func (s *story) sign(reference string) {
	s.signed[digestOf(reference)] = true
	s.Registry.Sign(digestOf(reference), image.Signature{By: "key of the server"})
}

// maybeSign signs a release, or signs it with another key, or not.
func maybeSign(s *story, reference string) {
	switch chance := s.random.IntN(10); {
	case s.signed[digestOf(reference)]:
	case chance < 7:
		s.sign(reference)
	case chance < 8 && s.verified:
		s.log("  which is wrongly signed")
		s.Registry.Sign(digestOf(reference), image.Signature{Problem: "wrongly signed", Wrong: true})
	case s.verified:
		s.log("  which is not signed")
	}
}

// signLate signs a release that was not signed, or wrongly.
func signLate(s *story) {
	var unsigned []string
	for _, reference := range slices.Sorted(maps.Keys(s.minorOf)) {
		if !s.signed[digestOf(reference)] {
			unsigned = append(unsigned, reference)
		}
	}
	if len(unsigned) == 0 || !s.verified {
		s.skip()
		return
	}
	reference := unsigned[s.random.IntN(len(unsigned))]
	s.log("%s is signed", reference)
	s.sign(reference)
}

// signaturesDown reconciles while signatures cannot be read: no image is written or merged.
func signaturesDown(s *story) {
	if !s.verified {
		s.skip()
		return
	}
	s.check()
	s.readState()
	s.log("run without signatures")
	before := s.Store.Branches()
	s.Registry.SignaturesDown = true
	s.reconcile()
	s.Registry.SignaturesDown = false
	for branch, head := range s.Store.Branches() {
		from := before[branch]
		if _, ours := promotion.ParseHead(branch); ours {
			from = parentOf(s, head)
		}
		if before[branch] == head {
			continue
		}
		for _, target := range targets() {
			if was, is := referencesIn(s, from, target), referencesIn(s, head, target); !slices.Equal(was, is) {
				s.t.Errorf("%s in %s went from %v to %v while no signature could be read", target, branch, was, is)
			}
		}
	}
}

// checkHeads checks that no head of ours has an image that was never signed.
func checkHeads(s *story) {
	s.t.Helper()
	for branch, head := range s.Store.Branches() {
		if _, ours := promotion.ParseHead(branch); !ours || !s.verified || s.userHeads[branch] != "" || s.checkedHeads[head] {
			continue
		}
		s.checkedHeads[head] = true
		for _, target := range targets() {
			was := referencesIn(s, parentOf(s, head), target)
			for _, reference := range referencesIn(s, head, target) {
				if !slices.Contains(was, reference) && !s.signed[digestOf(reference)] {
					s.t.Errorf("%s has %s, which is not signed", branch, reference)
				}
			}
		}
	}
}

// digestOf returns the digest of a reference.
func digestOf(reference string) string {
	_, digest, _ := strings.Cut(reference, "@")
	return digest
}

func digestsOf(references []string) []string {
	var digests []string
	for _, reference := range references {
		digests = append(digests, digestOf(reference))
	}
	return digests
}

// snapshotOf returns the snapshot with references, of which some may be empty.
func snapshotOf(s *story, references ...string) promotion.Snapshot {
	snapshot := promotion.Snapshot{}
	for _, text := range references {
		if text == "" {
			continue
		}
		parsed, err := image.Parse(text)
		if err != nil {
			s.t.Fatal(err)
		}
		component := parsed.Repository.String()
		snapshot[component[strings.LastIndex(component, "/")+1:]] = promotion.Pinned{
			Repository: parsed.Repository, Version: parsed.Version(),
		}
	}
	return snapshot
}
