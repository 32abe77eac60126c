package promotion

import (
	"maps"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/image"
)

// Trailer is one line of a commit message for programs: "Key: value".
type Trailer struct{ Key, Value string }

// The keys of our trailers. They must not change.
const (
	TrailerEnvironment = "Promoter-Environment"
	TrailerApplication = "Promoter-Application"
	TrailerSnapshot    = "Promoter-Snapshot"
	TrailerImage       = "Promoter-Image"
)

// Landed is what the trailers of a commit say that it put into one place.
type Landed struct {
	Target
	SnapshotID string
	Snapshot   Snapshot
}

// Trailers returns the trailers of a commit that puts the snapshots into the
// applications of an environment. Each application begins a block of its own.
func Trailers(environment string, snapshots map[string]Snapshot) []Trailer {
	trailers := []Trailer{{TrailerEnvironment, environment}}
	for _, application := range slices.Sorted(maps.Keys(snapshots)) {
		snapshot := snapshots[application]
		trailers = append(trailers, Trailer{TrailerApplication, application}, Trailer{TrailerSnapshot, snapshot.ID()})
		for _, component := range snapshot.Components() {
			trailers = append(trailers, Trailer{TrailerImage, component + "=" + snapshot[component].image()})
		}
	}
	return trailers
}

// image returns the reference of what is pinned: NAME[:TAG][@DIGEST].
func (p Pinned) image() string {
	text := p.Repository.String()
	if p.Version.Tag != "" {
		text += ":" + p.Version.Tag
	}
	if p.Version.Digest != "" {
		text += "@" + p.Version.Digest
	}
	return text
}

// maxTrailers is far more than one commit of ours has.
const maxTrailers = 10_000

// ReadTrailers reads what Trailers wrote. Whatever it cannot read is left out: a
// commit may come from anybody. An application counts only when its images are
// those of its snapshot id, and once.
func ReadTrailers(trailers []Trailer) []Landed {
	var landed []Landed
	var environment string
	for _, trailer := range trailers[:min(len(trailers), maxTrailers)] {
		switch {
		case strings.EqualFold(trailer.Key, TrailerEnvironment):
			environment = trailer.Value
		case strings.EqualFold(trailer.Key, TrailerApplication):
			landed = append(landed, Landed{Target: Target{environment, trailer.Value}, Snapshot: Snapshot{}})
		case len(landed) == 0:
		case strings.EqualFold(trailer.Key, TrailerSnapshot):
			landed[len(landed)-1].SnapshotID = trailer.Value
		case strings.EqualFold(trailer.Key, TrailerImage):
			landed[len(landed)-1].Snapshot.read(trailer.Value)
		}
	}
	seen := map[Target]bool{}
	return slices.DeleteFunc(landed, func(l Landed) bool {
		again := seen[l.Target]
		seen[l.Target] = true
		return again || !l.whole()
	})
}

// read adds COMPONENT=IMAGE. One that cannot be read is missing afterwards, so
// that the id of the snapshot does not match.
func (s Snapshot) read(text string) {
	component, reference, found := strings.Cut(text, "=")
	pinned, err := image.Parse(reference)
	if _, twice := s[component]; !found || component == "" || err != nil || twice {
		return
	}
	s[component] = Pinned{Repository: pinned.Repository, Version: image.Version{Tag: pinned.Tag, Digest: pinned.Digest}}
}

// whole says whether what was read is what one application was brought to.
func (l Landed) whole() bool {
	return config.ValidName(l.Environment) && config.ValidName(l.Application) &&
		len(l.Snapshot) > 0 && l.SnapshotID == l.Snapshot.ID()
}
