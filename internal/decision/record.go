package decision

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"promoter/internal/connect"
	"promoter/internal/connect/rules"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/promotion"
	"promoter/internal/state"
	"promoter/internal/statebranch"
	"promoter/internal/verb"
	"promoter/internal/workspace"
)

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
		return Result{}, fault.New(fault.Invalid, "%s is for one repository: name it with --repo; there are %s",
			d.Verb, fault.List(server.Repositories()))
	}
	session, err := c.Open(ctx, cacheDir)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	r := session.Repositories[0]
	err = workspace.Use(ctx, session, r, workspace.Options{}, func(ctx context.Context, w *workspace.Workspace) error {
		result, err = RecordIn(ctx, session, r, w, d, userOfCommand{session, r, d})
		return err
	})
	return result, err
}

// Deployments returns targets with what the rules of the server can apply to. It observes the
// repository.
type Deployments func(ctx context.Context) ([]promotion.Deployment, error)

// Authority decides who is recorded for a decision, and whether that user may decide.
type Authority interface {
	// Covers reports whether an environment or a target may be named to the user; a target
	// without an application is an environment.
	Covers(target promotion.Target) bool
	// Administers reports whether the user may administer the whole repository, such as confirm its state branch.
	Administers() bool
	// Authorize returns the user to record, or why that user may not decide about all of the
	// targets. The deployments are those of all targets.
	Authorize(ctx context.Context, targets []promotion.Target, deployments Deployments) (identity.User, error)
}

// RecordIn records a decision in a repository that is open.
func RecordIn(
	ctx context.Context, session *connect.Session, r *connect.Repository, w *workspace.Workspace, d Decision, authority Authority,
) (Result, error) {
	if err := d.validate(); err != nil {
		return Result{}, err
	}
	if r.SCM.Info().Archived {
		return Result{}, fault.New(fault.Invalid, "the repository is archived: unarchive it first")
	}
	loaded, branch, err := w.Config(ctx)
	if err != nil {
		return Result{}, err
	}
	opened := repository{workspace: w, config: loaded, defaultBranch: branch, covers: authority.Covers}
	stateBranch := w.Reconciler.Clients.StateBranch()
	stateBranch.DryRun = d.DryRun
	if verb.Administers(d.Verb) {
		return administer(ctx, d, r, opened, stateBranch, authority)
	}
	targets, err := findTargets(ctx, d, opened)
	if err != nil {
		return Result{}, err
	}
	concerned, err := released(ctx, d, opened, targets)
	if err != nil {
		return Result{}, err
	}
	concerned = slices.Concat(targets, concerned)
	by, err := authority.Authorize(ctx, concerned, func(ctx context.Context) ([]promotion.Deployment, error) {
		return opened.deployments(ctx, concerned)
	})
	if err != nil {
		return Result{}, err
	}
	if len(d.With) > 0 || len(d.Images) > 0 {
		if opened.captured, err = captured(ctx, opened, targets); err != nil {
			return Result{}, err
		}
		if opened.known, err = usageInScope(ctx, opened); err != nil {
			return Result{}, err
		}
	}
	if d.With, err = withRepositories(d.With, opened); err != nil {
		return Result{}, err
	}
	if len(d.Bypass) > 0 {
		if err := checkBypass(ctx, d, session, r, opened, targets, by); err != nil {
			return Result{}, err
		}
	}
	act := state.Act{By: by, At: session.Server.Now().UTC(), Reason: d.Reason}
	result := Result{Repository: r.Name, Key: r.Key(), By: act.By, Targets: targets, DryRun: d.DryRun, Subject: subject(d, targets)}
	var changes []state.Change
	switch d.Verb {
	case verb.Promote:
		wanted, err := requestWaiting(ctx, d, opened, targets, act)
		result.Effects = wanted.effects
		if err != nil || len(wanted.targets) == 0 {
			result.Unchanged = true
			return result, err
		}
		targets = wanted.targets
		result.Targets, result.Promotions = wanted.targets, wanted.promotions
		result.Subject = subject(d, targets)
		changes = addRequests(targets, wanted.request)
	case verb.Rollback:
		changes, result, err = rollbacks(ctx, d, opened, targets, authority, result, act)
		targets = result.Targets
		if err == nil && len(changes) == 0 {
			result.Unchanged = true
			return result, nil
		}
		if err == nil {
			result.Promotions = promotionsOf(ctx, opened, targets, changes)
		}
	default:
		changes, result.Images, err = changesOf(ctx, d, opened, targets, act)
	}
	if err != nil {
		return Result{}, err
	}
	recorded, err := stateBranch.Record(ctx, message(d, result), changes...)
	if err != nil {
		return Result{}, err
	}
	result.Unchanged = !recorded.Differs
	result.Effects = append(result.Effects, effects(d, targets, result.Images, recorded, act.At)...)
	if d.DryRun && len(result.Promotions) == 0 { // which show it
		result.Effects = append(result.Effects, opened.follows(ctx, targets, changes)...)
	}
	return result, nil
}

// follows returns what promoter decides about the targets after changes, as far as it is known.
func (r repository) follows(ctx context.Context, targets []promotion.Target, changes []state.Change) (lines []string) {
	_, decisions, err := r.workspace.Reconciler.Decide(ctx, changes...)
	if err != nil {
		return []string{"what follows is not known: " + err.Error()}
	}
	for _, decided := range decisions {
		if coversAny(targets, state.Target(decided.Target)) && r.covers(decided.Target) {
			outcome := cmp.Or(decided.Reason.String(), string(decided.State))
			lines = append(lines, "then "+decided.Target.Name()+": "+outcome)
		}
	}
	if more := len(lines) - maxNames; more > 0 {
		lines = append(lines[:maxNames], fmt.Sprintf("and %d more", more))
	}
	return lines
}

// userOfCommand is the user of a command: the account that the forge authenticated, unless the
// user names another one. What is only claimed is marked, and has no permission. The forge
// decides whether the user may push the state branch. It implements Authority.
type userOfCommand struct {
	session    *connect.Session
	repository *connect.Repository
	decision   Decision
}

// Covers implements Authority.
func (userOfCommand) Covers(promotion.Target) bool { return true }

// Administers implements Authority.
func (userOfCommand) Administers() bool { return true }

// Authorize implements Authority.
func (u userOfCommand) Authorize(ctx context.Context, _ []promotion.Target, _ Deployments) (identity.User, error) {
	if u.decision.As != "" {
		return identity.Unverified(u.decision.As), nil
	}
	self, err := u.session.User(ctx, u.repository)
	if err != nil || self.Verified() {
		return self, err
	}
	return identity.Unverified(u.decision.Claimed), nil
}

// checkBypass refuses a bypass that would have no effect. It grants nothing: the next
// reconciliation checks the rights again, with the server file of the service.
func checkBypass(
	ctx context.Context, d Decision, session *connect.Session, r *connect.Repository, opened repository, targets []promotion.Target,
	by identity.User,
) error {
	if !by.Verified() {
		return fault.New(fault.Unauthorized, "--bypass needs a user whom the forge authenticates, and this is %s: "+
			"set PROMOTER_USER_TOKEN to a token of yours", by.Login)
	}
	if !statebranch.Authenticates(opened.workspace.Reconciler.Clients.Seals) {
		return fault.New(fault.Unauthorized, "--bypass needs a seal, because any user who can push can write %s: "+
			"set seal.keys or PROMOTER_SEAL_KEY", state.Branch)
	}
	if session.Server.Standalone {
		return nil // only the service knows the rights
	}
	observed, err := opened.observe(ctx)
	if err != nil {
		return err
	}
	rights := rules.Bypasses(session.Server.File, r.SCM)
	for _, target := range targets {
		for _, condition := range d.Bypass {
			permission, err := rights.MayBypass(ctx, by, condition, observed.Deployment(target))
			if err != nil {
				return err
			}
			if !permission.Allowed {
				return fault.New(fault.Unauthorized, "%s", permission.Reason)
			}
		}
	}
	return nil
}

// changesOf returns the change of the state of each target, and for a rejection the images
// by component.
func changesOf(
	ctx context.Context, d Decision, r repository, targets []promotion.Target, act state.Act,
) ([]state.Change, map[string]string, error) {
	images, err := readImages(ctx, d, r)
	if err != nil {
		return nil, nil, err
	}
	var changes []state.Change
	for _, target := range targets {
		at := state.Target(target)
		var change state.Change
		switch d.Verb {
		case verb.Hold:
			change = state.Hold(at, act)
		case verb.Resume:
			change = state.Resume(at, act)
			if at.Application == state.All {
				change = state.ResumeWithin(at, act)
			}
		case verb.Unreject:
			change = state.Unreject(at, state.Unrejection{Act: act, Images: images})
		case verb.Reject:
			change = state.Reject(at, state.Rejection{Act: act, Images: images})
		case verb.Freeze:
			change = state.Freeze(at.Environment, act, d.Until)
		case verb.Thaw:
			change = state.Thaw(at.Environment)
		default:
			return nil, nil, fault.New(fault.Invalid, "%q is not a decision", d.Verb)
		}
		changes = append(changes, change)
	}
	return changes, images, nil
}
