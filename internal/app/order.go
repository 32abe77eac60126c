package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"promoter/internal/engine"
	"promoter/internal/promotion"
	"promoter/internal/verb"
	"promoter/internal/workspace"

	"promoter/internal/config"
	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/state"
)

// Verb is a decision of a user.
type Verb = verb.Verb

// The verbs.
const (
	VerbHold     = verb.Hold
	VerbResume   = verb.Resume
	VerbReject   = verb.Reject
	VerbPromote  = verb.Promote
	VerbRollback = verb.Rollback
	VerbFreeze   = verb.Freeze
	VerbThaw     = verb.Thaw
)

// Order is one verb with what it is about.
type Order struct {
	Verb        Verb
	Environment string // empty: all of them
	Application string // empty: all of them
	Reason      string
	With        []string   // promote: REPOSITORY[:TAG][@DIGEST]
	Images      []string   // reject: COMPONENT or REPOSITORY, with :TAG, @DIGEST or both
	Until       *time.Time // freeze
	As          string     // who decides; empty: whoever the credential is
	CacheDir    string
}

// Carried is an order that was carried out.
type Carried struct {
	Repository string
	Subject    string             // of the commit
	By         identity.User      // who it is written down for
	Places     []promotion.Target // that it is about; state.All stands for all
	Images     map[string]string  // reject, rollback: by component
	Stood      bool               // it was written down before, so nothing was written
}

// Decide carries an order out on the one repository that was named: it writes it
// to the repository's branch promoter/_state. The next pass acts on it.
func Decide(ctx context.Context, c *connect.Connections, order Order) (carried Carried, err error) {
	if err := order.check(); err != nil {
		return Carried{}, err
	}
	s := c.Server
	if len(s.Discover) > 0 {
		return Carried{}, fault.New(fault.Invalid, "%s is for one repository: name it with --repo", order.Verb)
	}
	if len(s.Targets) > 1 {
		return Carried{}, fault.New(fault.Invalid, "%s is for one repository: name it with --repo; there are %s", order.Verb, fault.List(s.Repositories()))
	}
	session, err := c.Open(ctx, order.CacheDir)
	if err != nil {
		return Carried{}, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	r := session.Repositories[0]
	err = workspace.Use(ctx, session, r, workspace.Options{}, func(w *workspace.Workspace) error {
		d := deciding{Order: order, workspace: w, reconciler: &w.Reconciler, server: s, repository: r, now: s.Now().UTC()}
		carried, err = d.decide(ctx)
		return err
	})
	return carried, err
}

// check refuses what no repository has to be asked for.
func (o Order) check() error {
	switch {
	case o.Verb == VerbReject && len(o.Images) == 0:
		return fault.New(fault.Invalid, "reject needs what to reject: COMPONENT:TAG, or REPOSITORY:TAG with @DIGEST or without")
	case (o.Verb == VerbPromote || o.Verb == VerbRollback) && o.Environment == "":
		return fault.New(fault.Invalid, "%s needs the environment: name it with --env", o.Verb)
	case (o.Verb == VerbFreeze || o.Verb == VerbThaw) && o.Application != "":
		return fault.New(fault.Invalid, "%s is about a whole environment: leave --app out, or use hold and resume", o.Verb)
	}
	if len(o.With) > state.MaxVersions {
		return fault.New(fault.Invalid, "--with names more than %d versions: ask for them in several orders", state.MaxVersions)
	}
	_, err := promotion.ParseExplicitVersions(o.With, strings.NewReader(""))
	return err
}

// deciding is an order on its way.
type deciding struct {
	Order
	workspace  *workspace.Workspace
	reconciler *engine.Reconciler // that of workspace
	server     *connect.Server
	repository *connect.Repository
	now        time.Time
	config     *config.Config
	byDefault  string // branch
}

func (d *deciding) decide(ctx context.Context) (Carried, error) {
	if d.repository.SCM.Info().Archived {
		return Carried{}, fault.New(fault.Invalid, "the repository is archived: unarchive it first")
	}
	var err error
	if d.config, d.byDefault, err = d.workspace.Config(ctx); err != nil {
		return Carried{}, err
	}
	targets, err := d.places(ctx)
	if err != nil {
		return Carried{}, err
	}
	carried := Carried{Repository: d.repository.Name, By: d.by(), Places: targets}
	changes, err := d.changes(ctx, &carried)
	if err != nil {
		return Carried{}, err
	}
	carried.Subject = d.subject(targets)
	written, err := d.reconciler.RecordDecision(ctx, carried.Subject, changes...)
	carried.Stood = !written
	return carried, err
}

// by says who decides: the account of the credential where a forge tells, else
// what the person says of themselves. It proves nothing: whoever may push the
// branch may write any name into it.
func (d *deciding) by() identity.User {
	self := d.repository.SCM.Info().Self
	if d.As != "" {
		return identity.User{Host: self.Host, Login: d.As}
	}
	if self.Login != "" {
		return self
	}
	for _, variable := range []string{"USER", "USERNAME"} {
		if name, set := d.server.Env(variable); set && name != "" {
			return identity.User{Login: name}
		}
	}
	return identity.User{Login: "somebody"}
}

func (d *deciding) act() state.Act {
	return state.Act{By: d.by(), At: d.now, Reason: d.Reason}
}

// subject is what the commit on the state branch is called.
func (d *deciding) subject(targets []promotion.Target) string {
	verb := strings.ToUpper(string(d.Verb[:1])) + string(d.Verb[1:])
	if d.Verb == VerbReject {
		verb += " " + strings.Join(d.Images, ", ") + " in"
	}
	switch {
	case len(targets) == 1:
		return state.Subject(verb, state.Target(targets[0]), d.Reason)
	case d.Environment == "": // places of one application
		return state.Subject(verb+" "+d.Application+" everywhere in", state.Target{Environment: state.All, Application: state.All}, d.Reason)
	default:
		return state.Subject(verb, state.Target{Environment: d.Environment, Application: state.All}, d.Reason)
	}
}

// changes makes the order's changes of all places.
func (d *deciding) changes(ctx context.Context, carried *Carried) ([]state.Change, error) {
	var changes []state.Change
	images, err := d.rejected(ctx)
	if err != nil {
		return nil, err
	}
	carried.Images = images
	for _, target := range carried.Places {
		change, err := d.change(ctx, target, carried)
		if err != nil {
			return nil, err
		}
		changes = append(changes, change)
	}
	return changes, nil
}

func (d *deciding) change(ctx context.Context, target promotion.Target, carried *Carried) (state.Change, error) {
	at, act := state.Target(target), d.act()
	switch d.Verb {
	case VerbHold:
		return state.Hold(at, act), nil
	case VerbResume:
		return state.Resume(at, act), nil
	case VerbPromote:
		return state.AddRequest(at, state.Request{Act: act, With: d.With}), nil
	case VerbReject:
		return state.Reject(at, state.Rejection{Act: act, Images: carried.Images}), nil
	case VerbFreeze:
		return state.Freeze(at.Environment, act, d.Until), nil
	case VerbThaw:
		return state.Thaw(at.Environment), nil
	case VerbRollback:
		before, err := d.reconciler.PreviousSnapshot(ctx, target)
		if fault.KindOf(err) == fault.NotFound {
			err = fmt.Errorf("%w: name the versions with 'promoter promote --with', and hold the place", err)
		}
		if err != nil {
			return nil, err
		}
		carried.Images = imagesOf(before)
		return state.Rollback(at, state.RolledBack{Act: act, Images: carried.Images}), nil
	}
	return nil, fault.New(fault.Invalid, "%q is no verb", d.Verb)
}
