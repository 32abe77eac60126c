// Package drift finds what is in the files of environments although no promotion brought it
// there, or what no promotion will ever change: manual edits, references that no component
// follows, texts in a form that is not edited, and shared files outside of the paths of all environments. And it finds where what
// runs is not what the files have. It only reports.
//
// It is pure: it reads what a reconciliation observed anyway.
package drift

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"promoter/internal/config"
	"promoter/internal/config/setting"
	"promoter/internal/edit"
	"promoter/internal/health"
	"promoter/internal/image"
	"promoter/internal/printable"
	"promoter/internal/promotion"
)

// Kind is the kind of a drift.
type Kind string

// The kinds.
const (
	// Ahead is a version that is newer than that of the environment upstream: a user wrote it,
	// requested it for this environment, or went back upstream.
	Ahead Kind = "ahead"
	// Digest is another image under the same tag than upstream.
	Digest Kind = "digest"
	// Mislabeled is a tag with the digest of another version.
	Mislabeled Kind = "mislabeled"
	// Several are several versions of one component in the files of one environment.
	Several Kind = "several"
	// Missing is a component that the environment upstream references, and this one does not.
	Missing Kind = "missing"
	// Reported is a difference in an environment with propose: never.
	Reported Kind = "reported"
	// Unfollowed are different versions of an image that no component follows.
	Unfollowed Kind = "unfollowed"
	// Shared is a reference in a file outside of the paths of all environments.
	Shared Kind = "shared"
	// Mention is a text that names a followed image, and that promoter does not edit.
	Mention Kind = "mention"
	// Actual is what runs, where a source of health reports other versions than the files
	// have, or that an engine has not applied them.
	Actual Kind = "actual"
)

// Drift is one finding.
type Drift struct {
	Kind        Kind   `json:"kind"`
	Environment string `json:"environment,omitempty"` // empty: of the repository
	Application string `json:"application,omitempty"`
	File        string `json:"file,omitempty"`
	Line        int    `json:"line,omitempty"`
	Message     string `json:"message"`
}

// Target returns what the drift is about; empty: the repository.
func (d Drift) Target() promotion.Target {
	return promotion.Target{Environment: d.Environment, Application: d.Application}
}

// String describes the drift with its position.
func (d Drift) String() string {
	if d.File == "" {
		return d.Message
	}
	return fmt.Sprintf("%s (%s:%d)", d.Message, d.File, d.Line)
}

// MaxFound is how many findings are returned.
const MaxFound = 100

// Observed is what findings are made from.
type Observed struct {
	Promotion promotion.Observation
	Decisions []promotion.Decision
	// Others are, by branch, the references to images that no component follows where they are.
	Others map[string][]edit.Reference
	Now    time.Time
}

// Find returns the drift of a repository, by environment, parents first; at most 100 findings.
func Find(o Observed) []Drift {
	if o.Promotion.Config == nil {
		return nil
	}
	return o.inOrder(Of(o, o.selected()...), o.shared())
}

// selected returns the targets that are decided about.
func (o Observed) selected() (all []promotion.Target) {
	for target := range o.Promotion.Selected() {
		all = append(all, target)
	}
	return all
}

// FindAgain returns the drift of a repository in which only the applications that are decided
// about changed since the drift was found. That must not have more findings than Find
// returns, and the references that no component follows must be the same.
func FindAgain(o Observed, before []Drift) []Drift {
	found := Of(o, o.selected()...)
	var shared []Drift
	for _, d := range before {
		switch {
		case d.Environment == "":
			shared = append(shared, d)
		case !o.Promotion.Applications[d.Application]:
			found = append(found, d)
		}
	}
	return o.inOrder(found, shared)
}

// inOrder returns what is found in environments, parents first, and then in shared files; as
// many findings as may be.
func (o Observed) inOrder(found, shared []Drift) []Drift {
	order := o.Promotion.Config.Order()
	slices.SortStableFunc(found, func(a, b Drift) int {
		return cmp.Or(slices.Index(order, a.Environment)-slices.Index(order, b.Environment), cmp.Compare(a.Application, b.Application))
	})
	found = append(found, shared...)
	return found[:min(len(found), MaxFound)]
}

// Of returns the drift of some targets, in their order.
func Of(o Observed, targets ...promotion.Target) []Drift {
	decisions := make(map[promotion.Target]*promotion.Decision, len(targets))
	for _, target := range targets {
		decisions[target] = &promotion.Decision{}
	}
	for i := range o.Decisions {
		if _, wanted := decisions[o.Decisions[i].Target]; wanted {
			decisions[o.Decisions[i].Target] = &o.Decisions[i]
		}
	}
	environments := map[string]bool{} // of the targets and their parents
	for _, target := range targets {
		environments[target.Environment] = true
		for _, parent := range o.Promotion.ParentsOf(target) {
			environments[parent.Environment] = true
		}
	}
	others := o.others(environments)
	var found []Drift
	for _, target := range targets {
		found = append(found, o.of(target, *decisions[target], others)...)
	}
	return found
}

// of returns the drift of one target, with the decision about it and the references that others
// returns.
func (o Observed) of(target promotion.Target, decision promotion.Decision, others map[promotion.Target][]edit.Reference) []Drift {
	var found []Drift
	add := func(kind Kind, at edit.Position, format string, args ...any) {
		one := Drift{
			Kind: kind, Environment: target.Environment, Application: target.Application,
			File: at.File, Line: at.Line, Message: fmt.Sprintf(format, args...),
		}
		if !slices.Contains(found, one) {
			found = append(found, one)
		}
	}
	if len(decision.Moves) > 0 && o.Promotion.Settings(target.Environment, target.Application).Propose == setting.ProposeNever {
		for _, move := range decision.Moves {
			at := position(o.Promotion.Targets[target].References, move.Component)
			add(Reported, at, "propose is never, and %s differs: %s", target.Environment, move)
		}
	}
	here := byComponent(o.Promotion.Targets[target].References)
	for _, reference := range here {
		if other := o.labeled(reference); other != "" {
			add(Mislabeled, reference.Position, "%s %s has the digest of %s", reference.Component, reference.Tag, other)
		}
		if versions := here.versions(reference.Component); len(versions) > 1 && !o.agree(target, reference.Component) {
			add(Several, reference.Position, "several versions of %s: %s", reference.Component, strings.Join(versions, ", "))
		}
	}
	mentions := o.Promotion.Targets[target].Mentions
	more := mentions.More
	for _, m := range mentions.Listed {
		switch {
		case m.Prose: // it deploys nothing
		case len(found) >= MaxFound-1:
			more++
		default:
			add(Mention, m.Position, "%s is named as %s in a form that promoter does not edit", m.Component, m.Text)
		}
	}
	if more > 0 {
		add(Mention, edit.Position{}, "%d more texts name followed images", more)
	}
	if text := o.actual(target); text != "" {
		add(Actual, edit.Position{}, "%s", text)
	}
	for _, parent := range o.Promotion.ParentsOf(target) {
		from := promotion.Target{Environment: parent.Environment, Application: target.Application}
		upstream := byComponent(o.Promotion.Targets[from].References)
		for _, there := range upstream {
			reference, references := here.of(there.Component)
			switch order := o.compare(reference, there); {
			case !references:
				if len(o.Promotion.Targets[target].Refusals) == 0 && !o.Promotion.Targets[target].HasForeign(there.Component) {
					add(Missing, there.Position, "%s references %s, and no file here does", from.Environment, there.Component)
				}
			case len(upstream.versions(there.Component)) > 1 || len(here.versions(there.Component)) > 1: // reported, or compared by digest
			case order > 0:
				add(Ahead, reference.Position, "%s %s is newer than %s in %s",
					reference.Component, label(reference), label(there), from.Environment)
			case isRebuilt(reference, there) && !o.moving(reference.Component):
				is, was := promotion.ShortDigest(reference.Digest), promotion.ShortDigest(there.Digest)
				add(Digest, reference.Position, "%s %s is another image than in %s: %s instead of %s",
					reference.Component, reference.Tag, from.Environment, is, was)
			}
		}
		for _, pair := range unfollowed(others[from], others[target]) {
			at := pair.there.Position
			there := fmt.Sprintf("%s has %s (%s:%d)", from.Environment, label(pair.there), at.File, at.Line)
			add(Unfollowed, pair.here.Position, "no component follows %s: %s, and %s has %s",
				pair.here.Repository.Familiar(), there, target.Environment, label(pair.here))
		}
	}
	return found
}

// agree reports whether all references of a target to a component are to one version, by the digests of their tags.
func (o Observed) agree(target promotion.Target, component string) bool {
	var versions []image.Version
	for _, r := range o.Promotion.Targets[target].References {
		if r.Component == component {
			versions = append(versions, o.Promotion.Resolve(target, r))
		}
	}
	return !o.moving(component) && promotion.Agree(versions)
}

// isRebuilt reports whether two references have the same tag, and other digests.
func isRebuilt(a, b edit.Reference) bool {
	return a.Tag != "" && a.Tag == b.Tag && a.Digest != "" && b.Digest != "" && a.Digest != b.Digest
}

// labeled returns the tag of the available version if a reference has its digest with the tag of
// another release; empty: it does not.
func (o Observed) labeled(r edit.Reference) string {
	available, policy := o.Promotion.Available[r.Component], o.Promotion.Policies[r.Component]
	sameDigest := available.Found && r.Digest != "" && r.Digest == available.Version.Digest
	if !sameDigest || r.Tag == "" || policy == nil || slices.Contains(available.Spellings, r.Tag) {
		return ""
	}
	if !policy.DifferentReleases(r.Version(), available.Version) {
		return ""
	}
	return available.Version.Tag
}

// actual describes what runs in a target where it is not what the files have. A rollout takes
// its time: that is no drift before the timeout of health.
func (o Observed) actual(target promotion.Target) string {
	settings := o.Promotion.Config.Settings(target.Environment, target.Application).Health
	landings := o.Promotion.Landings[target]
	if settings == nil || len(landings) == 0 {
		return ""
	}
	landed, running := landings[0], landings[0].Running
	report := health.Report{
		Subject: landed.Health.Subject,
		Status:  landed.Health.Status,
		Sync:    landed.Health.Sync,
		Message: landed.Health.Message,
	}
	since, text := landed.Health.Since, "desired "+landed.Snapshot.String()+", "
	switch {
	case running != nil:
		report, since = running.Report, running.Since
		text += "actual " + running.Versions.String() + ": " + report.Subject + " is "
	case landed.Health.Sync == health.OutOfSync:
		text += "and " + report.Subject + " is "
	default:
		return ""
	}
	if o.Now.Before(since.Add(settings.Timeout)) {
		return ""
	}
	text += health.State{Status: report.Status, Sync: report.Sync}.String() + ", since " + since.UTC().Format(time.RFC3339)
	if report.Message != "" {
		text += ": " + printable.Line(report.Message)
	}
	return text
}

// compare compares the versions of two references: positive if the first is newer.
func (o Observed) compare(a, b edit.Reference) int {
	policy := o.Promotion.Policies[b.Component]
	if policy == nil || a.Component == "" {
		return 0
	}
	order, _ := policy.Compare(a.Version(), b.Version())
	return order
}

// moving reports whether a component follows a moving tag: its digests differ while it is
// promoted.
func (o Observed) moving(component string) bool {
	policy := o.Promotion.Policies[component]
	if policy == nil {
		return false
	}
	_, moving := policy.Moving()
	return moving
}

// pair is an image that no component follows, in two environments with different versions.
type pair struct{ there, here edit.Reference }

// unfollowed returns the images that no component follows, and whose versions differ. An image
// with several versions in one of the environments is left out.
func unfollowed(there, here []edit.Reference) []pair {
	var pairs []pair
	for _, reference := range here {
		same := func(other edit.Reference) bool { return other.Repository == reference.Repository }
		i := slices.IndexFunc(there, same)
		if i < 0 || label(there[i]) == label(reference) || several(there, same) || several(here, same) {
			continue
		}
		pairs = append(pairs, pair{there[i], reference})
	}
	return pairs
}

func several(all []edit.Reference, of func(edit.Reference) bool) bool {
	first := slices.IndexFunc(all, of)
	return first >= 0 && slices.ContainsFunc(all[first:], func(r edit.Reference) bool { return of(r) && label(r) != label(all[first]) })
}

// others returns, by target of the environments, the references in its files that no component
// follows.
func (o Observed) others(environments map[string]bool) map[promotion.Target][]edit.Reference {
	found := map[promotion.Target][]edit.Reference{}
	for _, environment := range o.Promotion.Config.Environments {
		if !environments[environment.Name] {
			continue
		}
		for _, reference := range o.Others[o.Promotion.BranchOf(environment)] {
			if application, inside := environment.Match(reference.Position.File); inside {
				target := promotion.Target{Environment: environment.Name, Application: application}
				found[target] = append(found[target], reference)
			}
		}
	}
	return found
}

// shared returns the references to followed images in files outside of the paths of all
// environments of their branch. A change there reaches every environment that uses the file.
func (o Observed) shared() []Drift {
	var found []Drift
	for branch, references := range o.Others {
		for _, reference := range references {
			file := reference.Position.File
			inside := func(e config.Environment) bool {
				_, matches := e.Match(file)
				return o.Promotion.BranchOf(e) == branch && (matches || e.Excludes(file))
			}
			component, follows := o.component(reference.Repository)
			if !follows || hidden(file) || slices.ContainsFunc(o.Promotion.Config.Environments, inside) {
				continue
			}
			found = append(found, Drift{
				Kind: Shared, File: file, Line: reference.Position.Line,
				Message: fmt.Sprintf("%s %s is outside of the paths of all environments: "+
					"a change there reaches all of them that use it at once",
					component, label(reference)),
			})
		}
	}
	slices.SortFunc(found, func(a, b Drift) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return found
}

// component returns the component that follows a repository somewhere.
func (o Observed) component(repository image.Repository) (string, bool) {
	for _, component := range o.Promotion.Config.Components {
		if component.Pattern.Match(repository) {
			return component.Name, true
		}
	}
	return "", false
}

// hidden reports whether a file is in a folder of tools, such as .github.
func hidden(file string) bool {
	for folder := range strings.SplitSeq(path.Dir(file), "/") {
		if folder != "." && strings.HasPrefix(folder, ".") || folder == "vendor" || folder == "node_modules" {
			return true
		}
	}
	return strings.HasPrefix(path.Base(file), ".")
}

// references are those of one target, each component and version once.
type references []edit.Reference

func byComponent(all []edit.Reference) references {
	var found references
	for _, r := range all {
		same := func(known edit.Reference) bool { return known.Component == r.Component && label(known) == label(r) }
		if !slices.ContainsFunc(found, same) {
			found = append(found, r)
		}
	}
	return found
}

func (rs references) of(component string) (edit.Reference, bool) {
	i := slices.IndexFunc(rs, func(r edit.Reference) bool { return r.Component == component })
	if i < 0 {
		return edit.Reference{}, false
	}
	return rs[i], true
}

func (rs references) versions(component string) []string {
	var labels []string
	for _, r := range rs {
		if r.Component == component {
			labels = append(labels, label(r))
		}
	}
	return labels
}

func label(r edit.Reference) string {
	return promotion.Label(r.Version())
}

// position returns where a component is referenced first.
func position(all []edit.Reference, component string) edit.Position {
	r, _ := references(all).of(component)
	return r.Position
}
