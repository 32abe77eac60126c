package promotion

import (
	"maps"
	"slices"
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
	Place
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

// ReadTrailers reads what Trailers wrote. Whatever it cannot read is left out: a
// commit may come from anybody.
func ReadTrailers(trailers []Trailer) []Landed {
	panic("not written yet")
}
