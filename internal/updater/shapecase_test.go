package updater_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/image"
)

// Digests and commits of the versions before and after.
const (
	digest1 = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
	digest2 = "sha256:2222222222222222222222222222222222222222222222222222222222222222"
	commit1 = "1111111111111111111111111111111111111111"
	commit2 = "2222222222222222222222222222222222222222"
)

// acme returns the components and versions for the shape tests.
func acme(pin image.Pin) goldenCase {
	return goldenCase{
		Components: map[string]goldenComponent{
			"web":       {Image: "quay.io/acme/web", Pin: pin, Source: "https://github.com/acme/web"},
			"worker":    {Image: "quay.io/acme/worker", Pin: pin, Source: "https://github.com/acme/worker.git"},
			"sidecar":   {Image: "quay.io/acme/sidecar", Pin: pin, Source: "https://github.com/acme/web"},
			"chart":     {Chart: "oci://quay.io/acme/charts/web"},
			"manifests": {Artifact: "oci://quay.io/acme/manifests", Pin: pin},
		},
		Versions: map[string]goldenVersion{
			"web":       {Tag: "v2", Digest: digest2, Revision: commit2},
			"worker":    {Tag: "v2", Digest: digest2},
			"sidecar":   {Tag: "v2", Digest: digest2, Revision: commit2},
			"chart":     {Tag: "2.0.0_build.5", Version: "2.0.0+build.5", Digest: digest2},
			"manifests": {Tag: "v2", Digest: digest2},
		},
	}
}

// shapeCase is one or more files and the expected result.
type shapeCase struct {
	name    string
	path    string            // default file.yaml
	before  string            //
	after   string            // empty if the bytes are unchanged
	others  map[string]string // further files of the branch, which must not change
	kinds   string            // shapes of the changes, each once, in order
	refused string            // part of a refusal; empty if none
	noted   string            // part of a note; empty if none
	pin     image.Pin
}

func checkShapes(t *testing.T, cases []shapeCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}

func (c shapeCase) check(t *testing.T) {
	t.Helper()
	if c.path == "" {
		c.path = "file.yaml"
	}
	if c.after == "" {
		c.after = c.before
	}
	files := oneFile(c.path, []byte(c.before))
	for path, content := range c.others {
		files[path] = entry{data: []byte(content)}
	}
	got, result := rewriteTree(t, acme(c.pin), files)
	if diff := cmp.Diff(c.after, string(got[c.path].data)); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	for path, content := range c.others {
		if string(got[path].data) != content {
			t.Errorf("%s changed", path)
		}
	}
	if kinds := result.kinds(); c.kinds != "" && kinds != c.kinds {
		t.Errorf("kinds %q, want %q", kinds, c.kinds)
	}
	expectPart(t, "refusals", result.refusalTexts(), c.refused)
	expectPart(t, "notes", strings.Join(result.Notes, "\n"), c.noted)
}

func expectPart(t *testing.T, what, got, part string) {
	t.Helper()
	if part == "" && got != "" || !strings.Contains(got, part) {
		t.Errorf("%s %q, want %q in them", what, got, part)
	}
}

func (r goldenResult) kinds() string {
	var kinds []string
	for _, change := range r.Changes {
		if len(kinds) == 0 || kinds[len(kinds)-1] != string(change.Shape) {
			kinds = append(kinds, string(change.Shape))
		}
	}
	return strings.Join(kinds, " ")
}

func (r goldenResult) refusalTexts() string {
	var texts []string
	for _, refusal := range r.Refusals {
		texts = append(texts, refusal.String())
	}
	return strings.Join(texts, "\n")
}

// checkHub follows redis on Docker Hub and checks the result for a file.
func checkHub(t *testing.T, before, after, refused string) {
	t.Helper()
	c := goldenCase{
		Components: map[string]goldenComponent{"redis": {Image: "docker.io/library/redis"}},
		Versions:   map[string]goldenVersion{"redis": {Tag: "7.4.1", Digest: digest2}},
	}
	got, result := rewriteTree(t, c, oneFile("file.yaml", []byte(before)))
	if diff := cmp.Diff(after, string(got["file.yaml"].data)); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	expectPart(t, "refusals", result.refusalTexts(), refused)
}
