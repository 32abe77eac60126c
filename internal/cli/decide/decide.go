// Package decide has the commands with which users decide: promote, hold, resume, reject, unreject,
// rollback, freeze, thaw, confirm-state, and seals adopt, which share all but their help, and decisions,
// which lists what is in effect.
package decide

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/api"
	"promoter/internal/cli/console"
	"promoter/internal/cli/flag"
	"promoter/internal/cli/render"
	"promoter/internal/decision"
	"promoter/internal/fault"
	"promoter/internal/git"
	"promoter/internal/promotion"
	"promoter/internal/schedule"
	"promoter/internal/state"
	"promoter/internal/verb"
)

// requiredEnvUsage is the usage of --env of decisions that need an environment.
const requiredEnvUsage = "`NAME` of the environment (required)"

// The usages of --env and --app of decisions: without them, they need --all.
const (
	envUsage = "`NAME` of the environment (or all of them: --all)"
	appUsage = "`NAME` of the application, or a pattern with * of several (or all of them: --all)"
)

// decideHelp ends the help of each verb that is a decision.
const decideHelp = `

The decision is recorded on the branch promoter/_state of the repository, with the user, time, and
reason, and takes effect on the next reconciliation. If the server file names a running service,
with url or listen, and its token, the service reconciles at once.

Any user who may push that branch can hold, freeze, and reject. Where the branch has seals,
promote, resume, unreject, rollback, and thaw need the key: seal.keys in the server file, or
PROMOTER_SEAL_KEY.

A decision is about exactly the target of its arguments. One about several targets that are not
named, such as those of a whole environment, needs --all. Without it, nothing is recorded, and
the error lists what is concerned and the command. --dry-run prints what would be recorded and
what follows.

With --url, the service at that address records the decision and reconciles at once. It needs a
token with the role operate or admin: PROMOTER_API_TOKEN, or api.token of the server file.

Exit codes: 0 recorded, already in effect, or nothing waits; 1 not recorded.`

// NewHold returns the command hold.
func NewHold(system console.System) *cobra.Command {
	command, _ := newDecide(system, verb.Hold)
	command.Short = "Pause promotions of an application or environment until resume"
	command.Long = `hold stops promotions to a target: promoter proposes nothing, and an open pull request
stays open and is not merged, until 'promoter resume'. A hold of a whole environment or repository,
with --all, also holds what is added to it later.` + decideHelp
	command.Example = "  promoter hold --env prod --app shop --reason 'incident 42'"
	return command
}

// NewResume returns the command resume.
func NewResume(system console.System) *cobra.Command {
	command, _ := newDecide(system, verb.Resume)
	command.Short = "End a hold, a rollback, and failures of a target"
	command.Long = `resume ends a hold, a rollback with its hold, and the failures of the target, so that it goes on.
It ends nothing else: unreject allows versions again that were rejected, closed, or reverted, and
thaw ends a freeze. With --all, it resumes everything in the environment or repository.` + decideHelp
	command.Example = `  promoter resume --env prod --app shop
  promoter resume --env prod --all --dry-run`
	return command
}

// NewReject returns the command reject, which takes the images as arguments.
func NewReject(system console.System) *cobra.Command {
	command := newImageDecision(system, verb.Reject)
	command.Short = "Never propose these versions again"
	command.Long = `reject names versions that promoter must not propose: COMPONENT:TAG, or
REPOSITORY[:TAG][@DIGEST]. With --all instead of --env and --app they are rejected everywhere.
promoter queries the registry for the digest of a tag. An open pull request with these versions is
closed; newer versions proceed. 'promoter unreject' ends it.` + decideHelp
	command.Example = `  promoter reject web:1.4.2 --all --reason 'leaks memory'
  promoter reject --app shop --env prod quay.io/acme/web:1.4.2`
	return command
}

// NewUnreject returns the command unreject, which takes the images as arguments.
func NewUnreject(system console.System) *cobra.Command {
	command := newImageDecision(system, verb.Unreject)
	command.Short = "Allow versions again that were rejected, closed, or reverted"
	command.Long = `unreject names versions that promoter may propose again, as reject does: COMPONENT:TAG, or
REPOSITORY[:TAG][@DIGEST]. It ends rejections, and what users closed, reverted in Git, or moved
back until now does not count anymore for these versions in the target. A rejection of a wider
target stays: to end one of all environments, use --all. A tag names the version with any digest.` + decideHelp
	command.Example = `  promoter unreject web:1.4.2 --env prod --app shop
  promoter unreject web:1.4.2 --all --reason 'fixed in the config'`
	return command
}

// newImageDecision makes the command of a decision that takes images as arguments.
func newImageDecision(system console.System, what verb.Verb) *cobra.Command {
	command, flags := newDecide(system, what)
	command.Use = string(what) + " IMAGE..."
	command.Args = cobra.ArbitraryArgs
	run := command.RunE
	command.RunE = func(command *cobra.Command, images []string) error {
		flags.decision.Images = images
		return run(command, nil)
	}
	return command
}

// NewConfirmState returns the command confirm-state.
func NewConfirmState(system console.System) *cobra.Command {
	command, _ := newDecide(system, verb.ConfirmState)
	command.Short = "Confirm a state branch that was deleted or moved back"
	command.Long = `confirm-state confirms the branch promoter/_state as it is now. It is for administrators. Where the
branch has seals and its newest sealed commit is lost, promoter does nothing in the repository:
holds, freezes, and rejections may be lost too. Add them again, then confirm the branch. Nothing
else changes. It needs the key: seal.keys in the server file, or PROMOTER_SEAL_KEY.

With --url, it needs a token with the role admin for the whole repository.

Exit codes: 0 confirmed, or nothing to confirm; 1 not confirmed.`
	command.Example = "  promoter confirm-state --config promoter-server.yaml --repo acme/gitops --reason 'holds added again'"
	return command
}

// NewSeals returns the command seals.
func NewSeals(system console.System) *cobra.Command {
	command := &cobra.Command{
		Use:   "seals",
		Short: "Adopt times that were recorded before the first seal",
		Long:  "seals has the commands for the seals of the branch promoter/_state.",
	}
	adopt, _ := newDecide(system, verb.AdoptTimes)
	adopt.Use = "adopt"
	adopt.Short = "Let the times count that were recorded before the first seal"
	adopt.Long = `adopt lets the times count that were recorded on the branch promoter/_state before its first
seal, or with a key that is lost: since when a version is in an environment, and when a version was
first available. It is for administrators. Without it, minAge and settle begin again, and a soak
does where only these times prove it, such as on plain Git.

Any user who may push can have written these times, so inspect them first with --dry-run. A time
is not adopted if it is in the future, or earlier than the commit that wrote the version, or than
the forge reports. Nothing else is adopted: no request, rollback, or resume. It needs the key:
seal.keys in the server file, or PROMOTER_SEAL_KEY.

With --url, it needs a token with the role admin for the whole repository.

Exit codes: 0 adopted, or nothing to adopt; 1 not adopted.`
	adopt.Example = `  promoter seals adopt --config promoter-server.yaml --repo acme/gitops --dry-run
  promoter seals adopt --config promoter-server.yaml --repo acme/gitops --reason 'from run to serve'`
	command.AddCommand(adopt)
	return command
}

// NewPromote returns the command promote.
func NewPromote(system console.System) *cobra.Command {
	command, flags := newDecide(system, verb.Promote)
	command.Short = "Request a promotion to an environment with propose: manual"
	command.Long = `promote requests what waits in an environment with propose: manual, for one application or with
--all for each of them: exactly the versions that it prints. If they can no longer come, the
request ends, and the log and 'promoter explain' have the reason. With --with, promoter uses the
given versions instead of those of the parent environments; it queries the registry for their
digests. Conditions and gates still apply.

With --bypass, the request skips a condition or gate, if the server file permits that to the
user: soak, healthy, checks, tagged, windows, approvals, or freeze. It needs a reason, and a user
whom the forge authenticates. Commits, the pull request, and the history name what was bypassed.` + decideHelp
	command.Example = `  promoter promote --to prod --app shop
  promoter promote --to prod --app shop --with quay.io/acme/web:1.4.3
  promoter promote --to prod --app shop --with web:1.4.3 --bypass soak --reason 'incident 42'`
	set := command.Flags()
	set.Lookup("env").Usage = requiredEnvUsage
	set.StringVar(&flags.decision.Environment, "to", "", "`NAME` of the environment, same as --env")
	set.StringArrayVar(&flags.decision.With, "with", nil,
		"`VERSION` to promote, COMPONENT or REPOSITORY with :TAG, @DIGEST, or both (repeatable)")
	set.StringSliceVar(&flags.decision.Bypass, "bypass", nil,
		"`CONDITION` or gate to bypass, with the permission and a reason (repeatable)")
	command.PreRunE = func(*cobra.Command, []string) error {
		if set.Changed("to") && set.Changed("env") {
			return fault.New(fault.Invalid, "--to and --env both name the environment: use one of them")
		}
		return nil
	}
	return command
}

// NewRollback returns the command rollback.
func NewRollback(system console.System) *cobra.Command {
	command, flags := newDecide(system, verb.Rollback)
	command.Short = "Roll back to the previous versions, and hold"
	command.Long = `rollback requests the versions that the target had before the current ones, or with --all each
application of the environment, from the history of its branch, whatever is the name of the user
who wrote them, and holds the target until 'promoter resume'. It never returns to versions that
were rolled back, reverted, or rejected, or that failed: a second rollback changes nothing.

With --to, it requests the versions that the target had in a commit of its branch, or a snapshot
that it had, by the ID that 'promoter explain' printed. A tag that points to another digest since
then is reported.

Until 'promoter resume', the versions that the target leaves go to no environment that follows it,
and open pull requests there that bring them are closed. Environments that have them already keep
them: the command lists them. With --downstream, each of these is rolled back too, to its own
previous versions, with its own gates and pull request; the user needs the permission for each.

A rollback waits for no condition, limit of pull requests, or group, but for gates and freezes.
With --bypass, it skips them, with the rules of 'promoter promote --bypass': checks, windows,
approvals, or freeze. A second rollback with --bypass adds that to the one in effect.` + decideHelp
	command.Example = `  promoter rollback --env prod --app shop --reason 'errors since 1.4.2'
  promoter rollback --env prod --app shop --to 58b5d4a
  promoter rollback --env prod --all --dry-run
  promoter rollback --env staging --app shop --downstream
  promoter rollback --env prod --app shop --bypass windows --reason 'incident 42'`
	command.Flags().StringSliceVar(&flags.decision.Bypass, "bypass", nil,
		"`GATE` to bypass, with the permission and a reason (repeatable)")
	command.Flags().StringVar(&flags.decision.To, "to", "",
		"`COMMIT` of the branch of the environment, or snapshot: at least 7 digits of its ID (default: the previous versions)")
	command.Flags().BoolVar(&flags.decision.Downstream, "downstream", false,
		"roll back also each environment that follows this one and has the versions")
	command.Flags().Lookup("env").Usage = requiredEnvUsage
	return command
}

// NewFreeze returns the command freeze.
func NewFreeze(system console.System) *cobra.Command {
	command, flags := newDecide(system, verb.Freeze)
	command.Short = "Pause all promotions to an environment, or everywhere"
	command.Long = `freeze stops promotions to an environment, or with --all to all environments, until a
time or until 'promoter thaw'.` + decideHelp
	command.Example = `  promoter freeze --all --until 2027-01-04 --reason 'end of the year'
  promoter freeze --env prod --until 4h`
	var until string
	command.Flags().StringVar(&until, "until", "", "`TIME` when the freeze ends: a time, a day, or a duration (default: until thaw)")
	command.PreRunE = func(*cobra.Command, []string) (err error) {
		if flags.decision.Until, err = schedule.ParseEnd(until, time.Now()); err != nil {
			return fault.New(fault.Invalid, "--until: %w", err)
		}
		return nil
	}
	return command
}

// NewThaw returns the command thaw.
func NewThaw(system console.System) *cobra.Command {
	command, _ := newDecide(system, verb.Thaw)
	command.Short = "End a freeze"
	command.Long = `thaw ends the freeze of an environment, or with --all the freeze of the repository.` + decideHelp
	command.Example = "  promoter thaw --env prod"
	return command
}

// decideFlags are the flags of the verbs that are decisions.
type decideFlags struct {
	targets  flag.Targets
	service  flag.Service // with an address: it records the decision
	decision decision.Decision
}

// repeated returns the flags that select the repository, as a command that is printed repeats them.
func (f *decideFlags) repeated(command *cobra.Command) string {
	text := ""
	if command.Flags().Changed("config") {
		text += " --config " + f.targets.Config
	}
	for _, repository := range f.targets.Repositories {
		text += " --repo " + repository
	}
	return text
}

// newDecide makes the command of a decision with the flags that all of them share.
func newDecide(system console.System, what verb.Verb) (*cobra.Command, *decideFlags) {
	flags := &decideFlags{decision: decision.Decision{Verb: what}}
	command := &cobra.Command{
		Use:  string(what),
		Args: flag.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			return runDecide(command, flags, system)
		},
	}
	flags.targets.Add(command)
	flags.service.AddOptional(command)
	set := command.Flags()
	set.BoolVar(&flags.decision.DryRun, "dry-run", false, "print what would be recorded and what follows, and record nothing")
	if !verb.Administers(what) { // that is about the repository
		set.StringVar(&flags.decision.Environment, "env", "", envUsage)
		set.BoolVar(&flags.decision.All, "all", false, "decide about all that is not named with --env and --app")
	}
	if what != verb.Freeze && what != verb.Thaw && !verb.Administers(what) { // those apply to whole environments
		set.StringVar(&flags.decision.Application, "app", "", appUsage)
	}
	set.StringVar(&flags.decision.Reason, "reason", "", "reason, as `TEXT` that other users see")
	set.StringVar(&flags.decision.As, "as", "",
		"`NAME` of the user who decides, recorded as unverified (default: the account of $PROMOTER_USER_TOKEN, or of a user's token)")
	return command, flags
}

func runDecide(command *cobra.Command, flags *decideFlags, system console.System) error {
	record := recordHere
	if flags.service.URL != "" {
		record = recordByService
	}
	answer, notify, err := record(command, flags, system)
	if err != nil {
		return err
	}
	if err := render.PrintAs(system.Out, flags.targets.Output, answer, func() string { return decisionText(answer) }); err != nil {
		return fmt.Errorf("print what was decided: %w", err)
	}
	switch {
	case answer.DryRun:
		render.PrintMessage(system.Err, "dry run: nothing written to %s", state.Branch)
		return nil
	case answer.Unchanged:
		render.PrintMessage(system.Err, "nothing written to %s", state.Branch)
		return nil
	}
	render.PrintMessage(system.Err, "recorded in %s as %s; %s", state.Branch, userName(answer.By), notify(command.Context()))
	return nil
}

// notifier tells the service of a decision that was recorded, and returns when it takes effect.
type notifier func(context.Context) string

// recordHere writes the decision to the repository.
func recordHere(
	command *cobra.Command, flags *decideFlags, system console.System,
) (answer api.Decided, notify notifier, err error) {
	server, err := flags.targets.Open(system)
	if err != nil {
		return answer, nil, err
	}
	flags.decision.Claimed = claimedUser(system)
	flags.decision.Flags = flags.repeated(command)
	result, err := decision.Record(command.Context(), server, flags.decision, flags.targets.Cache)
	if err != nil {
		return answer, nil, err
	}
	return decision.Answer(flags.decision.Verb, result), notifyService(server.Server, system, result.Key), nil
}

// recordByService sends the decision to a running service.
func recordByService(
	command *cobra.Command, flags *decideFlags, system console.System,
) (answer api.Decided, notify notifier, err error) {
	if err := render.CheckOutput(flags.targets.Output); err != nil {
		return answer, nil, err
	}
	for _, name := range []string{"as", "cache"} {
		if command.Flags().Changed(name) {
			return answer, nil, fault.New(fault.Invalid, "--%s is not for --url: the service decides", name)
		}
	}
	if len(flags.targets.Repositories) > 1 {
		return answer, nil, fault.New(fault.Invalid, "%s is for one repository: name it with --repo", flags.decision.Verb)
	}
	flags.service.Config, flags.service.Networks = flags.targets.Config, flags.targets.Networks
	client, err := flags.service.Open(system)
	if err != nil {
		return answer, nil, err
	}
	d := flags.decision
	answer, err = client.Decide(command.Context(), api.Decision{
		Repository: strings.Join(flags.targets.Repositories, ""), Environment: d.Environment, Application: d.Application,
		All: d.All, DryRun: d.DryRun, Verb: d.Verb, Reason: d.Reason, With: d.With, Bypass: d.Bypass, Images: d.Images,
		To: d.To, Until: d.Until, Downstream: d.Downstream,
	})
	return answer, func(context.Context) string { return reconcilesNow }, err
}

// decisionText has one line for each target, and one for each image.
func decisionText(answer api.Decided) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", render.Visible(answer.Repository), render.Visible(answer.Subject))
	for _, target := range answer.Targets {
		fmt.Fprintf(&b, "  %s\n", render.Visible(render.Scope(promotion.Target(target))))
		for _, one := range answer.Promotions {
			if one.Environment == target.Environment && one.Application == target.Application {
				b.WriteString(promotionText(one))
			}
		}
	}
	for component, text := range render.SortedPairs(answer.Images) {
		if !strings.Contains(text, "@") {
			text += " (by name: its digest is unknown)"
		}
		fmt.Fprintf(&b, "    %s %s\n", render.Visible(component), render.Visible(text))
	}
	for _, effect := range answer.Effects {
		fmt.Fprintf(&b, "  %s\n", render.Visible(effect))
	}
	return b.String()
}

// promotionText has one line for each component that moves, and one for each condition and gate that holds it.
func promotionText(one api.DecidedPromotion) string {
	var b strings.Builder
	for _, move := range one.Moves {
		text := move.Component + " " + move.From + " -> " + move.To
		if move.From == move.To {
			text = move.Component + " -> " + move.Image
		}
		fmt.Fprintf(&b, "    %s\n", render.Visible(text))
	}
	for _, condition := range one.Conditions {
		fmt.Fprintf(&b, "    condition %s\n", render.Condition(condition))
	}
	for _, gate := range one.Gates {
		fmt.Fprintf(&b, "    gate %s\n", render.Condition(gate))
	}
	return b.String()
}

func userName(user api.User) string {
	if user.Host == "" {
		return user.Login
	}
	return user.Login + " (" + user.Host + ")"
}

// claimedUser returns the name that a user without a verified account claims: that of Git in
// this checkout or for this user, or of the machine. It proves nothing.
func claimedUser(system console.System) string {
	if name := git.ConfiguredUser(".", system.Env); name != "" {
		return name
	}
	for _, variable := range []string{"USER", "USERNAME"} {
		if name, set := system.Env(variable); set && name != "" {
			return name
		}
	}
	return ""
}
