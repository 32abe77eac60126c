package promotion

import (
	"maps"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/config/field"
	"promoter/internal/config/setting"
	"promoter/internal/image"
	"promoter/internal/printable"
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
	if settings.PullRequest.Group == setting.GroupEnvironment {
		return GroupBranch(settings.Name)
	}
	return HeadBranch(settings.Name, application)
}

// ParseHead parses the name of a head branch; the application of a group is
// state.All. It is false for every other branch, such as the state branch.
func ParseHead(branch string) (Target, bool) {
	rest, ours := strings.CutPrefix(branch, HeadPrefix)
	environment, application, three := strings.Cut(rest, "/")
	if !ours || !three || !field.ValidName(environment) {
		return Target{}, false
	}
	if !field.ValidName(application) && application != state.All {
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
	TrailerRequestedBy = "Promoter-Requested-By"
	TrailerReason      = "Promoter-Reason"
	TrailerBypassed    = "Promoter-Bypassed"
	TrailerApprovedBy  = "Promoter-Approved-By"
)

// Landed is what a commit brought into one target, according to its trailers.
type Landed struct {
	Target
	SnapshotID  string
	Snapshot    Snapshot
	Attribution Attribution
}

// Trailers returns the trailers of a commit that brings snapshots into the
// applications of an environment. Each application begins a block of its own, at the end
// of which is its attribution, if it has one. Of many, some are left out: a message has a
// limit, and no decision reads them.
func Trailers(environment string, snapshots map[string]Snapshot, attributions map[string]Attribution) []Trailer {
	trailers, room := []Trailer{{TrailerEnvironment, environment}}, maxAttributions
	for _, application := range slices.Sorted(maps.Keys(snapshots)) {
		snapshot := snapshots[application]
		trailers = append(trailers, Trailer{TrailerApplication, application}, Trailer{TrailerSnapshot, snapshot.ID()})
		for _, component := range snapshot.Components() {
			trailers = append(trailers, Trailer{TrailerImage, component + "=" + snapshot[component].Reference()})
		}
		for _, trailer := range attributions[application].trailers() {
			if room -= len(trailer.Key) + len(trailer.Value); room >= 0 {
				trailers = append(trailers, trailer)
			}
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
		default:
			landed[len(landed)-1].Attribution.read(trailer)
		}
	}
	seen := map[Target]bool{}
	return slices.DeleteFunc(landed, func(l Landed) bool {
		duplicate := seen[l.Target]
		seen[l.Target] = true
		valid := field.ValidName(l.Environment) && field.ValidName(l.Application) &&
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

// Limits of an attribution, in runes, and of those of one commit together, in bytes.
const (
	maxAttributedName   = 100
	maxAttributedReason = 300
	maxApprovers        = 20
	maxBypassed         = 20
	maxAttributions     = 16 << 10
)

// Attribution is who requested a promotion, why, and who approved it: what promoter did by
// itself has none, but for the reason of a rollback. It is for users. No decision reads it back from a commit.
type Attribution struct {
	RequestedBy string // empty: no user requested it
	Reason      string
	Bypassed    []string // the conditions and gates that the request bypassed
	ApprovedBy  []string // whose approvals of the pull request counted
}

// IsZero reports whether an attribution is empty.
func (a Attribution) IsZero() bool {
	return a.RequestedBy == "" && a.Reason == "" && len(a.Bypassed)+len(a.ApprovedBy) == 0
}

// AttributionOf returns the attribution of a decision, each text in one line.
func AttributionOf(d Decision) Attribution {
	var a Attribution
	if d.Requested != nil {
		if !d.Requested.By.Bot { // a rollback by promoter itself has only a reason
			a.RequestedBy = attributed(Actor(*d.Requested), maxAttributedName)
		}
		a.Reason = attributed(d.Requested.Reason, maxAttributedReason)
	}
	bypassed := d.Bypassed()
	for _, c := range bypassed[:min(len(bypassed), maxBypassed)] {
		a.Bypassed = append(a.Bypassed, attributed(c.Name, maxAttributedName))
	}
	for _, name := range d.ApprovedBy[:min(len(d.ApprovedBy), maxApprovers)] {
		a.ApprovedBy = append(a.ApprovedBy, attributed(name, maxAttributedName))
	}
	return a
}

// Map returns an attribution with each text replaced.
func (a Attribution) Map(replace func(string) string) Attribution {
	each := func(texts []string) []string {
		texts = slices.Clone(texts)
		for i, text := range texts {
			texts[i] = replace(text)
		}
		return texts
	}
	a.RequestedBy = replace(a.RequestedBy)
	a.Reason = replace(a.Reason)
	a.Bypassed = each(a.Bypassed)
	a.ApprovedBy = each(a.ApprovedBy)
	return a
}

// SameRequest reports whether two attributions name the same request.
func (a Attribution) SameRequest(b Attribution) bool {
	return a.RequestedBy == b.RequestedBy && a.Reason == b.Reason && slices.Equal(a.Bypassed, b.Bypassed)
}

// attributed makes one short line of a text. A trailer ends with its line, so that no user
// can add another one.
func attributed(text string, limit int) string {
	return printable.ShortLine(text, limit)
}

func (a Attribution) trailers() []Trailer {
	var trailers []Trailer
	add := func(key string, values ...string) {
		for _, value := range values {
			if value != "" {
				trailers = append(trailers, Trailer{key, value})
			}
		}
	}
	add(TrailerRequestedBy, a.RequestedBy)
	add(TrailerReason, a.Reason)
	add(TrailerBypassed, a.Bypassed...)
	add(TrailerApprovedBy, a.ApprovedBy...)
	return trailers
}

// read reads one trailer. Of what occurs once, the first one counts.
func (a *Attribution) read(t Trailer) {
	switch {
	case strings.EqualFold(t.Key, TrailerRequestedBy) && a.RequestedBy == "":
		a.RequestedBy = attributed(t.Value, maxAttributedName)
	case strings.EqualFold(t.Key, TrailerReason) && a.Reason == "":
		a.Reason = attributed(t.Value, maxAttributedReason)
	case strings.EqualFold(t.Key, TrailerBypassed) && len(a.Bypassed) < maxBypassed:
		if name := attributed(t.Value, maxAttributedName); name != "" {
			a.Bypassed = append(a.Bypassed, name)
		}
	case strings.EqualFold(t.Key, TrailerApprovedBy) && len(a.ApprovedBy) < maxApprovers:
		if name := attributed(t.Value, maxAttributedName); name != "" {
			a.ApprovedBy = append(a.ApprovedBy, name)
		}
	}
}
