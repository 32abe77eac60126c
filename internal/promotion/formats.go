package promotion

import (
	"maps"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/image"
	"promoter/internal/state"
)

// HeadPrefix is the prefix of every head branch of promoter. Their names always
// have three parts, so that none is a folder of another. They must not change.
const HeadPrefix = "promoter/"

// HeadBranch returns the head branch of an application in an environment.
func HeadBranch(environment, application string) string {
	return HeadPrefix + environment + "/" + application
}

// GroupBranch returns the head branch of an environment whose applications share
// one pull request.
func GroupBranch(environment string) string { return HeadBranch(environment, state.All) }

// HeadOf returns the head branch of an application, as its environment groups pull
// requests.
func HeadOf(settings config.Environment, application string) string {
	if settings.PullRequest.Group == config.GroupEnvironment {
		return GroupBranch(settings.Name)
	}
	return HeadBranch(settings.Name, application)
}

// ParseHead parses the name of a head branch; the application of a group is
// state.All. It is false for every other branch, such as the state branch.
func ParseHead(branch string) (Target, bool) {
	rest, ours := strings.CutPrefix(branch, HeadPrefix)
	environment, application, three := strings.Cut(rest, "/")
	if !ours || !three || !config.ValidName(environment) {
		return Target{}, false
	}
	if !config.ValidName(application) && application != state.All {
		return Target{}, false
	}
	return Target{Environment: environment, Application: application}, true
}

// Trailer is one "Key: value" line at the end of a commit message.
type Trailer struct{ Key, Value string }

// The keys of promoter's trailers. They must not change.
const (
	TrailerEnvironment = "Promoter-Environment"
	TrailerApplication = "Promoter-Application"
	TrailerSnapshot    = "Promoter-Snapshot"
	TrailerImage       = "Promoter-Image"
)

// Landed is what a commit brought into one target, according to its trailers.
type Landed struct {
	Target
	SnapshotID string
	Snapshot   Snapshot
}

// Trailers returns the trailers of a commit that brings snapshots into the
// applications of an environment. Each application begins a block of its own.
func Trailers(environment string, snapshots map[string]Snapshot) []Trailer {
	trailers := []Trailer{{TrailerEnvironment, environment}}
	for _, application := range slices.Sorted(maps.Keys(snapshots)) {
		snapshot := snapshots[application]
		trailers = append(trailers, Trailer{TrailerApplication, application}, Trailer{TrailerSnapshot, snapshot.ID()})
		for _, component := range snapshot.Components() {
			trailers = append(trailers, Trailer{TrailerImage, component + "=" + snapshot[component].Reference()})
		}
	}
	return trailers
}

// Reference returns NAME[:TAG][@DIGEST], which image.Parse reads.
func (p Pinned) Reference() string {
	return image.Reference{Name: p.Repository.String(), Tag: p.Version.Tag, Digest: p.Version.Digest}.String()
}

// maxTrailers is far more than one commit of promoter has.
const maxTrailers = 10_000

// ReadTrailers reads what Trailers wrote. It ignores what it cannot read, because
// any user can write a commit: an application counts only once, and only if its
// images are those of its snapshot id.
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
			landed[len(landed)-1].Snapshot.addImage(trailer.Value)
		}
	}
	seen := map[Target]bool{}
	return slices.DeleteFunc(landed, func(l Landed) bool {
		duplicate := seen[l.Target]
		seen[l.Target] = true
		valid := config.ValidName(l.Environment) && config.ValidName(l.Application) &&
			len(l.Snapshot) > 0 && l.SnapshotID == l.Snapshot.ID()
		return duplicate || !valid
	})
}

// addImage adds COMPONENT=IMAGE. If it cannot be read, the component is missing, so
// that the id of the snapshot does not match.
func (s Snapshot) addImage(text string) {
	component, reference, found := strings.Cut(text, "=")
	pinned, err := image.Parse(reference)
	if _, duplicate := s[component]; !found || component == "" || err != nil || duplicate {
		return
	}
	s[component] = Pinned{Repository: pinned.Repository, Version: image.Version{Tag: pinned.Tag, Digest: pinned.Digest}}
}
