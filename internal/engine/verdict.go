package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"promoter/internal/command"
	"promoter/internal/verb"

	"promoter/internal/promotion"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// verdict is what becomes of a command.
type verdict struct {
	reaction scm.Reaction
	words    string // for whoever gave it; empty: the reaction says enough
	subject  string // of the commit that writes the changes
	changes  []state.Change
}

func refusal(words string) verdict { return verdict{reaction: scm.ReactionRefused, words: words} }
func unclear(words string) verdict { return verdict{reaction: scm.ReactionUnclear, words: words} }
func done() verdict                { return verdict{reaction: scm.ReactionDone} }

// judge asks who may what, live, and says what a command does. A stranger gets no
// words: whoever may write comments could have promoter write some.
func (v *view) judge(ctx context.Context, s said) (verdict, error) {
	right, err := v.Permissions.Allowed(ctx, s.Author, verb.Help)
	if err != nil || !right.Allowed {
		return refusal(""), err
	}
	about, ours, err := v.aboutPull(ctx, s.Number)
	if err != nil {
		return verdict{}, err
	}
	if !ours {
		return notOurs(s.command), nil
	}
	if s.command.Problem != "" {
		return unclear(s.command.Problem), nil
	}
	if len(about.places) == 0 {
		return refusal("this pull request carries no application of an environment that is in the config"), nil
	}
	switch s.command.Verb {
	case verb.Help:
		return v.helped(ctx, s, about)
	case verb.Explain:
		return done(), nil
	case verb.Refresh:
		if v.Refresh != nil {
			v.Refresh(v.observed.Config)
		}
		v.again = true
		return done(), nil
	}
	return v.decided(ctx, s, about)
}

// notOurs is for a pull request of somebody else, about which nothing is decided.
func notOurs(command command.Command) verdict {
	switch {
	case command.Problem != "":
		return unclear("")
	case command.Verb == verb.Help || command.Verb == verb.Explain:
		return refusal("this pull request is none of promoter's")
	}
	return refusal("")
}

// helped lists what the person may do here.
func (v *view) helped(ctx context.Context, s said, about aboutPull) (verdict, error) {
	var may []string
	for _, verb := range []verb.Verb{verb.Hold, verb.Resume, verb.Reject} {
		right, err := v.Permissions.Allowed(ctx, s.Author, verb, v.placesOf(command.Command{Verb: verb}, about)...)
		if err != nil {
			return verdict{}, err
		}
		if right.Allowed {
			may = append(may, string(verb))
		}
	}
	for _, environment := range v.observed.Config.Order() {
		command := command.Command{Verb: verb.Promote, Environment: environment}
		if missing := v.missing(command, about); missing != "" {
			continue
		}
		right, err := v.Permissions.Allowed(ctx, s.Author, verb.Promote, v.placesOf(command, about)...)
		if err != nil {
			return verdict{}, err
		}
		if right.Allowed {
			may = append(may, command.String())
		}
	}
	may = append(may, string(verb.Refresh), string(verb.Explain), string(verb.Help))
	helped := done()
	helped.words = "here you may use " + strings.Join(may, ", ")
	return helped, nil
}

// decided is a command that writes something down.
func (v *view) decided(ctx context.Context, s said, about aboutPull) (verdict, error) {
	if s.command.Verb == verb.Promote {
		if why, away := v.observed.Unavailable[s.command.Environment]; away {
			return verdict{}, fault.New(fault.Temporary, "%s cannot be read: %s", s.command.Environment, why)
		}
		if missing := v.missing(s.command, about); missing != "" {
			return unclear(missing), nil
		}
	}
	right, err := v.Permissions.Allowed(ctx, s.Author, s.command.Verb, v.placesOf(s.command, about)...)
	if err != nil || !right.Allowed {
		return refusal(right.Reason), err
	}
	return v.ordered(ctx, s, about)
}

// ordered is a command of somebody who may give it.
func (v *view) ordered(ctx context.Context, s said, about aboutPull) (verdict, error) {
	if why := v.overtaken(s, about); why != "" {
		return refusal(why), nil
	}
	act := state.Act{By: s.Author, At: s.Created, Why: s.command.Reason}
	carried := done()
	switch s.command.Verb {
	case verb.Hold:
		for _, target := range about.places {
			carried.changes = append(carried.changes, state.Hold(state.Target(target), act))
		}
	case verb.Resume:
		for _, target := range about.places {
			carried.changes = append(carried.changes, state.Resume(state.Target(target), act))
		}
	case verb.Promote:
		for _, target := range v.placesOf(s.command, about) {
			carried.changes = append(carried.changes, state.Ask(state.Target(target), state.Request{Act: act}))
		}
	case verb.Reject:
		changes, why, err := v.rejections(ctx, about, act)
		if err != nil || why != "" {
			return refusal(why), err
		}
		carried.changes = changes
	default:
		return unclear("unknown command"), nil
	}
	carried.subject = v.subjectOf(s.command, about)
	return carried, nil
}

// overtaken says what was decided after a command was written, and would be undone
// by it: a comment may be heard days late. Empty: nothing was.
func (v *view) overtaken(s said, about aboutPull) string {
	for _, target := range v.placesOf(s.command, about) {
		record := v.observed.State.At(state.Target(target))
		switch s.command.Verb {
		case verb.Hold:
			if v.observed.State.ResumedAt(state.Target(target)).After(s.Created) {
				return "it was resumed since then"
			}
		case verb.Resume:
			if record.Hold != nil && record.Hold.At.After(s.Created) {
				return "it was held or rolled back since then" // a rollback holds
			}
		case verb.Promote:
			if record.Request != nil && record.Request.At.After(s.Created) {
				return "another promotion was asked for since then"
			}
		}
	}
	return ""
}

// missing says what a promotion is asked for that is not there.
func (v *view) missing(command command.Command, about aboutPull) string {
	if _, known := v.observed.Config.Environment(command.Environment); !known {
		return fmt.Sprintf("there is no environment %s; there are %s", command.Environment, strings.Join(v.observed.Config.Order(), ", "))
	}
	for _, target := range v.placesOf(command, about) {
		if _, here := v.observed.Targets[target]; !here {
			return fmt.Sprintf("%s has no files in %s", target.Application, target.Environment)
		}
	}
	return ""
}

// placesOf returns what a command decides about. A rejection holds everywhere.
func (v *view) placesOf(command command.Command, about aboutPull) []promotion.Target {
	targets := slices.Clone(about.places)
	switch command.Verb {
	case verb.Promote:
		for i := range targets {
			targets[i].Environment = command.Environment
		}
	case verb.Reject:
		for target := range v.observed.Targets {
			targets = append(targets, target)
		}
	}
	slices.SortFunc(targets, promotion.Target.Compare)
	return slices.Compact(targets)
}

// subjectOf is what the commit is called, as that of the command line.
func (v *view) subjectOf(command command.Command, about aboutPull) string {
	target := state.Target(about.place)
	subject := strings.ToUpper(string(command.Verb[:1])) + string(command.Verb[1:])
	switch command.Verb {
	case verb.Promote:
		target.Environment = command.Environment
	case verb.Reject:
		subject += fmt.Sprintf(" the versions of pull request %d in", about.number)
		target = state.Target{Environment: state.All, Application: state.All}
	}
	return state.Subject(subject, target, command.Reason)
}
