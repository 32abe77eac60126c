// Package simulate reconciles a copy of a repository while its clock goes forward: what would
// happen until some time, and what then waits for users.
//
// It runs the same reconciliation as the command run. The branches, the pull requests, and what
// promoter remembers are copies in memory, and the registries and the forge answer as they do
// now. After each reconciliation, the clock goes to the next time at which something changes
// by itself: the end of a soak, of settle, of minAge, of a freeze, or of the timeout of health, or
// the start of a window.
package simulate

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"promoter/internal/explain"
	"promoter/internal/fault"
	"promoter/internal/health"
	"promoter/internal/image"
	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/reconcile"
	"promoter/internal/reconcile/observe"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/repo"
	"promoter/internal/scm"
)

// maxSteps is how many times the clock goes forward.
const maxSteps = 200

// Options describe what to simulate.
type Options struct {
	Until time.Time
	// With are versions that the registries would select, COMPONENT or REPOSITORY with :TAG,
	// @DIGEST, or both.
	With []string
	// Merged: users merge each pull request as soon as its windows and holds allow, with
	// the approvals and checks that it needs.
	Merged bool
	// Health is what sources report about what is in a target, now and later. Without an
	// application, it is about all of an environment.
	Health map[promotion.Target]health.Status
}

// Kind is the kind of an event.
type Kind string

// The kinds of events.
const (
	Passed    Kind = "passed" // a condition or a gate, by the time
	Pushed    Kind = Kind(outcome.ActionPushed)
	Opened    Kind = Kind(outcome.ActionOpened)
	Refreshed Kind = Kind(outcome.ActionRefreshed)
	Merged    Kind = Kind(outcome.ActionMerged)
	Closed    Kind = Kind(outcome.ActionClosed)
)

// Event is something that would happen to a target.
type Event struct {
	promotion.Target
	At      time.Time
	Kind    Kind
	Message string
	Number  int  // of a pull request that exists; 0: it does not
	Assumed bool // a user does it
}

// Wait is a target that waits at the end.
type Wait struct {
	promotion.Target
	explain.Blocker
	Moves []promotion.Move
}

// Result is what would happen in one repository.
type Result struct {
	From, Until time.Time
	// Next is when more would change after the end; zero: nothing is known to change by
	// itself.
	Next time.Time
	// Stopped is set if the simulation ended early, because too much would change.
	Stopped bool
	Events  []Event
	Waits   []Wait
	// Unused are the versions of With that no component takes.
	Unused []string
	// Report is that of the last reconciliation, with the errors of all.
	Report outcome.Report
}

// simulation is a copy of a repository with its own clock.
type simulation struct {
	reconciler reconcile.Reconciler
	forge      *forge
	registries *registries
	merged     bool
	now        time.Time
}

// Run simulates the repository of a reconciler, of which it changes nothing.
func Run(ctx context.Context, r reconcile.Reconciler, options Options) (Result, error) {
	s, err := newSimulation(r, options)
	if err != nil {
		return Result{}, err
	}
	result := Result{From: s.now, Until: options.Until}
	for range maxSteps {
		before := result.Report
		result.Report, err = s.reconcile(ctx, &result)
		if err != nil || result.Report.Unusable != "" {
			return result, err
		}
		result.Report.Errors = joined(before.Errors, result.Report.Errors)
		if result.Unused, err = s.unused(); err != nil {
			return result, err
		}
		result.Next = nextChange(result.Report, s.now)
		if result.Next.IsZero() || result.Next.After(options.Until) {
			result.Waits = waits(result.Report)
			return result, nil
		}
		passed := passedUntil(result.Report, result.Next)
		s.now = result.Next
		result.Events = append(result.Events, passed...)
	}
	result.Stopped = true
	result.Until = s.now
	result.Waits = waits(result.Report)
	return result, nil
}

func newSimulation(r reconcile.Reconciler, options Options) (*simulation, error) {
	s := &simulation{now: r.Clients.Now(), merged: options.Merged}
	if options.Until.Before(s.now) {
		return nil, fault.New(fault.Invalid, "%s is past", options.Until.Format(time.RFC3339))
	}
	clock := func() time.Time { return s.now }
	s.registries = &registries{Registries: r.Clients.Registries, now: clock, selected: map[string]promotion.Available{}}
	for _, text := range options.With {
		if _, version := cutVersion(text); version == "" {
			return nil, fault.New(fault.Invalid, "--with %s: want COMPONENT:TAG or REPOSITORY[:TAG][@DIGEST]", text)
		}
		if _, err := image.Parse(text); err != nil {
			return nil, fault.New(fault.Invalid, "--with %s: %w", text, err)
		}
		s.registries.assumed = append(s.registries.assumed, &assumed{text: text})
	}
	branches, written := &repo.Overlay{Remote: &listing{Remote: r.Clients.Remote}}, objects{r.Clients.Objects, map[string]bool{}}
	s.forge = newForge(r.Clients.Forge, branches, written, func() repo.Signature {
		by := r.Clients.By
		by.When = s.now
		return by
	})
	reported := &evidence{original: r.Clients.Evidence, stored: map[health.Key]health.State{}, assumed: options.Health}
	copied := observe.Clients{
		Remote: branches, Objects: written, Files: r.Clients.Files, Forge: s.forge, Registries: s.registries,
		Seals: r.Clients.Seals, ReadOnly: true,
		Evidence: reported, AssumedHealth: reported.health,
		Landings: &landing.Rehearsed{Memory: r.Clients.Landings},
		By:       r.Clients.By, Now: clock, Log: r.Clients.Log,
	}
	if r.Clients.Branches != nil {
		copied.Branches = &branchMemory{BranchMemory: r.Clients.Branches}
	}
	if r.Clients.Seals.Memory != nil {
		copied.Seals.Memory = &sealMemory{SealMemory: r.Clients.Seals.Memory}
	}
	s.reconciler = reconcile.Reconciler{
		Clients: copied, Users: observe.Users{Bypasses: r.Users.Bypasses}, Server: r.Server,
		ForgeReads: r.ForgeReads, MaxFollowing: r.MaxFollowing, Progress: r.Progress,
	}
	return s, nil
}

// reconcile reconciles at the time of the clock until nothing more lands, also of what users
// are assumed to merge, and adds what happened to the result.
func (s *simulation) reconcile(ctx context.Context, result *Result) (outcome.Report, error) {
	for range maxSteps {
		report, err := s.reconciler.Reconcile(ctx)
		result.Events = append(result.Events, s.events(report)...)
		if err != nil || report.Unusable != "" || !s.merged {
			return report, err
		}
		merges, err := s.mergeAll(ctx, report)
		result.Events = append(result.Events, merges...)
		if err != nil || len(merges) == 0 {
			return report, err
		}
	}
	return outcome.Report{}, fault.New(fault.Internal, "assumed merges do not end")
}

// events returns what a reconciliation did.
func (s *simulation) events(report outcome.Report) []Event {
	var events []Event
	for _, effect := range report.Effects {
		if effect.Action == outcome.ActionNone || effect.Action == outcome.ActionUpdated {
			continue
		}
		events = append(events, s.eventsOf(effect.Proposal, Kind(effect.Action), effect.Number)...)
	}
	return events
}

// eventsOf returns one event for each target of a proposal.
func (s *simulation) eventsOf(p propose.Proposal, kind Kind, number int) []Event {
	event := Event{At: s.now, Kind: kind, Message: p.Reason.Message, Target: promotion.Target{Environment: p.Environment.Name}}
	if number < firstNumber {
		event.Number = number
	}
	if len(p.Decisions) == 0 {
		return []Event{event}
	}
	var events []Event
	for _, d := range p.Decisions {
		if d.State != promotion.Proposed && kind != Closed {
			continue // it waits for the others of a group
		}
		event.Target = d.Target
		if kind != Closed {
			event.Message = d.Reason.Message
		}
		events = append(events, event)
	}
	return events
}

// mergeAll merges what users are assumed to merge now.
func (s *simulation) mergeAll(ctx context.Context, report outcome.Report) ([]Event, error) {
	var events []Event
	merged := map[string]bool{}
	open, err := s.forge.PullRequests().Open(ctx)
	if err != nil {
		return nil, err
	}
	for _, effect := range report.Effects {
		i := slices.IndexFunc(open, func(pr scm.PullRequest) bool { return pr.Head.Branch == effect.Head && pr.Head.Own })
		foreign := effect.Open != nil && effect.Open.Foreign != ""
		if i < 0 || merged[effect.Head] || effect.Step != propose.StepPropose || effect.Err != nil || foreign {
			continue
		}
		if slices.ContainsFunc(effect.Gates, func(gate promotion.Condition) bool { return gate.Blocks(false) && !byUsers(gate) }) {
			continue
		}
		_, err := s.forge.PullRequests().Merge(ctx, open[i].Number, scm.Merge{Head: open[i].Head.Commit})
		if err != nil {
			return events, fmt.Errorf("merge the pull request of %s: %w", effect.Head, err)
		}
		merged[effect.Head] = true
		for _, event := range s.eventsOf(effect.Proposal, Merged, open[i].Number) {
			event.Assumed = true
			events = append(events, event)
		}
	}
	return events, nil
}

// byUsers reports whether users, or what they run, meet a gate.
func byUsers(gate promotion.Condition) bool {
	return !strings.HasPrefix(gate.Name, "windows ") && !strings.HasPrefix(gate.Name, "hold ")
}

// unused returns the versions of With that no component takes. The error is about one that
// cannot be used.
func (s *simulation) unused() (texts []string, err error) {
	for _, one := range s.registries.assumed {
		if !one.used {
			texts = append(texts, one.text)
		}
		if one.err != nil {
			return nil, fault.New(fault.Invalid, "--with %s: %w", one.text, one.err)
		}
	}
	return texts, nil
}

// changes calls a function with everything that ends by itself and keeps a target from its
// next step. The windows of what a condition blocks are no part of that.
func changes(report outcome.Report, found func(target promotion.Target, what string, until time.Time)) {
	pending := func(target promotion.Target, all []promotion.Condition, text func(promotion.Condition) string) {
		for _, c := range all {
			if c.Until != nil && c.Blocks(false) {
				found(target, text(c), *c.Until)
			}
		}
	}
	gates := map[promotion.Target][]promotion.Condition{}
	for _, effect := range report.Effects {
		for _, d := range effect.Decisions {
			gates[d.Target] = effect.Gates
		}
		if len(effect.Decisions) > 0 {
			found(effect.Decisions[0].Target, "", effect.Reason.Until)
		}
	}
	for _, d := range report.Decisions {
		switch d.Reason.Rule {
		case promotion.RuleFrozen:
			found(d.Target, "the freeze ends: "+d.Reason.Message, d.Reason.Until)
		case promotion.RuleCondition: // below
		default:
			found(d.Target, "", d.Reason.Until)
		}
		for _, note := range d.Notes {
			if note.Rule == promotion.RuleFrozen {
				found(d.Target, "the freeze ends: "+note.Message, note.Until)
			}
		}
		if d.Health != nil && d.Health.Failure == nil {
			found(d.Target, "the timeout of health passes: "+string(d.Health.Status), d.Health.FailsAt)
		}
		pending(d.Target, d.Conditions, conditionText)
		if d.State == promotion.Proposed || d.State == promotion.Stuck {
			pending(d.Target, gates[d.Target], gateText)
		}
	}
}

// conditionText describes a condition that the time meets.
func conditionText(c promotion.Condition) string {
	if c.Name == promotion.NewerCondition {
		return "the newer version no longer waits for checks"
	}
	if strings.HasPrefix(c.Reason, "minAge ") {
		return c.Name + " is old enough: " + c.Reason
	}
	return strings.TrimSpace(c.Name+" "+c.Value) + " passes"
}

// gateText describes a gate that the time meets.
func gateText(gate promotion.Condition) string {
	names, windows := strings.CutPrefix(gate.Name, "windows ")
	switch {
	case !windows:
		return gate.Name + " passes"
	case strings.Contains(names, ","):
		return "windows " + names + " open"
	default:
		return "window " + names + " opens"
	}
}

// nextChange returns the next time at which something changes by itself; zero: none is known.
func nextChange(report outcome.Report, now time.Time) (next time.Time) {
	changes(report, func(_ promotion.Target, _ string, until time.Time) {
		if until.After(now) && (next.IsZero() || until.Before(next)) {
			next = until
		}
	})
	return next
}

// passedUntil returns what ends by itself at a time.
func passedUntil(report outcome.Report, at time.Time) []Event {
	var events []Event
	changes(report, func(target promotion.Target, what string, until time.Time) {
		event := Event{Target: target, At: at, Kind: Passed, Message: what}
		if what != "" && until.Equal(at) && !slices.Contains(events, event) {
			events = append(events, event)
		}
	})
	return events
}

// waits returns the targets that wait at the end, environments in the order of the config.
func waits(report outcome.Report) []Wait {
	var all []Wait
	proposals := make([]propose.Proposal, len(report.Effects))
	for i, effect := range report.Effects {
		proposals[i] = effect.Proposal
	}
	slices.Reverse(proposals) // the last one about a target counts
	for _, d := range report.Decisions {
		if d.State == promotion.NoReference || d.State == promotion.NotCheckedOut {
			continue
		}
		blocker, blocked := explain.Blocking(d, proposals)
		if !blocked || len(d.Moves) == 0 && blocker.Kind == explain.Versions {
			continue
		}
		blocker.Reason, blocker.Advice = unnumbered(blocker.Reason), unnumbered(blocker.Advice)
		all = append(all, Wait{Target: d.Target, Blocker: blocker, Moves: d.Moves})
	}
	return all
}

// unnumbered leaves out the numbers of pull requests that the forge does not have.
func unnumbered(text string) string {
	for at := strings.Index(text, "pull request #"); at >= 0; at = strings.Index(text, "pull request #") {
		number, rest := text[at+len("pull request #"):], ""
		if end := strings.IndexFunc(number, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
			number, rest = number[:end], number[end:]
		}
		if n, err := strconv.Atoi(number); err != nil || n < firstNumber {
			return text
		}
		text = strings.TrimSuffix(text[:at], "the ") + "the pull request" + rest
	}
	return text
}

// joined returns the errors of all reconciliations, each once.
func joined(before, now []repo.PartialError) []repo.PartialError {
	all := slices.Clone(before)
	for _, one := range now {
		same := func(other repo.PartialError) bool {
			return other.What == one.What && other.Err.Error() == one.Err.Error()
		}
		if !slices.ContainsFunc(all, same) {
			all = append(all, one)
		}
	}
	return all
}
