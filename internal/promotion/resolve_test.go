package promotion_test

import (
	"testing"

	"promoter/internal/image"
	"promoter/internal/promotion"
)

// Versions agree if each is the same rollout as each other one.
func TestAgree_isEachWithEachOther(t *testing.T) {
	t.Parallel()
	all := []image.Version{{}, {Tag: "1"}, {Tag: "2"}, {Digest: "a"}, {Tag: "1", Digest: "a"}, {Tag: "2", Digest: "a"}, {Tag: "1", Digest: "b"}}
	pairwise := func(versions []image.Version) bool {
		for i := range versions {
			for j := range versions[:i] {
				if !promotion.SameRollout(versions[i], versions[j]) {
					return false
				}
			}
		}
		return true
	}
	agreed := 0
	for _, a := range all {
		for _, b := range all {
			for _, c := range all {
				for _, versions := range [][]image.Version{{a}, {a, b}, {a, b, c}} {
					got, want := promotion.Agree(versions), pairwise(versions)
					if got != want {
						t.Errorf("%v: %t, want %t", versions, got, want)
					}
					if want {
						agreed++
					}
				}
			}
		}
	}
	if agreed == 0 || !promotion.Agree(nil) {
		t.Errorf("%d agree", agreed)
	}
}
