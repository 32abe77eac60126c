// Package decision records user decisions: promote, hold, resume, reject, rollback,
// freeze, and thaw.
//
// Record is the path of the command line. It validates a decision against the config and
// the files of one repository, and writes it to the branch promoter/_state. The next
// reconciliation applies it. Commands in comments are the other path: package command
// reads them and package engine applies them while it reconciles. Both write the same
// changes of package state, so a decision has the same effect wherever it comes from.
//
// Not to be confused with promotion.Decision, which is what promoter decides.
package decision

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"promoter/internal/config"
	"promoter/internal/connect"
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
	Application string // empty: all applications
	Reason      string
	With        []string   // promote: REPOSITORY[:TAG][@DIGEST]
	Images      []string   // reject: COMPONENT or REPOSITORY, with :TAG, @DIGEST, or both
	Until       *time.Time // freeze
	As          string     // the user who decides; empty: the user of the credential
}

// Result is a decision that was recorded.
type Result struct {
	Repository string
	Subject    string             // of the commit
	By         identity.User      // the user who is recorded
	Targets    []promotion.Target // that it applies to; state.All stands for all
	Images     map[string]string  // reject, rollback: by component
	Unchanged  bool               // it was in effect before, so nothing was written
}

// Record writes a decision to the state branch of the one repository that the
// connections name. The cache directory keeps its mirror; empty: nothing is kept.
func Record(ctx context.Context, c *connect.Connections, d Decision, cacheDir string) (result Result, err error) {
	if err := d.validate(); err != nil {
		return Result{}, err
	}
	server := c.Server
	if len(server.Discover) > 0 {
		return Result{}, fault.New(fault.Invalid, "%s is for one repository: name it with --repo", d.Verb)
	}
	if len(server.Targets) > 1 {
		return Result{}, fault.New(fault.Invalid, "%s is for one repository: name it with --repo; there are %s", d.Verb, fault.List(server.Repositories()))
	}
	session, err := c.Open(ctx, cacheDir)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	r := session.Repositories[0]
	err = workspace.Use(ctx, session, r, workspace.Options{}, func(w *workspace.Workspace) error {
		result, err = record(ctx, d, server, r, w)
		return err
	})
	return result, err
}

// validate checks what can be checked without the repository.
func (d Decision) validate() error {
	switch {
	case d.Verb == verb.Reject && len(d.Images) == 0:
		return fault.New(fault.Invalid, "reject needs what to reject: COMPONENT:TAG, or REPOSITORY:TAG with @DIGEST or without")
	case (d.Verb == verb.Promote || d.Verb == verb.Rollback) && d.Environment == "":
		return fault.New(fault.Invalid, "%s needs the environment: name it with --env", d.Verb)
	case (d.Verb == verb.Freeze || d.Verb == verb.Thaw) && d.Application != "":
		return fault.New(fault.Invalid, "%s applies to a whole environment: omit --app, or use hold and resume", d.Verb)
	}
	if len(d.With) > state.MaxVersions {
		return fault.New(fault.Invalid, "--with names more than %d versions: request them in several commands", state.MaxVersions)
	}
	_, err := image.ParseExplicitVersions(d.With, strings.NewReader(""))
	return err
}

// repository is the opened repository that a decision is about.
type repository struct {
	workspace     *workspace.Workspace
	config        *config.Config
	defaultBranch string
}

func record(ctx context.Context, d Decision, server *connect.Server, r *connect.Repository, w *workspace.Workspace) (Result, error) {
	info := r.SCM.Info()
	if info.Archived {
		return Result{}, fault.New(fault.Invalid, "the repository is archived: unarchive it first")
	}
	loaded, branch, err := w.Config(ctx)
	if err != nil {
		return Result{}, err
	}
	opened := repository{workspace: w, config: loaded, defaultBranch: branch}
	targets, err := findTargets(ctx, d, opened)
	if err != nil {
		return Result{}, err
	}
	result := Result{Repository: r.Name, By: user(d.As, info.Self, server.Env), Targets: targets, Subject: subject(d, targets)}
	changes, images, err := changesOf(ctx, d, opened, targets, state.Act{By: result.By, At: server.Now().UTC(), Reason: d.Reason})
	if err != nil {
		return Result{}, err
	}
	result.Images = images
	written, err := w.Reconciler.RecordDecision(ctx, result.Subject, changes...)
	result.Unchanged = !written
	return result, err
}

// user returns who decides: the account of the credential if the forge reports it, else
// what the user claims. It proves nothing: every user who may push the branch may write
// any name into it.
func user(claimed string, self identity.User, env func(string) (string, bool)) identity.User {
	if claimed != "" {
		return identity.User{Host: self.Host, Login: claimed}
	}
	if self.Login != "" {
		return self
	}
	for _, variable := range []string{"USER", "USERNAME"} {
		if name, set := env(variable); set && name != "" {
			return identity.User{Login: name}
		}
	}
	return identity.User{Login: "unknown"}
}

// subject returns the subject of the commit on the state branch.
func subject(d Decision, targets []promotion.Target) string {
	label := d.Verb.Title()
	if d.Verb == verb.Reject {
		label += " " + strings.Join(d.Images, ", ") + " in"
	}
	switch {
	case len(targets) == 1:
		return state.Subject(label, state.Target(targets[0]), d.Reason)
	case d.Environment == "": // targets of one application
		return state.Subject(label+" "+d.Application+" everywhere in", state.Target{Environment: state.All, Application: state.All}, d.Reason)
	default:
		return state.Subject(label, state.Target{Environment: d.Environment, Application: state.All}, d.Reason)
	}
}

// changesOf returns the change of the state of each target, and for a rejection or a
// rollback the images by component.
func changesOf(ctx context.Context, d Decision, r repository, targets []promotion.Target, act state.Act) (changes []state.Change, images map[string]string, err error) {
	if images, err = readImages(ctx, d, r); err != nil {
		return nil, nil, err
	}
	for _, target := range targets {
		at := state.Target(target)
		var change state.Change
		switch d.Verb {
		case verb.Hold:
			change = state.Hold(at, act)
		case verb.Resume:
			change = state.Resume(at, act)
		case verb.Promote:
			change = state.AddRequest(at, state.Request{Act: act, With: d.With})
		case verb.Reject:
			change = state.Reject(at, state.Rejection{Act: act, Images: images})
		case verb.Freeze:
			change = state.Freeze(at.Environment, act, d.Until)
		case verb.Thaw:
			change = state.Thaw(at.Environment)
		case verb.Rollback:
			previous, err := r.workspace.Reconciler.PreviousSnapshot(ctx, target)
			if fault.KindOf(err) == fault.NotFound {
				err = fmt.Errorf("%w: name the versions with 'promoter promote --with', and hold the target", err)
			}
			if err != nil {
				return nil, nil, err
			}
			images = imagesOf(previous)
			change = state.Rollback(at, state.RolledBack{Act: act, Images: images})
		default:
			return nil, nil, fault.New(fault.Invalid, "%q is not a decision", d.Verb)
		}
		changes = append(changes, change)
	}
	return changes, images, nil
}
