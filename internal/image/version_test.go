package image_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/image"
)

func TestVersion_withAnEarlierAnswer(t *testing.T) {
	t.Parallel()
	created := time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)
	described := image.Version{Tag: "1.2.0", Digest: "sha256:1", Created: created, Revision: "abc"}
	signed := image.Signature{By: "a key"}
	for _, test := range []struct {
		name               string
		now, earlier, want image.Version
	}{
		{
			"only the digest is asked for again",
			image.Version{Tag: "1.2", Digest: "sha256:1"},
			described,
			image.Version{Tag: "1.2", Digest: "sha256:1", Created: created, Revision: "abc"},
		},
		{
			"the signature is asked for later",
			image.Version{Tag: "1.2.0", Digest: "sha256:1", Signature: signed},
			described,
			image.Version{Tag: "1.2.0", Digest: "sha256:1", Created: created, Revision: "abc", Signature: signed},
		},
		{"the tag moved", image.Version{Tag: "1.2.0", Digest: "sha256:2"}, described, image.Version{Tag: "1.2.0", Digest: "sha256:2"}},
		{"nothing was asked before", described, image.Version{}, described},
	} {
		if diff := cmp.Diff(test.want, test.now.With(test.earlier)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestCompareVersions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b  string
		order int
		ok    bool
	}{
		{"1.4.0", "1.4.0", 0, true},
		{"v1.4", "1.4.0", 0, true},
		{"1.4.0+build.7", "1.4.0", 0, true},
		{"1.10.0", "1.9.9", 1, true},
		{"1.4.0-rc.1", "1.4.0", -1, true},
		{"1.4.0-3-g0123abc", "1.4.0", 1, true},
		{"latest", "1.4.0", 0, false},
		{"1.4.0", "", 0, false},
		{"20260131", "1.4.0", 0, false},
	} {
		if order, ok := image.CompareVersions(test.a, test.b); order != test.order || ok != test.ok {
			t.Errorf("%s and %s: %d, %t", test.a, test.b, order, ok)
		}
	}
}
