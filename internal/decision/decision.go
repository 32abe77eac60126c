// Package decision records user decisions: promote, hold, resume, reject, unreject,
// rollback, freeze, and thaw; confirms a state branch that was deleted or moved back; and adopts times that
// have no seal.
//
// Record is the path of the command line, and RecordIn that of the HTTP API. Both validate a
// decision against the config and the files of one repository, and write it to the branch promoter/_state. The next
// reconciliation applies it. Commands in comments are the other path: package command
// parses them and package comments applies them in a reconciliation. Both write the same
// changes of package state, so a decision has the same effect wherever it comes from.
//
// Not to be confused with promotion.Decision, which is what promoter decides.
package decision

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"promoter/internal/api"
	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/state"
	"promoter/internal/verb"
	"promoter/internal/workspace"
)

// Decision is one verb and what it applies to.
type Decision struct {
	Verb        verb.Verb
	Environment string // empty: all environments
	Application string // or a pattern of several; empty: all applications
	All         bool   // of what is not named: without it, a decision about several targets is refused
	DryRun      bool   // nothing is recorded
	Reason      string
	With        []string          // promote: COMPONENT or REPOSITORY, with :TAG, @DIGEST, or both
	Bypass      []string          // promote, rollback: conditions and gates to bypass, of verb.BypassableBy
	For         map[string]string // promote: the images that the user saw, by component; empty: what waits now
	Images      []string          // reject, unreject: COMPONENT or REPOSITORY, with :TAG, @DIGEST, or both
	Until       *time.Time        // freeze
	Downstream  bool              // rollback: also each target downstream that has the versions
	To          string            // rollback: the first digits of a commit or a snapshot; empty: the previous state
	As          string            // the user who decides; empty: the one whom the forge authenticates
	Claimed     string            // the name of the user of this machine, if the forge authenticates none
	Flags       string            // further flags of the command, which a command that is printed repeats
}

// Result is a decision that was recorded.
type Result struct {
	Repository string
	Key        identity.RepositoryKey
	Subject    string                 // of the commit
	By         identity.User          // the user who is recorded
	Targets    []promotion.Target     // that it applies to; state.All stands for all
	Images     map[string]string      // reject, unreject, rollback: by component
	Effects    []string               // what it changed, what was in effect before, and what stops it
	Promotions []api.DecidedPromotion // promote, rollback: what they bring, and what holds it
	Unchanged  bool                   // it was in effect before, so nothing was written
	DryRun     bool                   // nothing was written, because the user asked only what would be
	Downstream []Downstream           // rollback: the targets downstream that have the versions
}

// Downstream is a target that has versions that a target upstream is rolled back from.
type Downstream struct {
	promotion.Target
	Images  map[string]string // that it has, by component
	To      map[string]string // to which it is rolled back too; nil: it stays as it is
	Command string            // that rolls it back; empty: it is rolled back

	notes []string // what users should know about the images
}

// validate checks what can be checked without the repository.
func (d Decision) validate() error {
	switch {
	case (d.Verb == verb.Reject || d.Verb == verb.Unreject) && len(d.Images) == 0:
		return fault.New(fault.Invalid, "%s needs what to %s: COMPONENT:TAG, or REPOSITORY:TAG with @DIGEST or without", d.Verb, d.Verb)
	case verb.Administers(d.Verb) && (d.Environment != "" || d.Application != ""):
		return fault.New(fault.Invalid, "%s is about the whole repository: omit --env and --app", d.Verb)
	case d.All && d.Environment != "" && d.Application != "":
		return fault.New(fault.Invalid, "--all is for what is not named: omit it, or --env, or --app")
	case (d.Verb == verb.Promote || d.Verb == verb.Rollback) && d.Environment == "":
		return fault.New(fault.Invalid, "%s needs the environment: name it with --env", d.Verb)
	case d.Downstream && d.Verb != verb.Rollback:
		return fault.New(fault.Invalid, "--downstream is for rollback")
	case (d.Verb == verb.Freeze || d.Verb == verb.Thaw) && d.Application != "":
		return fault.New(fault.Invalid, "%s applies to a whole environment: omit --app, or use hold and resume", d.Verb)
	}
	if len(d.With) > state.MaxVersions {
		return fault.New(fault.Invalid, "--with names more than %d versions: request them in several commands", state.MaxVersions)
	}
	if err := d.validateBypass(); err != nil {
		return err
	}
	_, err := image.ParseExplicitVersions(d.With, strings.NewReader(""))
	return err
}

func (d Decision) validateBypass() error {
	known := verb.BypassableBy(d.Verb)
	for _, condition := range d.Bypass {
		switch {
		case len(known) == 0:
			return fault.New(fault.Invalid, "%s bypasses nothing: --bypass is for promote and rollback", d.Verb)
		case d.Verb == verb.Rollback && slices.Contains(verb.Bypassable(), condition) && !slices.Contains(known, condition):
			const waits = "--bypass %s: a rollback does not wait for it, only for %s"
			return fault.New(fault.Invalid, waits, condition, strings.Join(known, ", "))
		case !slices.Contains(known, condition):
			return fault.New(fault.Invalid, "--bypass %s: want one of %s", condition, strings.Join(known, ", "))
		}
	}
	if len(d.Bypass) > 0 && strings.TrimSpace(d.Reason) == "" {
		return fault.New(fault.Invalid, "--bypass needs a --reason")
	}
	return nil
}

// repository is the opened repository that a decision is about.
type repository struct {
	workspace     *workspace.Workspace
	config        *config.Config
	defaultBranch string
	covers        func(promotion.Target) bool // which targets errors may name
	known         *usage                      // the components that the user may know; nil: all of them
	captured      string                      // what the paths capture for the application of the decision; empty: it is about several
}

// subject returns the subject of the commit on the state branch.
func subject(d Decision, targets []promotion.Target) string {
	label := d.Verb.Title()
	if len(d.Images) > 0 {
		label += " " + strings.Join(d.Images, ", ") + " in"
	}
	several := strings.ContainsAny(d.Application, globs)
	switch {
	case len(targets) == 1:
		return state.Subject(label, targets[0].Name(), d.Reason)
	case several || len(targets) > 1 && d.Application == "" && !perApplication(d.Verb):
		return state.Subject(label, namesOf(targets, maxSubjects), d.Reason)
	case d.Environment == "": // targets of one application
		everywhere := state.Target{Environment: state.All, Application: state.All}
		return state.Subject(label+" "+d.Application+" everywhere in", everywhere.String(), d.Reason)
	default:
		return state.Subject(label, state.Target{Environment: d.Environment, Application: state.All}.String(), d.Reason)
	}
}

// message returns the message of the commit on the state branch: the subject and, for a pattern, what it matched.
func message(d Decision, r Result) string {
	if !strings.ContainsAny(d.Application, globs) {
		return r.Subject
	}
	text := r.Subject + "\n"
	for _, target := range r.Targets[:min(maxListed, len(r.Targets))] {
		text += "\n- " + target.Name()
	}
	if more := len(r.Targets) - maxListed; more > 0 {
		text += fmt.Sprintf("\n- and %d more", more)
	}
	return text
}

const (
	globs       = "*" // what is a pattern in the name of an application
	maxSubjects = 3   // targets in the subject of a commit
	maxNames    = 20  // targets in a message
	maxListed   = 500 // targets in the message of a commit
)

// namesOf lists targets.
func namesOf(targets []promotion.Target, most int) string {
	var names []string
	for _, target := range targets[:min(most, len(targets))] {
		names = append(names, target.Name())
	}
	text := strings.Join(names, ", ")
	if more := len(targets) - most; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// Answer returns a recorded decision as the HTTP API and the command line show it.
func Answer(what verb.Verb, r Result) api.Decided {
	answer := api.Decided{
		Schema: api.Schema, Repository: r.Repository,
		Verb: what, By: api.User{Host: r.By.Host, Login: r.By.Login}, Subject: r.Subject,
		Targets: []api.DecidedTarget{}, Images: r.Images, Effects: append([]string{}, r.Effects...),
		Unchanged: r.Unchanged, DryRun: r.DryRun, Promotions: r.Promotions,
	}
	for _, target := range r.Targets {
		answer.Targets = append(answer.Targets, api.DecidedTarget(target))
	}
	for _, one := range r.Downstream {
		answer.Downstream = append(answer.Downstream, api.DecidedDownstream{
			Environment: one.Environment, Application: one.Application, Images: one.Images, To: one.To, Command: one.Command,
		})
	}
	return answer
}
