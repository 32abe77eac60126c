package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/state"
)

// Facts are what a path is made from: an observation with what was decided from it.
type Facts struct {
	Observation promotion.Observation
	Decisions   []promotion.Decision
	Proposals   []propose.Proposal
	// Landed are the landings of targets, newest first. Nil: those of the observation.
	Landed map[promotion.Target][]promotion.Landing
}

// Asked is a version that a user asks about.
type Asked struct {
	Repository image.Repository
	Version    image.Version
	Missing    bool   // the registry does not have it
	Problem    string // why that is unknown; empty: it is known
}

// Path is the path of one component from the registry to a target.
type Path struct {
	promotion.Target
	Component string
	Registry  Registry
	Steps     []Step // the environments upstream and the target itself, parents first
	// Answer is where the asked version is and what it waits for; empty: none is asked about.
	Answer string
	// Advice is what a user can do about the answer; empty: nothing, or only wait.
	Advice string
}

// Registry is what the registry has of a component, and what is selected.
type Registry struct {
	Repository string
	Selected   image.Version // the zero value: none is
	Reason     string        // why none is selected, or the registry did not answer
	Newer      []Newer       // versions that are not selected
}

// Newer is a newer version that is not selected.
type Newer struct {
	Tag    string     `json:"tag"`
	Reason string     `json:"reason"`
	Until  *time.Time `json:"until,omitempty"` // when it is selected, if known
}

// Step is one environment on the way.
type Step struct {
	promotion.Target
	Versions []image.Version // in the files; several if they disagree
	Since    time.Time       // zero: unknown
	Again    bool            // it was there before, and others in between
	Commit   string          // that brought the version; empty: unknown
	Number   int             // of the pull request that did; 0: none, or unknown
	State    promotion.State
	Next     image.Version // what is decided to come; the zero value: nothing
	Open     int           // the number of the pull request with it; 0: none
	Blocker  *Blocker      // what Next waits for; nil: nothing
	Newer    image.Version // what waits until the pull request with Next is merged or closed; the zero value: nothing
	Behind   *Blocker      // why Newer waits; nil: nothing does
	Rejected string        // that users rejected the version that is here; empty: they did not
}

// Paths returns the paths of all components of a target, by name.
func Paths(f Facts, target promotion.Target) []Path {
	var paths []Path
	components := map[string]bool{}
	for _, reference := range f.Observation.Targets[target].References {
		components[reference.Component] = true
	}
	for _, component := range slices.Sorted(maps.Keys(components)) {
		paths = append(paths, pathOf(f, target, component))
	}
	return paths
}

func pathOf(f Facts, target promotion.Target, component string) Path {
	p := Path{Target: target, Component: component}
	i := slices.IndexFunc(f.Observation.Targets[target].References, func(r edit.Reference) bool { return r.Component == component })
	p.Registry = registryOf(f, component, f.Observation.Targets[target].References[i].Repository)
	for _, environment := range slices.Concat(f.Observation.Config.Ancestors(target.Environment), []string{target.Environment}) {
		at := promotion.Target{Environment: environment, Application: target.Application}
		if _, exists := f.Observation.Targets[at]; exists && leadsTo(f.Observation, at, target) {
			p.Steps = append(p.Steps, stepOf(f, at, component))
		}
	}
	return p
}

// leadsTo reports whether a target takes its versions from another one, directly or not, as
// its own settings say.
func leadsTo(o promotion.Observation, from, to promotion.Target) bool {
	if from == to {
		return true
	}
	for _, parent := range o.Config.Settings(to.Environment, to.Application).After {
		if leadsTo(o, from, promotion.Target{Environment: parent.Environment, Application: to.Application}) {
			return true
		}
	}
	return false
}

func registryOf(f Facts, component string, repository image.Repository) Registry {
	available, asked := f.Observation.Available[component]
	r := Registry{Repository: repository.String(), Selected: available.Version, Reason: available.Reason}
	switch {
	case available.Err != nil:
		r.Reason = available.Err.Error()
	case !asked:
		r.Reason = "not queried: no environment without parents references it"
	}
	for _, held := range available.Held {
		r.Newer = append(r.Newer, Newer{Tag: held.Version.Tag, Reason: held.Condition.Reason, Until: held.Condition.Until})
	}
	for _, other := range available.NotSelected {
		r.Newer = append(r.Newer, Newer{Tag: other.Tag, Reason: other.Reason})
	}
	return r
}

func stepOf(f Facts, target promotion.Target, component string) Step {
	s := Step{Target: target}
	for _, r := range f.Observation.Targets[target].References {
		version := r.Version()
		known := func(other image.Version) bool { return other.Tag == r.Tag && other.Digest == r.Digest }
		if r.Component == component && !slices.ContainsFunc(s.Versions, known) {
			s.Versions = append(s.Versions, version)
		}
	}
	landed := f.landed(target)
	if len(s.Versions) == 1 {
		for _, l := range landed { // the first of those that left the component as it is
			if !promotion.SameRollout(l.Snapshot[component].Version, s.Versions[0]) {
				break
			}
			s.Since, s.Again = l.At, l.Earlier
			s.Commit = l.Commit
			s.Number = l.Number
		}
	}
	d, decided := f.decision(target)
	if !decided {
		return s
	}
	s.State = d.State
	for _, note := range d.Notes {
		if note.Rule == promotion.RuleRejected && strings.HasPrefix(note.Message, component+" ") {
			s.Rejected = note.Message
		}
	}
	move, moves := promotion.MoveOf(d.Moves, component)
	if moves {
		s.Next = move.To
	}
	for _, p := range f.Proposals {
		about := slices.ContainsFunc(p.Decisions, func(other promotion.Decision) bool { return other.Target == target })
		if about && p.Open != nil {
			s.Open = p.Open.Number
		}
	}
	if newer, found := promotion.MoveOf(d.Newer, component); found {
		if behind, waits := behindOpen(d); waits && !promotion.SameRollout(newer.To, s.Next) {
			s.Newer, s.Behind = newer.To, &behind
		}
	}
	if blocker, blocked := Blocking(d, f.Proposals); blocked && (moves || len(d.Moves) == 0) {
		s.Blocker = &blocker
	}
	return s
}

func (f Facts) landed(target promotion.Target) []promotion.Landing {
	if f.Landed != nil {
		return f.Landed[target]
	}
	return f.Observation.Landings[target]
}

func (f Facts) decision(target promotion.Target) (promotion.Decision, bool) {
	i := slices.IndexFunc(f.Decisions, func(d promotion.Decision) bool { return d.Target == target })
	if i < 0 {
		return promotion.Decision{}, false
	}
	return f.Decisions[i], true
}

// answer returns the path with the answer to the question where a version is: the environments
// that have or had it, and why it is not in the one after the last of them.
func (p Path) answer(f Facts, asked Asked) Path {
	v, last := asked.Version, -1
	var parts []string
	for i, step := range p.Steps {
		landed, was := f.had(step.Target, p.Component, v)
		switch {
		case slices.ContainsFunc(step.Versions, func(has image.Version) bool { return same(has, v) }):
			parts, last = append(parts, "is in "+step.Environment+step.since()), i
		case was && landed.Reverted:
			parts, last = append(parts, "was in "+step.Environment+during(landed)+" and was reverted there"), i
			p.Advice = allowAgain(p.Component, v, step, state.Target{})
		case was:
			parts, last = append(parts, "was in "+step.Environment+during(landed)), i
		}
	}
	switch {
	case last == len(p.Steps)-1 && p.Advice == "" &&
		!slices.ContainsFunc(p.Steps[last].Versions, func(has image.Version) bool { return same(has, v) }):
		parts = append(parts, "which has "+p.Steps[last].label()+" now")
	case last < len(p.Steps)-1 && p.Advice == "":
		var text string
		text, p.Advice = p.stopped(f, asked, last+1)
		parts = append(parts, text)
	}
	p.Answer = p.Component + " " + promotion.Label(v) + " " + strings.Join(parts, ", ")
	return p
}

// stopped returns why a version is not in the environment of a step, and what a user can do.
func (p Path) stopped(f Facts, asked Asked, i int) (text, advice string) {
	step, v := p.Steps[i], asked.Version
	here, policy := step.Environment, f.Observation.Policies[p.Component]
	order, ordered := 0, false
	if len(step.Versions) > 0 && policy != nil {
		order, ordered = policy.Compare(step.Versions[0], v)
	}
	rejection, wide, rejected := f.Observation.State.RejectedBy(state.Target(step.Target), asked.Repository, v)
	switch {
	case rejected:
		by := cmp.Or(rejection.By.Login, "an unknown user")
		why := strings.TrimSuffix(": "+rejection.Reason, ": ")
		what := fmt.Sprintf("was rejected in %s by %s on %s%s", here, by, rejection.At.UTC().Format(time.DateOnly), why)
		return what, allowAgain(p.Component, v, step, wide)
	case same(step.Next, v) && step.Blocker != nil:
		return "waits in " + here + step.at() + ": " + step.Blocker.String(), step.Blocker.Advice
	case same(step.Next, v):
		return "is about to land in " + here + step.at(), ""
	case step.Behind != nil && same(step.Newer, v):
		return "waits in " + here + step.at() + ": " + step.Behind.String(), step.Behind.Advice
	case i == 0 && asked.Missing:
		return "is not in the registry " + asked.Repository.String(), ""
	case ordered && order > 0:
		return "is superseded: " + here + " has the newer " + step.label(), ""
	case i == 0 && asked.Problem != "":
		return "may not be in the registry: " + asked.Problem, ""
	case i == 0:
		return "is not selected: " + p.Registry.why(v, policy), ""
	case !none(step.Next):
		return "is superseded: " + promotion.Label(step.Next) + " comes next in " + here, ""
	case step.Blocker != nil:
		return "does not go on to " + here + ": " + step.Blocker.String(), step.Blocker.Advice
	default:
		return "was never in " + here, ""
	}
}

// allowAgain is the advice for a version that a user rejected or reverted.
func allowAgain(component string, v image.Version, s Step, wide state.Target) string {
	named := promotion.Move{Component: component, To: v}.Named()
	return "'promoter unreject " + named + wholeScope(wide, " --env "+s.Environment+s.ApplicationFlag()) + "' allows it again"
}

// why returns why a version that the registry has is not selected.
func (r Registry) why(v image.Version, policy *image.Policy) string {
	for _, newer := range r.Newer {
		if newer.Tag == v.Tag {
			return newer.text()
		}
	}
	if policy != nil {
		if reason := policy.Refuses(v.Tag); v.Tag != "" && reason != "" {
			return reason
		}
		if order, ordered := policy.Compare(r.Selected, v); ordered && order > 0 {
			return promotion.Label(r.Selected) + " is newer"
		}
	}
	if r.Reason != "" {
		return r.Reason
	}
	return promotion.Label(r.Selected) + " is selected"
}

// Answered returns the paths with the answers about a version, of those components that are of
// its repository.
func Answered(f Facts, paths []Path, asked Asked) []Path {
	var answered []Path
	for _, p := range paths {
		if p.Registry.Repository == asked.Repository.String() {
			answered = append(answered, p.answer(f, asked))
		}
	}
	return answered
}

// had returns when a target had a version, if it did.
func (f Facts) had(target promotion.Target, component string, v image.Version) (promotion.Landing, bool) {
	for _, l := range f.landed(target) {
		if had, known := l.Snapshot[component]; known && same(had.Version, v) {
			return l, true
		}
	}
	return promotion.Landing{}, false
}

// same reports whether a version is the one that a user asks about, who may have named only
// the tag or the digest.
func same(has, asked image.Version) bool {
	if has.Digest != "" && asked.Digest != "" {
		return has.Digest == asked.Digest
	}
	return has.Tag != "" && has.Tag == asked.Tag
}

func none(v image.Version) bool { return v.Tag == "" && v.Digest == "" }

func during(l promotion.Landing) string {
	text := ""
	if !l.At.IsZero() {
		text = " from " + moment(l.At)
	}
	if !l.Until.IsZero() {
		text += " until " + moment(l.Until)
	}
	return text
}

func moment(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// since describes since when an environment has its version, and what brought it.
func (s Step) since() string {
	text := ""
	if !s.Since.IsZero() {
		text = " since " + moment(s.Since)
		if s.Again {
			text += ", again"
		}
	}
	var by []string
	if s.Number != 0 {
		by = append(by, fmt.Sprintf("#%d", s.Number))
	}
	if s.Commit != "" {
		by = append(by, "commit "+s.Commit[:min(len(s.Commit), 7)])
	}
	if len(by) > 0 {
		text += " (" + strings.Join(by, ", ") + ")"
	}
	return text
}

// at names the open pull request.
func (s Step) at() string {
	if s.Open == 0 {
		return ""
	}
	return fmt.Sprintf(" (#%d is open)", s.Open)
}

func (s Step) label() string {
	labels := make([]string, len(s.Versions))
	for i, v := range s.Versions {
		labels[i] = promotion.Label(v)
	}
	return strings.Join(labels, " and ")
}

func (n Newer) text() string {
	text := n.Reason
	if n.Until != nil {
		text += ", until " + moment(*n.Until)
	}
	return text
}

// Lines describes the path, one line for the registry and each environment, and the answer.
func (p Path) Lines() []string {
	var lines []string
	if p.Answer != "" {
		lines = append(lines, p.Answer)
		if p.Advice != "" {
			lines = append(lines, "  you can: "+p.Advice)
		}
	}
	text := p.Component + " in the registry: "
	switch {
	case !none(p.Registry.Selected):
		text += promotion.Label(p.Registry.Selected) + " is selected"
	default:
		text += cmp.Or(p.Registry.Reason, "nothing is selected")
	}
	for _, newer := range p.Registry.Newer {
		text += "; not " + cmp.Or(newer.Tag, "a newer one") + ": " + newer.text()
	}
	lines = append(lines, text)
	for _, s := range p.Steps {
		text := p.Component + " in " + s.Environment + ": " + cmp.Or(s.label(), "no version") + s.since()
		if s.Rejected != "" {
			text += "; " + s.Rejected
		}
		if !none(s.Next) {
			text += "; " + promotion.Label(s.Next) + " comes next" + s.at()
		}
		if s.Blocker != nil {
			if text += "; it waits for " + s.Blocker.String(); none(s.Next) {
				text = strings.Replace(text, "; it waits for ", "; ", 1)
			}
		}
		lines = append(lines, text)
		if s.Blocker != nil && s.Blocker.Advice != "" {
			lines = append(lines, "  you can: "+s.Blocker.Advice)
		}
		if s.Behind != nil {
			lines = append(lines, p.Component+" in "+s.Environment+": "+s.Behind.String(), "  you can: "+s.Behind.Advice)
		}
	}
	return lines
}
