package updater_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater"
	"promoter/internal/updater/shapes"
	"promoter/internal/updater/site"
)

// outcome is the result for one commit.
type outcome string

const (
	exact   outcome = "exact"
	wider   outcome = "exact, and further places of the same image that the commit left"
	partial outcome = "right bytes in some lines of the commit"
	refused outcome = "refused"
	skipped outcome = "skipped"
)

// TestCorpus_bumps replays real commits: with the file before, the image and
// its new version, the result must equal the file after if the commit changed
// every line of that image. Wrong bytes always fail; a refusal is acceptable.
func TestCorpus_bumps(t *testing.T) {
	t.Parallel()
	counts := map[bool]map[outcome]int{true: {}, false: {}}
	reasons := map[string]int{}
	for _, b := range readBumps(t) {
		came, why := b.replay(t)
		counts[b.Strict][came]++
		switch {
		case came == skipped:
			reasons[why]++
		case b.Strict && came != exact && came != wider:
			t.Errorf("%s (%s): %s: %s", b.Dir, b.Path, came, why)
		case came != exact:
			t.Logf("%s (%s): %s: %s", b.Dir, b.Path, came, why)
		}
	}
	t.Logf("commits that change every line of their images: %v", counts[true])
	t.Logf("other commits: %v", counts[false])
	t.Logf("skipped because: %v", reasons)
}

// replay rewrites the file to the versions of the commit.
func (b bump) replay(t *testing.T) (outcome, string) {
	t.Helper()
	wishes, err := b.wishes()
	if err != nil {
		return skipped, err.Error()
	}
	follower, wanted := wishFollower(wishes), wantedOf(wishes)
	result := rewriteOne(t, follower, b.Path, b.before, wanted)
	if result.Content == nil && len(result.Refusals) > 0 {
		return refused, result.Refusals[0].String()
	}
	got := b.before
	if result.Content != nil {
		got = result.Content
	}
	return b.judge(t, got, result, rewriteOne(t, follower, b.Path, b.after, wanted))
}

// judge compares the result with the commit. If the file has further references
// to the same image that the commit did not change, rewriting the file after
// the commit must produce the same bytes.
func (b bump) judge(t *testing.T, got []byte, result, afterwards updater.Result) (outcome, string) {
	t.Helper()
	if string(got) == string(b.after) {
		return exact, ""
	}
	if string(afterwards.Content) == string(got) {
		return wider, describe(afterwards)
	}
	now, then, past := lines(got), lines(b.after), lines(b.before)
	for i := range now {
		if now[i] != then[i] && now[i] != past[i] && !slices.ContainsFunc(afterwards.Changes, atLine(i+1)) {
			t.Errorf("%s:%d: wrong bytes\nbefore %safter  %sgot    %s", b.Dir, i+1, past[i], then[i], now[i])
		}
	}
	return partial, describe(result)
}

func atLine(line int) func(edit.Change) bool {
	return func(change edit.Change) bool { return change.Line == line }
}

func describe(result updater.Result) string {
	var text []string
	for _, change := range result.Changes {
		text = append(text, change.Position.String()+" "+change.From+" -> "+change.To)
	}
	for _, refusal := range result.Refusals {
		text = append(text, refusal.String())
	}
	return strings.Join(text, "; ")
}

// wishFollower follows exactly the repositories of the commit.
func wishFollower(wishes map[image.Repository]bumpWish) followedComponents {
	follower := newFollowedComponents()
	for repository, wish := range wishes {
		follower.add(site.Followed{
			Component: repository.String(), Artifact: image.ArtifactImage, Repository: repository, Pin: wish.pin,
			Numeric:  strings.Trim(wish.version.Tag, "0123456789") == "",
			TagStays: wish.version.Tag == "", // as apply --with does
		})
	}
	return follower
}

// wantedOf returns the versions of the commit by component.
func wantedOf(wishes map[image.Repository]bumpWish) func(string) (image.Version, bool) {
	versions := map[string]image.Version{}
	for repository, wish := range wishes {
		versions[repository.String()] = wish.version
	}
	return func(component string) (image.Version, bool) {
		version, found := versions[component]
		return version, found
	}
}

// rewriteOne scans and rewrites a branch of one file. It returns the refusals
// of the scan before those of the rewrite.
func rewriteOne(t *testing.T, follower shapes.Follower, path string, data []byte, wanted func(string) (image.Version, bool)) updater.Result {
	t.Helper()
	inventory := scanOne(t, follower, path, data)
	result := inventory.Rewrite(context.Background(), oneFile(path, data).file(path), wanted)
	result.Refusals = append(slices.Clone(inventory.Refusals), result.Refusals...)
	return result
}

func scanOne(t *testing.T, follower shapes.Follower, path string, data []byte) *updater.Inventory {
	t.Helper()
	inventory, err := updater.New(follower, updater.Options{}).Scan(context.Background(), oneFile(path, data).files())
	if err != nil {
		t.Fatal(err)
	}
	return inventory
}

func oneFile(path string, data []byte) tree { return tree{path: entry{data: data}} }

// everything follows every repository, each as a separate component.
type everything struct{}

func (everything) Follow(_ string, r image.Repository) (site.Followed, bool) {
	return site.Followed{Component: r.String(), Artifact: image.ArtifactImage, Repository: r}, true
}

func (everything) Named(string, string) (site.Followed, bool) { return site.Followed{}, false }

func (everything) Literals() []string { return nil }

// TestCorpus_presentVersions rewrites every file of the corpus to its current
// versions and checks that no byte changes.
func TestCorpus_presentVersions(t *testing.T) {
	t.Parallel()
	files, references, several := 0, 0, 0
	for _, b := range readBumps(t) {
		for _, data := range [][]byte{b.before, b.after} {
			inventory := scanOne(t, everything{}, b.Path, data)
			present, mixed := presentVersions(inventory.References)
			result := rewriteOne(t, everything{}, b.Path, data, func(component string) (image.Version, bool) {
				version, found := present[component]
				return version, found
			})
			if result.Content != nil || len(result.Changes) > 0 {
				t.Errorf("%s (%s): changed although every version stands already: %s", b.Dir, b.Path, describe(result))
			}
			files, references, several = files+1, references+len(inventory.References), several+mixed
		}
	}
	t.Logf("%d files, %d references; %d images have several versions in a file and were left", files, references, several)
}

// presentVersions returns the version of each component that has exactly one.
func presentVersions(references []edit.Reference) (present map[string]image.Version, mixed int) {
	present = map[string]image.Version{}
	several := map[string]bool{}
	for _, r := range references {
		version := image.Version{Tag: r.Tag, Digest: r.Digest, Version: r.Tag}
		if known, found := present[r.Component]; found && (known.Tag != version.Tag || known.Digest != version.Digest) {
			several[r.Component] = true
		}
		present[r.Component] = version
	}
	for component := range several {
		delete(present, component)
	}
	return present, len(several)
}
