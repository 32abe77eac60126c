package promotion_test

import (
	"strings"
	"testing"

	"promoter/internal/promotion"

	"promoter/internal/image"
	"promoter/internal/promotion/promotiontest"
)

// The ID is part of commits in users' repositories: it must not change.
func TestSnapshot_ID_isStable(t *testing.T) {
	t.Parallel()
	snapshot := promotion.Snapshot{
		"web":    {Repository: promotiontest.Repository("web"), Version: image.Version{Tag: "1.5.0", Digest: promotiontest.DigestA, Version: "1.5.0"}},
		"worker": {Repository: promotiontest.Repository("worker"), Version: image.Version{Tag: "2.0.0"}},
	}
	const want = "v1:1103a49663e1d1c67bd8539089bdde8397ba3b026fee458ce62059438ac93a8d"
	if got := snapshot.ID(); got != want {
		t.Errorf("id %s, want %s", got, want)
	}
}

func TestSnapshot_ID_dependsOnVersionsOnly(t *testing.T) {
	t.Parallel()
	a := promotion.Snapshot{"web": {Repository: promotiontest.Repository("web"), Version: image.Version{Tag: "1", Digest: promotiontest.DigestA}}}
	b := promotion.Snapshot{"web": {Repository: promotiontest.Repository("web"), Version: image.Version{
		Tag: "1", Digest: promotiontest.DigestA, Created: promotiontest.Noon, Revision: "abc", Platforms: []string{"linux/amd64"},
	}}}
	if a.ID() != b.ID() {
		t.Error("facts about an image changed the id of the snapshot")
	}
	c := promotion.Snapshot{"web": {Repository: promotiontest.Repository("web"), Version: image.Version{Tag: "1", Digest: promotiontest.DigestB}}}
	if a.ID() == c.ID() || !strings.HasPrefix(c.ID(), "v1:") {
		t.Error("another digest has the same id")
	}
}

func TestSameRollout(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		a, b string
		want bool
	}{
		{"one digest, two tags", "1.0@" + promotiontest.DigestA, "1.1@" + promotiontest.DigestA, true},
		{"one tag, two digests", "1.0@" + promotiontest.DigestA, "1.0@" + promotiontest.DigestB, false},
		{"tags alone", "1.0", "1.0", true},
		{"a digest on one side", "1.0@" + promotiontest.DigestA, "1.0", true},
		{"other tags, a digest on one side", "1.0@" + promotiontest.DigestA, "1.1", false},
		{"nothing known", "", "", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := promotion.SameRollout(promotiontest.Version(test.a), promotiontest.Version(test.b)); got != test.want {
				t.Errorf("SameRollout(%q, %q) = %v", test.a, test.b, got)
			}
			if got := promotion.SameRollout(promotiontest.Version(test.b), promotiontest.Version(test.a)); got != test.want {
				t.Errorf("SameRollout(%q, %q) = %v", test.b, test.a, got)
			}
		})
	}
}

func TestShortDigest(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		promotiontest.DigestA: "sha256:aaaaaaaaaaaa",
		"sha256:abc":          "sha256:abc",
		"":                    "",
		"odd":                 "odd",
	} {
		if got := promotion.ShortDigest(in); got != want {
			t.Errorf("ShortDigest(%q) = %q, want %q", in, got, want)
		}
	}
}
