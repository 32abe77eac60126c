// Package promotiontest builds values for tests in a few words: configs, versions, snapshots.
package promotiontest

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/config"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/state"
)

// Noon is on a working day in Berlin, away from clock changes.
var Noon = time.Date(2026, 11, 18, 11, 0, 0, 0, time.UTC)

// Digests of the images in scenarios.
const (
	DigestA = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	DigestB = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// Components is the components section of most test configs.
const Components = `
version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
  worker: {image: quay.io/acme/worker, select: {semver: ">=1"}}
  moving: {image: quay.io/acme/moving, select: {tag: released}, pin: tag+digest}
`

// Version reads TAG, @DIGEST or TAG@DIGEST.
func Version(text string) image.Version {
	tag, digest, _ := strings.Cut(text, "@")
	return image.Version{Tag: tag, Digest: digest, Version: tag}
}

// Repository parses a repository.
func Repository(component string) image.Repository {
	r, err := image.ParseRepository("quay.io/acme/" + component)
	if err != nil {
		panic(err)
	}
	return r
}

// Digest is a digest of one repeated digit.
func Digest(digit string) string { return "sha256:" + strings.Repeat(digit, 64) }

// Ago is a time before noon.
func Ago(d time.Duration) time.Time { return Noon.Add(-d) }

// Pinned reads COMPONENT:TAG@DIGEST.
func Pinned(texts ...string) promotion.Snapshot {
	snapshot := promotion.Snapshot{}
	for _, text := range texts {
		component, rest, _ := strings.Cut(text, ":")
		v := Version(rest)
		v.Version = ""
		snapshot[component] = promotion.Pinned{Repository: Repository(component), Version: v}
	}
	return snapshot
}

// Images returns images as the state stores them.
func Images(texts ...string) map[string]string {
	found := map[string]string{}
	for component, pinned := range Pinned(texts...) {
		found[component] = strings.TrimSuffix(pinned.Repository.String()+":"+pinned.Version.Tag+"@"+pinned.Version.Digest, "@")
	}
	return found
}

// SnapshotOf reads COMPONENT:TAG@DIGEST.
func SnapshotOf(texts ...string) promotion.Snapshot {
	snapshot := promotion.Snapshot{}
	for _, text := range texts {
		component, rest, _ := strings.Cut(text, ":")
		snapshot[component] = promotion.Pinned{Repository: Repository(component), Version: Version(rest)}
	}
	return snapshot
}

// SnapshotsOf returns the snapshots of a pull request of one application.
func SnapshotsOf(application string, texts ...string) map[string]promotion.Snapshot {
	return map[string]promotion.Snapshot{application: SnapshotOf(texts...)}
}

// SnapshotOfImages reads COMPONENT=IMAGE.
func SnapshotOfImages(t testing.TB, texts ...string) promotion.Snapshot {
	t.Helper()
	s := promotion.Snapshot{}
	for _, text := range texts {
		component, reference, _ := strings.Cut(text, "=")
		parsed, err := image.Parse(reference)
		if err != nil {
			t.Fatal(err)
		}
		s[component] = promotion.Pinned{Repository: parsed.Repository, Version: parsed.Version()}
	}
	return s
}

// Check returns a check with a state.
func Check(name string, state promotion.ConditionState) promotion.Check {
	return promotion.Check{Name: name, State: state}
}

// ConditionNamed returns the condition of that name.
func ConditionNamed(t *testing.T, d promotion.Decision, name string) promotion.Condition {
	t.Helper()
	for _, c := range d.Conditions {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no condition %q in %+v", name, d.Conditions)
	return promotion.Condition{}
}

// GateNamed returns the gate of a name.
func GateNamed(t *testing.T, gates []promotion.Condition, name string) promotion.Condition {
	t.Helper()
	for _, gate := range gates {
		if gate.Name == name {
			return gate
		}
	}
	t.Fatalf("no gate %q in %v", name, gates)
	return promotion.Condition{}
}

// ActOf returns what a user did at noon.
func ActOf(login string) state.Act {
	return state.Act{By: identity.User{Host: "github.com", Login: login}, At: Noon.Add(-time.Hour)}
}

// ByAda is an act of a user, an hour ago.
func ByAda(why string) state.Act {
	return state.Act{By: identity.User{Host: "github.com", Login: "ada"}, At: Ago(time.Hour), Reason: why}
}

// Load loads a config, which must be valid.
func Load(t *testing.T, text string) *config.Config {
	t.Helper()
	c, problems := config.Load(config.FolderEnvironment, []byte(text))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return c
}
