package updater_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"promoter/internal/image"
	"promoter/internal/updater"
	"promoter/internal/updater/site"
)

// engineFollower follows web and worker, in the style of the file.
func engineFollower() followedComponents {
	follower := newFollowedComponents()
	for _, name := range []string{"web", "worker"} {
		repository, err := image.ParseRepository("quay.io/acme/" + name)
		if err != nil {
			panic(err)
		}
		follower.add(site.Followed{Component: name, Repository: repository, Artifact: image.ArtifactImage})
	}
	return follower
}

// rewriteTo updates both components to a tag and a digest.
func rewriteTo(t *testing.T, data []byte, tag, digest string) updater.Result {
	t.Helper()
	inventory := scanOne(t, engineFollower(), "f.yaml", data)
	wanted := func(string) (image.Version, bool) { return image.Version{Tag: tag, Digest: digest}, true }
	return inventory.Rewrite(context.Background(), oneFile("f.yaml", data).file("f.yaml"), wanted)
}

// FuzzRewrite checks the guarantees of the updater for any file and tag.
func FuzzRewrite(f *testing.F) {
	seeds, err := filepath.Glob(filepath.Join(goldenDir, "*", "before", "*"))
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range seeds {
		if data, err := os.ReadFile(seed); err == nil {
			f.Add(data, "v2")
		}
	}
	for _, tag := range []string{"1.10", "0123", "1e3", "yes", "null", "20240101", "1_000", "v1", "x"} {
		f.Add([]byte("image: {repository: quay.io/acme/web, tag: \"v1\", digest: }\nb: "+webV1+"\n"), tag)
		f.Add([]byte("images: [{name: quay.io/acme/worker, newTag: 1.0}]\n"), tag)
	}
	f.Fuzz(func(t *testing.T, data []byte, tag string) {
		if len(data) > 1<<14 || !image.ValidTag(tag) {
			t.Skip()
		}
		checkPromises(t, data, tag)
	})
}

func checkPromises(t *testing.T, data []byte, tag string) {
	t.Helper()
	result := rewriteTo(t, data, tag, digest2)
	if result.Content == nil {
		return
	}
	checkLoads(t, data, result)
	checkLines(t, data, result)
	if again := rewriteTo(t, result.Content, tag, digest2); again.Content != nil {
		t.Errorf("applying twice is not applying once:\n%q\n%q", result.Content, again.Content)
	}
	there := rewriteTo(t, result.Content, "v7", digest1)
	back := rewriteTo(t, there.Content, tag, digest2)
	if there.Content != nil && len(there.Refusals)+len(back.Refusals) == 0 && string(back.Content) != string(result.Content) {
		t.Errorf("there and back again:\n%q\n%q", result.Content, back.Content)
	}
}

// checkLoads loads both files with the full parser. The scalars that differ
// must be strings, and there must be as many as were changed, or fewer if a
// nested text contains several.
func checkLoads(t *testing.T, data []byte, result updater.Result) {
	t.Helper()
	before, after := leaves(t, data), leaves(t, result.Content)
	if before == nil || after == nil {
		return // a template
	}
	if len(before) != len(after) {
		t.Fatalf("%d scalars became %d:\n%q\n%q", len(before), len(after), data, result.Content)
	}
	differ := 0
	for i := range before {
		if before[i] == after[i] {
			continue
		}
		differ++
		if !strings.HasSuffix(after[i], " !!str") {
			t.Errorf("%s became %s", before[i], after[i])
		}
	}
	if differ > len(result.Changes) {
		t.Errorf("%d scalars differ after %d changes:\n%q\n%q", differ, len(result.Changes), data, result.Content)
	}
}

// leaves returns the scalars of a stream with their types, or nil if it does
// not parse.
func leaves(t *testing.T, data []byte) []string {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(string(data)))
	found := []string{}
	for {
		var document yaml.Node
		if err := decoder.Decode(&document); err != nil {
			if err.Error() == "EOF" {
				return found
			}
			return nil
		}
		found = appendLeaves(found, &document)
	}
}

func appendLeaves(found []string, n *yaml.Node) []string {
	if n.Kind == yaml.ScalarNode || n.Kind == yaml.AliasNode {
		return append(found, fmt.Sprintf("%q &%s %s", n.Value, n.Anchor, n.Tag))
	}
	for _, child := range n.Content {
		found = appendLeaves(found, child)
	}
	return found
}

// checkLines checks that lines without a change are identical.
func checkLines(t *testing.T, data []byte, result updater.Result) {
	t.Helper()
	touched := map[int]bool{}
	for _, change := range result.Changes {
		touched[change.Line] = true
		if strings.Contains(change.From+change.To, "\n") {
			return // a line was added or removed
		}
	}
	before, after := strings.Split(string(data), "\n"), strings.Split(string(result.Content), "\n")
	if len(before) != len(after) {
		t.Fatalf("%d lines became %d", len(before), len(after))
	}
	for i := range before {
		if (before[i] != after[i]) != touched[i+1] {
			t.Errorf("line %d: changed is %t, reported is %t", i+1, before[i] != after[i], touched[i+1])
		}
	}
}
