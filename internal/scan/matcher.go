package scan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/updater"
	"promoter/internal/updater/shapes"
	"promoter/internal/updater/site"
)

// matcher knows which targets the files of a branch belong to and what the config
// follows in them. It implements shapes.Follower.
type matcher struct {
	config       *config.Config
	explicit     image.ExplicitVersions // set for a folder without a config
	environments []*config.Environment
	literals     []string
}

func newMatcher(c *config.Config, environments []string, explicit image.ExplicitVersions) *matcher {
	m := &matcher{config: c, explicit: explicit, literals: literals(c)}
	for _, name := range environments {
		environment, _ := c.Environment(name)
		m.environments = append(m.environments, environment)
	}
	return m
}

// literals returns one text per component that every file with a reference to it
// contains. If one component has none, every file must be read.
func literals(c *config.Config) []string {
	var texts []string
	for _, component := range c.Components {
		literals := component.Pattern.Literals()
		if len(literals) == 0 {
			return nil
		}
		texts = append(texts, literals[len(literals)-1])
	}
	texts = append(texts, c.MirrorBases()...)
	for _, key := range c.HoldKeys() {
		texts = append(texts, updater.LastKey(key))
	}
	return texts
}

// holds returns the keys whose values keep a file from being written.
func (m *matcher) holds(file string) []updater.Hold {
	var holds []updater.Hold
	for _, target := range m.targets(file) {
		if hold := m.config.Settings(target.Environment, target.Application).Gates.Hold; hold != nil {
			holds = append(holds, updater.Hold{Key: hold.Key, Value: hold.Value})
		}
	}
	return holds
}

// groupHolds adds the holds of an inventory to their targets. A target that shares its files
// with others has those of the files that it is referenced in.
func (m *matcher) groupHolds(inventory *updater.Inventory, targets currents) {
	for _, held := range inventory.Held {
		of := m.targets(held.File)
		for _, reference := range inventory.References {
			if reference.Position.File == held.File {
				of = append(of, m.targetsOf(reference)...)
			}
		}
		slices.SortFunc(of, promotion.Target.Compare)
		for _, target := range slices.Compact(of) {
			hold := m.config.Settings(target.Environment, target.Application).Gates.Hold
			current, found := targets[target]
			if found && hold != nil && hold.Key == held.Key {
				current.Holds = append(current.Holds, held)
				targets[target] = current
			}
		}
	}
}

// targets returns the targets that a file belongs to: at most one, as long as the
// environments of a branch do not overlap. In an environment by component, it is one
// without an application, which stands for all that share the files.
func (m *matcher) targets(file string) []promotion.Target {
	var targets []promotion.Target
	for _, environment := range m.environments {
		if application, ok := environment.Match(file); ok {
			targets = append(targets, promotion.Target{Environment: environment.Name, Application: application})
		}
	}
	return targets
}

// cost returns how many steps it takes to match a file with the paths of all environments, about.
func (m *matcher) cost(file string) (steps int64) {
	for _, environment := range m.environments {
		steps += environment.MatchCost(file)
	}
	return steps
}

// captured returns what the paths of a target capture in one of its files.
func (m *matcher) captured(target promotion.Target, file string) string {
	environment, _ := m.config.Environment(target.Environment)
	captured, _ := environment.Capture(file)
	return captured
}

// shared returns the target under which targets keeps the files of a target.
func (m *matcher) shared(target promotion.Target) promotion.Target {
	if environment, _ := m.config.Environment(target.Environment); environment.ByComponent {
		target.Application = ""
	}
	return target
}

// targetsOf returns the targets that a reference belongs to. Environments may
// share a file if they follow different components in it.
func (m *matcher) targetsOf(reference edit.Reference) []promotion.Target {
	var targets []promotion.Target
	for _, environment := range m.environments {
		if written, _ := environment.MirrorOf(reference.Repository); !reference.Mirror.IsZero() && reference.Mirror != written {
			continue
		}
		for _, owner := range m.config.Owners(environment, reference.Position.File, reference.Repository) {
			if owner.Match.Name == reference.Component {
				targets = append(targets, promotion.Target{Environment: environment.Name, Application: owner.Application})
				break
			}
		}
	}
	return targets
}

// group adds the references and refusals of the inventory to their targets.
func (m *matcher) group(inventory *updater.Inventory, targets currents) {
	for _, reference := range inventory.References {
		owners := m.targetsOf(reference)
		for _, target := range owners {
			current := targets[target]
			current.References = append(current.References, reference)
			if reason := m.ambiguous(target, owners, reference); reason != "" {
				current.Refusals = append(current.Refusals, edit.Refusal{
					File: reference.Position.File, Line: reference.Position.Line, Component: reference.Component, Reason: reason,
				})
			}
			targets[target] = current
		}
	}
	for target, current := range targets {
		if slices.ContainsFunc(current.References, edit.Reference.IsDerived) {
			current = m.derive(target, current)
		}
		targets[target] = m.separate(target, current)
	}
	for _, refusal := range inventory.Refusals {
		for _, target := range m.targets(refusal.File) {
			for _, target := range m.refused(target, refusal, targets) {
				current := targets[target]
				current.Refusals = append(current.Refusals, refusal)
				targets[target] = current
			}
		}
	}
}

// separate separates the references of other lines of versions from those of the components of a
// target. Explicit versions without a config have no lines.
func (m *matcher) separate(target promotion.Target, current promotion.Current) promotion.Current {
	if m.explicit != nil {
		return current
	}
	tags := map[string][]string{} // by component
	floating := map[string]bool{} // components with a reference that has no digest
	for _, r := range current.References {
		if !r.Marked {
			tags[r.Component] = append(tags[r.Component], r.Tag)
			floating[r.Component] = floating[r.Component] || r.Digest == ""
		}
	}
	foreign := map[foreignTag]string{} // with the reason
	for _, r := range current.References {
		own, needed := tags[r.Component]
		delete(tags, r.Component) // once for each component
		if !needed {
			continue
		}
		line := image.Line{Others: map[string]*image.Policy{}}
		for _, match := range m.config.FollowAll(target.Environment, target.Application, r.Repository) {
			if policy := m.config.Policy(match.Component); match.Name == r.Component {
				line.Policy = policy
			} else if m.sameKind(match.Component, r) {
				line.Others[match.Name] = policy
			}
		}
		if line.Policy == nil {
			continue
		}
		line.Pinned = !floating[r.Component]
		for tag, why := range line.Foreign(own) {
			foreign[foreignTag{r.Component, tag}] = fmt.Sprintf("%s is not a version of %s (%s): %s", tag, r.Component, line.Policy, why)
		}
	}
	if len(foreign) == 0 {
		return current
	}
	all := current.References
	current.References = nil
	for _, r := range all {
		if why := foreign[foreignTag{r.Component, r.Tag}]; why != "" && !r.Marked {
			current.Foreign = append(current.Foreign, edit.Foreign{Reference: r, Reason: why})
		} else {
			current.References = append(current.References, r)
		}
	}
	return current
}

// sameKind reports whether another component follows the same kind of artifact as that of a reference.
func (m *matcher) sameKind(component string, r edit.Reference) bool {
	other, _ := m.config.Component(component)
	own, found := m.config.Component(r.Component)
	return !found || own.Artifact == other.Artifact
}

// readFile returns the content of a file.
type readFile func(file string) ([]byte, error)

// limitShared is limit for a target, which may share its files with others: a refusal that
// stops none of its components is left out. It returns false if nothing is left of a target
// that only a refusal made.
func (m *matcher) limitShared(target promotion.Target, current promotion.Current, read readFile) (promotion.Current, bool) {
	environment, _ := m.config.Environment(target.Environment)
	if !environment.ByComponent {
		return m.limit(current, read), true
	}
	repositories := repositoriesOf(current)
	for _, component := range m.config.Components {
		repository, exact := component.Pattern.Repository()
		application, match, ok := m.config.OwnerByComponent(environment, repository)
		if !exact || !ok || application != target.Application {
			continue
		}
		repositories[match.Name] = append(repositories[match.Name], repository)
		if written, mirrored := environment.MirrorOf(repository); mirrored {
			repositories[match.Name] = append(repositories[match.Name], written)
		}
	}
	current = m.limitTo(current, repositories, read)
	current.Refusals = slices.DeleteFunc(current.Refusals, func(r edit.Refusal) bool {
		return len(repositories) > 0 && len(r.Unaffected) == len(repositories)
	})
	return current, len(current.References) > 0 || len(current.Refusals) > 0
}

// repositoriesOf returns what the references are of, by component.
func repositoriesOf(current promotion.Current) map[string][]image.Repository {
	repositories := map[string][]image.Repository{}
	for _, reference := range current.References {
		for _, r := range []image.Repository{reference.Repository, reference.Mirror} {
			if known := repositories[reference.Component]; !r.IsZero() && !slices.Contains(known, r) {
				repositories[reference.Component] = append(known, r)
			}
		}
	}
	return repositories
}

// limit determines which components of a target each of its refusals does not stop, if the
// config distinguishes no applications. What may contain a reference to a component stops
// it, so that none of its references is left behind.
func (m *matcher) limit(current promotion.Current, read readFile) promotion.Current {
	if len(current.Refusals) == 0 || m.config.Captures() {
		return current
	}
	return m.limitTo(current, repositoriesOf(current), read)
}

// limitTo does so for components with the given repositories.
func (m *matcher) limitTo(current promotion.Current, repositories map[string][]image.Repository, read readFile) promotion.Current {
	current.Refusals = slices.Clone(current.Refusals)
	for i := range current.Refusals {
		refusal := &current.Refusals[i]
		var stops func(component string) bool
		switch {
		case refusal.Whole:
			content, err := read(refusal.File)
			if err != nil {
				continue
			}
			writes := m.writes(refusal.File)
			stops = func(component string) bool {
				return slices.ContainsFunc(writes, func(w shapes.Write) bool { return w.Component == component }) ||
					slices.ContainsFunc(repositories[component], func(r image.Repository) bool {
						return updater.MayReference(content, component, r)
					})
			}
		case refusal.Component != "":
			stops = func(component string) bool { return component == refusal.Component }
		default:
			continue
		}
		for _, component := range slices.Sorted(maps.Keys(repositories)) {
			if !stops(component) {
				refusal.Unaffected = append(refusal.Unaffected, component)
			}
		}
	}
	return current
}

// limitEdit does so for the refusals of an edit, which are about certain components.
func (m *matcher) limitEdit(current promotion.Current) promotion.Current {
	return m.limit(current, nil)
}

// refused returns the targets that a refusal stops. In an environment by component, those
// are the application of the component, or all: those that were found, and those of
// components without a wildcard, which the file may hold.
func (m *matcher) refused(target promotion.Target, refusal edit.Refusal, found currents) []promotion.Target {
	if target.Application != "" {
		return []promotion.Target{target}
	}
	environment, _ := m.config.Environment(target.Environment)
	applications := map[string]bool{}
	for other, current := range found {
		if other.Environment == target.Environment && (refusal.Component == "" || refersTo(current, refusal.Component)) {
			applications[other.Application] = true
		}
	}
	for _, component := range m.config.Components {
		repository, exact := component.Pattern.Repository()
		if !exact || refusal.Component != "" && refusal.Component != component.Name {
			continue
		}
		if application, _, ok := m.config.OwnerByComponent(environment, repository); ok {
			applications[application] = true
		}
	}
	if len(applications) == 0 {
		applications[config.DefaultApplication] = true
	}
	var targets []promotion.Target
	for _, application := range slices.Sorted(maps.Keys(applications)) {
		targets = append(targets, promotion.Target{Environment: target.Environment, Application: application})
	}
	return targets
}

func refersTo(current promotion.Current, component string) bool {
	return slices.ContainsFunc(current.References, func(r edit.Reference) bool { return r.Component == component })
}

// ambiguous returns why the config does not determine what is written to a reference,
// empty if it does. Loading the config finds only overlaps that are certain; these are
// overlaps that exist.
func (m *matcher) ambiguous(target promotion.Target, owners []promotion.Target, reference edit.Reference) string {
	if len(owners) > 1 {
		return fmt.Sprintf("error in the config: both %s and %s write it: narrow the paths of one",
			owners[0].Environment, owners[1].Environment)
	}
	if first, second, ambiguous := m.config.Ambiguous(target.Environment, target.Application, reference.Repository); ambiguous {
		return fmt.Sprintf("error in the config: the patterns of both %s and %s match %s: "+
			"narrow one, or give them an only that does not overlap", first, second, reference.Repository)
	}
	if other := m.otherSelecting(target, reference); other != "" {
		return fmt.Sprintf("error in the config: both %s and %s select %s of %s: narrow select of one",
			reference.Component, other, reference.Tag, reference.Repository)
	}
	if other := m.otherMirrored(target, reference); other != "" {
		return fmt.Sprintf("error in the config: both %s and %s are %s in %s: change mirrors",
			reference.Component, other, reference.Mirror, target.Environment)
	}
	return ""
}

// otherSelecting returns another component of the same repository that selects the tag of a
// reference too, empty if there is none.
func (m *matcher) otherSelecting(target promotion.Target, r edit.Reference) string {
	own, exact := m.config.Component(r.Component)
	if !exact || r.Tag == "" || r.Marked || m.explicit != nil || !m.config.Policy(own.Name).Admits(r.Tag) {
		return ""
	}
	for _, match := range m.config.FollowAll(target.Environment, target.Application, r.Repository) {
		other, _ := m.config.Component(match.Component)
		another := match.Name != r.Component && other.Pattern.IsExact() && m.sameKind(match.Component, r)
		if another && m.config.Policy(match.Component).Admits(r.Tag) {
			return match.Name
		}
	}
	return ""
}

// otherMirrored returns another component that a mirror in a file may stand for, empty if there
// is none.
func (m *matcher) otherMirrored(target promotion.Target, reference edit.Reference) string {
	if reference.Mirror.IsZero() {
		return ""
	}
	environment, _ := m.config.Environment(target.Environment)
	for _, mirrored := range environment.MirroredBy(reference.Mirror) {
		if _, match, ok := m.config.Owner(environment, reference.Position.File, mirrored); ok && mirrored != reference.Repository {
			return match.Name
		}
	}
	_, match, _ := m.config.Owner(environment, reference.Position.File, reference.Mirror)
	if component, ok := m.config.Component(match.Component); ok && component.Pattern.IsExact() {
		return match.Name
	}
	return ""
}

// Follow implements shapes.Follower. The name of a mirror stands for the repository that is
// mirrored, also where a pattern of any registry matches it.
func (m *matcher) Follow(file string, repository image.Repository) (site.Followed, bool) {
	for _, environment := range m.environments {
		for _, mirrored := range environment.MirroredBy(repository) {
			if followed, ok := m.followedIn(environment, file, mirrored, repository); ok {
				return followed, true
			}
		}
		if followed, ok := m.followedIn(environment, file, repository, image.Repository{}); ok {
			return followed, true
		}
	}
	return site.Followed{}, false
}

// followedIn returns the components of a repository in a file of an environment.
func (m *matcher) followedIn(environment *config.Environment, file string, repository, mirror image.Repository) (site.Followed, bool) {
	var all []site.Followed
	for _, owner := range m.config.Owners(environment, file, repository) {
		followed := m.followed(owner.Match, repository)
		followed.Mirror = mirror
		all = append(all, followed)
	}
	if len(all) == 0 {
		return site.Followed{}, false
	}
	all[0].Others = all[1:]
	return all[0], true
}

// followed returns how the updater writes a repository.
func (m *matcher) followed(match config.Match, repository image.Repository) site.Followed {
	component, _ := m.config.Component(match.Component)
	followed := site.Followed{
		Component:  match.Name,
		Artifact:   component.Artifact,
		Policy:     m.config.Policy(component.Name),
		Repository: repository,
		Pin:        component.Pin,
		Moving:     component.Select.Tag != "",
		Source:     component.Source,
		Numeric:    component.Select.Numeric != "",
		AnyWord:    component.Pattern.MatchesWords(),
	}
	if version, ok := m.explicit[repository]; ok {
		writeAsNamed(&followed, version)
	}
	return followed
}

// writeAsNamed makes a version that a user named without a config be written as it
// was named. Its digest is never dropped; a digest without a tag is another build
// of the tag in the file.
func writeAsNamed(followed *site.Followed, version image.Version) {
	followed.Artifact = "" // users name the repository of a chart as that of an image
	followed.Numeric = version.Tag != "" && strings.Trim(version.Tag, "0123456789") == ""
	switch {
	case version.Digest == "":
	case version.Tag == "":
		followed.Moving, followed.TagStays = true, true
	default:
		followed.Pin = image.PinTagDigest
	}
}

// Named implements shapes.Follower. It names no component with a wildcard, because the
// repository would be unknown.
func (m *matcher) Named(file, name string) (site.Followed, bool) {
	component, ok := m.config.Component(name)
	if !ok {
		return site.Followed{}, false
	}
	for _, environment := range m.environments {
		captured, inside := environment.Capture(file)
		if !inside {
			continue
		}
		repository, one := component.RepositoryIn(captured)
		if !one {
			continue
		}
		owners := m.config.Owners(environment, file, repository)
		for _, owner := range owners {
			if owner.Match.Component == name {
				followed := m.followed(owner.Match, repository)
				followed.Mirror, _ = environment.MirrorOf(repository)
				return followed, true
			}
		}
		if len(owners) > 0 {
			return site.Followed{}, false
		}
	}
	return site.Followed{}, false
}

// Literals implements shapes.Follower.
func (m *matcher) Literals() []string { return m.literals }

// writes returns the write entries of the config that are about the file.
// Applications cannot override them, so only the environment matters.
func (m *matcher) writes(file string) []shapes.Write {
	var writes []shapes.Write
	for _, environment := range m.environments {
		if len(environment.Write) == 0 {
			continue
		}
		application, ok := environment.Match(file)
		if !ok {
			continue
		}
		captured, _ := environment.Capture(file)
		for _, w := range environment.Write {
			if environment.ByComponent {
				application = m.writtenIn(environment, w)
				captured = application
			}
			fill := placeholders(environment.Name, application)
			if placeholders(environment.Name, captured).Replace(w.File) == file {
				writes = append(writes, shapes.Write{
					Path: w.Path, Regex: w.Regex, Component: w.Component, Value: fill.Replace(w.Value), Create: w.Create,
				})
			}
		}
	}
	return writes
}

// writtenIn returns the application of a write entry in an environment by component.
func (m *matcher) writtenIn(environment *config.Environment, w config.Write) string {
	component, _ := m.config.Component(w.Component)
	repository, _ := component.Pattern.Repository()
	application, _, _ := m.config.OwnerByComponent(environment, repository)
	return application
}

// addWritten adds the targets of the write entries of an environment by component: their
// files may be missing.
func (m *matcher) addWritten(environment *config.Environment, targets currents) {
	for _, w := range environment.Write {
		if application := m.writtenIn(environment, w); environment.ByComponent && application != "" {
			target := promotion.Target{Environment: environment.Name, Application: application}
			if _, known := targets[target]; !known {
				targets[target] = promotion.Current{}
			}
		}
	}
}

// hasWrites reports whether the config has write entries at all.
func (m *matcher) hasWrites() bool {
	return slices.ContainsFunc(m.environments, func(e *config.Environment) bool { return len(e.Write) > 0 })
}

// missingWrites refuses the write entries of a target whose file does not exist. The
// paths capture the application of the target as the given text.
func (m *matcher) missingWrites(target promotion.Target, captured string, exists func(file string) bool) []edit.Refusal {
	var refusals []edit.Refusal
	environment, _ := m.config.Environment(target.Environment)
	for _, w := range environment.Write {
		if environment.ByComponent {
			if m.writtenIn(environment, w) != target.Application {
				continue
			}
			captured = target.Application
		}
		if file := placeholders(target.Environment, captured).Replace(w.File); !exists(file) {
			refusals = append(refusals, edit.Refusal{
				File: file, Component: w.Component,
				Reason: "the file does not exist: correct write in environment " + target.Environment,
			})
		}
	}
	return refusals
}

// placeholders fills in those that do not depend on the version.
func placeholders(environment, application string) *strings.Replacer {
	return strings.NewReplacer("{environment}", environment, "{application}", application)
}
