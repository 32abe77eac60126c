package comments

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/command"
	"promoter/internal/config/setting"
	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/pullrequest"
	"promoter/internal/scm"
	"promoter/internal/state"
	"promoter/internal/verb"
)

// commandResult is the result of a command.
type commandResult struct {
	reaction  scm.Reaction
	text      string // for the user; empty: the reaction is enough
	changes   []state.Change
	message   string // of the commit that writes the changes
	refreshed bool   // the registries are to be read again
	answered  bool   // it has our reaction, so it was applied before; nothing else is set
}

func refused(text string) commandResult {
	return commandResult{reaction: scm.ReactionRefused, text: text}
}

func unclear(text string) commandResult {
	return commandResult{reaction: scm.ReactionUnclear, text: text}
}

// apply asks, live, what a user with any permission may do, and returns what the command
// changes.
func (r Reader) apply(ctx context.Context, o Observed, given userCommand) (commandResult, error) {
	answered, err := r.Repository.Conversation().Reacted(ctx, given.Comment)
	if fault.KindOf(err) == fault.NotFound { // it was deleted since it was listed
		err = nil
	}
	if answered || err != nil {
		return commandResult{answered: answered}, err
	}
	about, ours, err := r.find(ctx, o, given.Number)
	what := given.command.Verb
	switch {
	case err != nil:
		return commandResult{}, err
	case !ours && given.command.Problem != "":
		return unclear(""), nil
	case !ours && (what == verb.Help || what == verb.Explain):
		return refused("this pull request is not promoter's"), nil
	case !ours:
		return refused(""), nil
	case given.command.Problem != "":
		return unclear(given.command.Problem), nil
	case len(about.targets) == 0:
		return refused("this pull request contains no application of an environment that is in the config"), nil
	}

	done := commandResult{reaction: scm.ReactionDone}
	switch what {
	case verb.Help:
		done.text, err = r.helpText(ctx, o, given.Author, about)
		return done, err
	case verb.Explain:
		return done, nil
	case verb.Refresh:
		if r.Refresh != nil {
			r.Refresh(o.Promotion.Config)
		}
		done.refreshed = true
		return done, nil
	case verb.Promote:
		if reason, unavailable := o.Promotion.Unavailable[given.command.Environment]; unavailable {
			return commandResult{}, fault.New(fault.Temporary, "%s cannot be read: %s", given.command.Environment, reason)
		}
		if missing := missingFor(o, given.command, about); missing != "" {
			return unclear(missing), nil
		}
	}

	// The others record something in the state.
	targets := targetsOf(o, given.command, about)
	permission, err := r.Permissions.Allowed(ctx, given.Author, what, deployments(o, targets)...)
	if err != nil || !permission.Allowed {
		return refused(permission.Reason), err
	}
	if reason, err := r.refuseBypass(ctx, o, given, targets); err != nil || reason != "" {
		return refused(reason), err
	}
	if reason := supersededBy(o, given, targets); reason != "" {
		return refused(reason), nil
	}
	act := state.Act{By: given.Author, At: given.Created, Reason: given.command.Reason}
	if what == verb.Promote {
		requests, reason := requestsOf(o, given, about, targets, act)
		if reason != "" {
			return refused(reason), nil
		}
		done.changes = requests
	}
	for _, target := range targets {
		switch what {
		case verb.Hold:
			done.changes = append(done.changes, state.Hold(state.Target(target), act))
		case verb.Resume:
			done.changes = append(done.changes, state.Resume(state.Target(target), act))
		}
	}
	subject := state.Target(about.branch)
	label := what.Title()
	switch what {
	case verb.Hold, verb.Resume:
	case verb.Unreject:
		changes, reason, err := r.unrejections(ctx, o, about, act)
		if err != nil || reason != "" {
			return refused(reason), err
		}
		done.changes = changes
		label += fmt.Sprintf(" the versions of pull request %d in", about.number)
		if rejectsEverywhere(o, about) {
			subject = everywhere()
		}
	case verb.Rollback:
		changes, reason, err := r.rollbacks(ctx, o, about, act, given.command.Bypass)
		switch {
		case err == nil && about.merged == "":
			return unclear(reason), nil
		case err != nil || reason != "":
			return refused(reason), err
		}
		done.changes = changes
	case verb.Promote:
		subject.Environment = given.command.Environment
	case verb.Reject:
		changes, reason, err := r.rejections(ctx, o, about, act)
		if err != nil || reason != "" {
			return refused(reason), err
		}
		done.changes = changes
		label += fmt.Sprintf(" the versions of pull request %d in", about.number)
		subject = everywhere()
	default:
		return unclear("unknown command"), nil
	}
	done.message = state.Subject(label, promotion.Target(subject).Name(), given.command.Reason)
	return done, nil
}

// requestsOf returns the requests of a command for the versions of its pull request, as its head has them, or the
// reason why there are none: these versions are not known, or nothing waits for them.
func requestsOf(
	o Observed, given userCommand, about pullRequestTargets, targets []promotion.Target, act state.Act,
) (requests []state.Change, reason string) {
	// A request is for what its user saw. What stops promotions counts for what the pull request has now.
	if given.Created.Before(about.written.Truncate(time.Second)) {
		return nil, "its versions changed after the comment: write the command again if it is meant for these"
	}
	if len(about.landed) == 0 {
		return nil, "its head is not promoter's, so its versions are not known: name them with promoter promote"
	}
	for _, target := range targets {
		current := o.Promotion.Targets[target]
		images, differs := map[string]string{}, false
		for _, landed := range about.landed {
			if landed.Target.Application != target.Application {
				continue
			}
			for component, pinned := range landed.Snapshot {
				if slices.ContainsFunc(current.References, func(r edit.Reference) bool { return r.Component == component }) {
					images[component] = pinned.Reference()
					differs = differs || !landing.ContainsVersion(current, component, pinned)
				}
			}
		}
		if !differs {
			continue
		}
		comment := &state.CommandComment{ID: given.ID, Number: given.Number, Command: given.command.String()}
		request := state.Request{Act: act, Bypass: given.command.Bypass, For: images, Comment: comment}
		requests = append(requests, state.AddRequest(state.Target(target), request))
	}
	if len(requests) == 0 {
		return nil, given.command.Environment + " has the versions of this pull request already"
	}
	return requests, ""
}

// refuseBypass returns why the user may not bypass what a command names; empty: it may.
func (r Reader) refuseBypass(ctx context.Context, o Observed, given userCommand, targets []promotion.Target) (string, error) {
	for _, condition := range given.command.Bypass {
		for _, deployment := range deployments(o, targets) {
			if r.Bypasses == nil {
				return "there is no server file that permits a bypass", nil
			}
			permission, err := r.Bypasses.MayBypass(ctx, given.Author, condition, deployment)
			if err != nil || !permission.Allowed {
				return permission.Reason, err
			}
		}
	}
	return "", nil
}

// helpText lists what the user may do on the pull request.
func (r Reader) helpText(ctx context.Context, o Observed, user identity.User, about pullRequestTargets) (string, error) {
	commands := []command.Command{{Verb: verb.Hold}, {Verb: verb.Resume}, {Verb: verb.Reject}, {Verb: verb.Unreject}}
	if about.merged != "" {
		commands = append(commands, command.Command{Verb: verb.Rollback})
	}
	for _, environment := range o.Promotion.Config.Order() {
		promote := command.Command{Verb: verb.Promote, Environment: environment}
		if missingFor(o, promote, about) == "" {
			commands = append(commands, promote)
		}
	}
	var allowed []string
	for _, one := range commands {
		permission, err := r.Permissions.Allowed(ctx, user, one.Verb, deployments(o, targetsOf(o, one, about))...)
		if err != nil {
			return "", err
		}
		if permission.Allowed {
			allowed = append(allowed, one.String())
		}
	}
	allowed = append(allowed, string(verb.Refresh), string(verb.Explain), string(verb.Help))
	return "here you may use " + strings.Join(allowed, ", "), nil
}

// Usable returns which commands users can write on the pull request of a proposal;
// nil if promoter reads no comments. With an error, some may be listed that do not work.
func (r Reader) Usable(ctx context.Context, o Observed, p propose.Proposal) (*pullrequest.Comments, error) {
	if !r.enabled() {
		return nil, nil //nolint:nilnil // none is no error
	}
	var about pullRequestTargets
	for _, d := range p.Decisions {
		about.targets = append(about.targets, d.Target)
	}
	usable := &pullrequest.Comments{Allowed: map[verb.Verb][]string{}}
	var requested []promotion.Target
	for _, environment := range o.Promotion.Config.Order() {
		into := targetsOf(o, command.Command{Verb: verb.Promote, Environment: environment}, about)
		if slices.ContainsFunc(into, func(target promotion.Target) bool { return isOnRequest(o, target, p.Environment.Name) }) {
			usable.Promote, requested = append(usable.Promote, environment), append(requested, into...)
		}
	}
	for v, targets := range map[verb.Verb][]promotion.Target{
		verb.Hold: about.targets, verb.Resume: about.targets, verb.Unreject: about.targets,
		verb.Rollback: about.targets, verb.Promote: requested,
		verb.Reject: slices.Collect(maps.Keys(o.Promotion.Targets)), // everywhere
	} {
		if named, covered := r.Permissions.Named(v, deployments(o, targets)...); covered {
			usable.Allowed[v] = named
		}
	}
	limited, is := r.Repository.(scm.LimitsPermissions)
	if !is {
		return usable, nil
	}
	limit, err := limited.PermissionLimit(ctx)
	usable.OnlyNamed = limit.All
	return usable, err
}

// isOnRequest reports whether a target gets what a parent has only on request.
func isOnRequest(o Observed, target promotion.Target, parent string) bool {
	settings := o.Promotion.Settings(target.Environment, target.Application)
	_, present := o.Promotion.Targets[target]
	return present && settings.Propose == setting.ProposeManual &&
		slices.ContainsFunc(settings.After, func(after setting.Parent) bool { return after.Environment == parent })
}

// supersededBy returns the later decision that a command would undo: a comment may be
// read days after it was written.
func supersededBy(o Observed, given userCommand, targets []promotion.Target) string {
	for _, target := range targets {
		record := o.Promotion.State.At(state.Target(target))
		switch given.command.Verb {
		case verb.Hold, verb.Rollback:
			if o.Promotion.State.ResumedAt(state.Target(target)).After(given.Created) {
				return "it was resumed since then"
			}
		case verb.Resume:
			if record.Hold != nil && record.Hold.At.After(given.Created) { // a rollback holds too
				return "it was held or rolled back since then"
			}
		case verb.Promote:
			if record.Request != nil && record.Request.At.After(given.Created) {
				return "another promotion was requested since then"
			}
		}
	}
	return ""
}

// missingFor returns what a promotion needs and the repository does not have.
func missingFor(o Observed, promote command.Command, about pullRequestTargets) string {
	if _, known := o.Promotion.Config.Environment(promote.Environment); !known {
		return fmt.Sprintf("there is no environment %s; there are %s", promote.Environment, strings.Join(o.Promotion.Config.Order(), ", "))
	}
	for _, target := range targetsOf(o, promote, about) {
		if _, present := o.Promotion.Targets[target]; !present {
			return fmt.Sprintf("%s has no files in %s", target.Application, target.Environment)
		}
	}
	return ""
}

// targetsOf returns the targets of a command. A rejection applies everywhere, and so does the end of one.
func targetsOf(o Observed, one command.Command, about pullRequestTargets) []promotion.Target {
	targets := slices.Clone(about.targets)
	switch {
	case one.Verb == verb.Promote:
		for i := range targets {
			targets[i].Environment = one.Environment
		}
	case one.Verb == verb.Reject, one.Verb == verb.Unreject && rejectsEverywhere(o, about):
		for target := range o.Promotion.Targets {
			targets = append(targets, target)
		}
	}
	slices.SortFunc(targets, promotion.Target.Compare)
	return slices.Compact(targets)
}

// deployments returns what permissions apply to.
func deployments(o Observed, targets []promotion.Target) []promotion.Deployment {
	all := make([]promotion.Deployment, 0, len(targets))
	for _, target := range targets {
		all = append(all, o.Promotion.Deployment(target))
	}
	return all
}

// rejections returns the changes that keep the versions of a pull request out of every
// environment, or the reason why there are none.
func (r Reader) rejections(
	ctx context.Context, o Observed, about pullRequestTargets, act state.Act,
) (changes []state.Change, reason string, err error) {
	for _, landed := range about.landed {
		images := landing.ChangedBy(o.Promotion, landed)
		if about.merged != "" {
			if images, err = r.broughtByMerge(ctx, about.merged, landed); err != nil {
				return nil, "", err
			}
		}
		if len(images) > 0 {
			changes = append(changes, state.Reject(everywhere(), state.Rejection{Act: act, Images: images, Number: about.number}))
		}
	}
	switch {
	case len(about.landed) == 0:
		return nil, "its head is not promoter's, so its versions are not known: name them with promoter reject", nil
	case len(changes) == 0:
		return nil, "it contains no versions that are not there already", nil
	}
	return changes, "", nil
}

// everywhere returns the target of what is about the whole repository.
func everywhere() state.Target { return state.Target{Environment: state.All, Application: state.All} }

// rejectsEverywhere reports whether users rejected the versions of a pull request in all
// environments, with a command in it.
func rejectsEverywhere(o Observed, about pullRequestTargets) bool {
	here := func(r state.Rejection) bool { return r.Number == about.number }
	return slices.ContainsFunc(o.Promotion.State.At(everywhere()).Rejections, here)
}

// unrejections returns the changes that allow the versions of a pull request again in its targets, and
// end what a reject in it did everywhere; or the reason why there are none.
func (r Reader) unrejections(
	ctx context.Context, o Observed, about pullRequestTargets, act state.Act,
) (changes []state.Change, reason string, err error) {
	for _, landed := range about.landed {
		images := landing.ChangedBy(o.Promotion, landed)
		maps.Copy(images, landing.RewrittenBy(o.Promotion, landed))
		if about.merged != "" {
			if images, err = r.broughtByMerge(ctx, about.merged, landed); err != nil {
				return nil, "", err
			}
		}
		if len(images) == 0 {
			continue
		}
		if act.Location, err = r.saw(ctx, o, landed.Target, act.At); err != nil {
			return nil, "", err
		}
		changes = append(changes, state.Unreject(state.Target(landed.Target), state.Unrejection{Act: act, Images: images}))
	}
	if len(changes) > 0 && rejectsEverywhere(o, about) {
		changes = append(changes, state.EndRejection(everywhere(), about.number, act))
	}
	switch {
	case len(about.landed) == 0:
		return nil, "its head is not promoter's, so its versions are not known: name them with promoter unreject", nil
	case len(changes) == 0:
		return nil, "it contains no versions that are not there already", nil
	}
	return changes, "", nil
}

// saw returns where the branch of a target was when a comment was written; nil: the forge does not show it. What is read
// with the comment contains acts of users that came later.
func (r Reader) saw(ctx context.Context, o Observed, target promotion.Target, at time.Time) (*state.Location, error) {
	branch := o.Promotion.BaseOf(target)
	head, err := r.History.HeadAt(ctx, o.Landed, branch, at)
	if err != nil || head == "" {
		return nil, err
	}
	return &state.Location{Heads: promotion.Saw(o.Promotion, map[string]string{branch: head}, target.Environment)}, nil
}

// rollbacks returns the changes that revert what a merged pull request brought, or the reason why there are none.
func (r Reader) rollbacks(
	ctx context.Context, o Observed, about pullRequestTargets, act state.Act, bypass []string,
) (changes []state.Change, reason string, err error) {
	var commands []string
	for _, target := range about.targets {
		commands = append(commands, "promoter rollback --env "+target.Environment+target.ApplicationFlag())
	}
	instead := strings.Join(commands, "; ")
	switch {
	case about.merged == "":
		return nil, "this pull request was not merged, so it brought nothing that could be rolled back; " +
			"to roll back what is there now, run " + instead, nil
	case len(about.landed) == 0:
		return nil, "its head is not promoter's, so its versions are not known; run " + instead, nil
	}
	parent, known, err := r.History.ParentOf(ctx, o.Promotion.BaseOf(about.landed[0].Target), about.merged, act.At)
	if err != nil || !known {
		return nil, "what was there before is not known; run " + instead, err
	}
	o.Landed.Promotion = o.Promotion // with the decisions of earlier comments
	for _, landed := range about.landed {
		if left := landing.ChangedBy(o.Promotion, landed); len(left) > 0 {
			return nil, landed.Target.Name() + " has other versions since then; to roll these back, run " + instead, nil
		}
		earlier, err := r.History.Before(ctx, o.Landed, landed.Target, parent)
		switch kind := fault.KindOf(err); {
		case kind == fault.NotFound || kind == fault.Invalid:
			return nil, err.Error(), nil
		case err != nil:
			return nil, "", err
		}
		back := state.RolledBack{Act: act, Images: map[string]string{}, From: earlier.Left, Commit: earlier.Commit, Bypass: bypass}
		for component, pinned := range earlier.Snapshot {
			back.Images[component] = pinned.Reference()
		}
		changes = append(changes, state.Rollback(state.Target(landed.Target), back))
	}
	return changes, "", nil
}

// broughtByMerge returns the versions that a merge changed: the user did not refuse the
// others.
func (r Reader) broughtByMerge(ctx context.Context, merge string, landed promotion.Landed) (map[string]string, error) {
	var before promotion.Current
	if commit, err := r.Commits.Commit(merge); err == nil && len(commit.Parents) > 0 && !commit.Shallow {
		if before, err = r.History.Past.At(ctx, landed.Target, commit.Parents[0]); err != nil {
			return nil, err
		}
	}
	images := map[string]string{}
	for component, pinned := range landed.Snapshot {
		if len(before.References) == 0 || !landing.ContainsVersion(before, component, pinned) {
			images[component] = pinned.Reference()
		}
	}
	return images, nil
}
