package cli

import (
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"promoter/internal/promotion"

	"promoter/internal/app"
	"promoter/internal/engine"
	"promoter/internal/pullrequest"
)

const (
	wordRunShort = "Reconcile all repositories once and exit"
	wordRunLong  = `run reconciles every repository of the server file: it reads the files, queries the registries,
opens, refreshes, merges, or closes pull requests, pushes where the config says so, and exits when
nothing more lands. It is the scheduled container job. It needs no database: it reads everything
from Git, the registries, and the forge, so the next run completes an interrupted one.

Without a server file, --repo takes the URL of a repository. Credentials come from
PROMOTER_GITHUB_TOKEN, PROMOTER_GITLAB_TOKEN, PROMOTER_GITEA_TOKEN with PROMOTER_GITEA_URL,
PROMOTER_GIT_USERNAME and PROMOTER_GIT_PASSWORD, or PROMOTER_GIT_SSH_KEY and
PROMOTER_GIT_KNOWN_HOSTS.

Exit codes: 0 success; 1 a repository failed (the others are done); 130 interrupted.`
	wordRunExample = `  promoter run --config promoter-server.yaml --cache /var/cache/promoter
  promoter run --repo acme/gitops --dry-run
  promoter run --repo https://github.com/acme/gitops`

	wordExplainShort = "Show every condition and gate of an environment"
	wordExplainLong  = `explain shows, for each application of an environment, the wanted snapshot, every condition and
gate with its state, current value, and time, and what blocks the next step. It changes nothing.

With --repo or --config it reads repositories as run does. Without them it reads the checkout in
--dir as plan does; conditions that need a forge are then not evaluated.

Exit codes: 0 success; 1 an error.`
	wordExplainExample = `  promoter explain prod
  promoter explain prod --app shop --repo acme/gitops`

	wordOneEnvironment = "%s needs the name of one environment: '%[1]s prod'"
	wordNoEnvironment  = "no environment %s; the environments are %s"
	wordNoApplication  = "no application %s in %s; the applications are %s"

	wordDecided    = "recorded in %s as %s; takes effect on the next reconciliation"
	wordByName     = " (by name: its digest is unknown)"
	wordStoodThere = "nothing written: %s already contains it"
	wordEverywhere = "everywhere"
	wordToAndEnv   = "--to and --env both name the environment: use one of them"

	flagConfig    = "server file (default: $PROMOTER_CONFIG, or promoter-server.yaml in this folder)"
	flagRepo      = "repository: OWNER/NAME or FORGE:OWNER/NAME of the server file, or a URL without one (repeatable)"
	flagMirrors   = "folder that keeps mirrors of repositories and immutable facts about images"
	flagDryRun    = "show what would be done, and write nothing"
	flagApp       = "application (default: all)"
	flagOrderEnv  = "environment (default: all)"
	flagOneEnv    = "environment (required)"
	flagReason    = "reason, shown to other users"
	flagAs        = "user who decides, if the credential is not a user's"
	flagTo        = "environment, same as --env"
	flagOrderWith = "version to promote: REPOSITORY[:TAG][@DIGEST] (repeatable)"
	flagUntil     = "when the freeze ends: a time, a day, or a duration (default: until thaw)"
)

// orderWords are the words of one verb that decides.
type orderWords struct{ short, long, example string }

const orderEnd = `

It is written to the branch promoter/_state of the repository, with the user, time, and reason.
Any user who may push that branch can do it; no gate is skipped.

Exit codes: 0 written, or already in effect; 1 not written.`

func wordsHold() orderWords {
	return orderWords{
		"Pause promotions of an application or environment until resume",
		"hold stops promotions to a target: promoter proposes nothing, and an open pull request\nstays open and is not merged, until 'promoter resume'." + orderEnd,
		"  promoter hold --env prod --app shop --reason 'incident 42'",
	}
}

func wordsResume() orderWords {
	return orderWords{
		"End a hold, a rollback, and rejections of a target",
		"resume ends a hold and the hold of a rollback, and removes the rejections of the target,\nso that those versions may be proposed again. A freeze stays: thaw ends it." + orderEnd,
		"  promoter resume --env prod --app shop",
	}
}

func wordsReject() orderWords {
	return orderWords{
		"Never propose these versions again",
		"reject names versions that promoter must not propose: COMPONENT:TAG, or\nREPOSITORY[:TAG][@DIGEST]. Without --env they are rejected everywhere. promoter queries the\nregistry for the digest of a tag. An open pull request with these versions is closed; newer\nversions proceed." + orderEnd,
		"  promoter reject web:1.4.2 --reason 'leaks memory'\n  promoter reject --app shop --env prod quay.io/acme/web:1.4.2",
	}
}

func wordsPromote() orderWords {
	return orderWords{
		"Request a promotion to an environment with propose: manual",
		"promote requests what waits in an environment with propose: manual, for one application\nor for all of them. With --with, promoter uses the given versions instead of those of the\nparent environments; it queries the registry for their digests. Conditions and gates still\napply." + orderEnd,
		"  promoter promote --to prod --app shop\n  promoter promote --to prod --app shop --with quay.io/acme/web:1.4.3",
	}
}

func wordsRollback() orderWords {
	return orderWords{
		"Roll back to the previous versions, and hold",
		"rollback requests the versions that the target had before the current ones, from the\nhistory of its branch, and holds the target until 'promoter resume'." + orderEnd,
		"  promoter rollback --env prod --app shop --reason 'errors since 1.4.2'",
	}
}

func wordsFreeze() orderWords {
	return orderWords{
		"Pause all promotions to an environment, or everywhere",
		"freeze stops promotions to an environment, or without --env to all environments, until a\ntime or until 'promoter thaw'." + orderEnd,
		"  promoter freeze --until 2027-01-04 --reason 'end of the year'\n  promoter freeze --env prod --until 4h",
	}
}

func wordsThaw() orderWords {
	return orderWords{
		"End a freeze",
		"thaw ends the freeze of an environment, or without --env the freeze of the repository." + orderEnd,
		"  promoter thaw --env prod",
	}
}

// actInWords says what was done about a proposal and why, or in a dry run what
// would be.
func actInWords(done engine.Effect, dryRun bool) string {
	number := pullRequestName(done.Number, done.URL)
	because := ""
	if done.Reason.Message != "" {
		because = ": " + done.Reason.Message
	}
	switch done.Action {
	case engine.ActionPushed:
		return "pushed " + shortCommit(done.Commit) + because
	case engine.ActionOpened:
		return "opened " + number
	case engine.ActionRefreshed:
		return "refreshed " + number
	case engine.ActionMerged:
		return strings.TrimSpace("merged "+number+" "+shortCommit(done.Commit)) + because
	case engine.ActionClosed:
		return "closed " + number + because
	}
	if dryRun || done.Err != nil {
		return wantedInWords(done)
	}
	return openInWords(done)
}

// wantedInWords says what is to be done about a proposal.
func wantedInWords(done engine.Effect) string {
	switch {
	case done.Step == pullrequest.StepPush:
		return "to be pushed"
	case done.Step == pullrequest.StepClose && done.Open != nil:
		return "to be closed: " + pullRequestName(done.Open.Number, done.Open.URL) + ": " + done.Reason.String()
	case done.Step == pullrequest.StepPropose && done.Open == nil:
		return "to be opened as a pull request"
	}
	return openInWords(done)
}

// openInWords names the pull request that stands, or says that a push waits.
func openInWords(done engine.Effect) string {
	if done.Open == nil {
		if done.Step == pullrequest.StepWait && done.Reason.Rule == promotion.RuleGate {
			return "to be pushed when its gates allow"
		}
		return ""
	}
	text := "open " + pullRequestName(done.Open.Number, done.Open.URL)
	if done.Open.Foreign != "" {
		text += ", left alone: " + done.Open.Foreign
	}
	return text
}

func pullRequestName(number int, url string) string {
	return strings.TrimSpace(fmt.Sprintf("#%d %s", number, url))
}

// shortCommit cuts a commit to what people compare by eye.
func shortCommit(commit string) string { return commit[:min(len(commit), 7)] }

// sayFailures writes one line for each part that failed.
func sayFailures(w io.Writer, results []app.Result) {
	for i := range results {
		result := &results[i]
		name := result.Repository
		if moved, ok := result.Moved(); ok {
			say(w, "%s: it is called %s now: use that name", name, moved)
		}
		if result.Err != nil {
			say(w, "%s: %s", name, oneLine(result.Err))
		}
		if result.Report.Unusable != "" && (result.Onboarding == nil || result.Failed()) {
			say(w, "%s: %s", name, result.Report.Unusable)
		}
		for _, trouble := range result.Report.Errors {
			say(w, "%s: %s: %s", name, trouble.What, oneLine(trouble.Err))
		}
		for _, decision := range result.Report.Decisions {
			if decision.State == promotion.Refused {
				say(w, "%s: %s: left as it is: %s", name, nameOf(decision.Target), decision.Reason)
			}
		}
		for _, done := range result.Report.Effects {
			if done.Err != nil {
				say(w, "%s: %s: %s", name, proposalName(done), oneLine(done.Err))
			}
		}
	}
}

// proposalName names what a proposal is about.
func proposalName(done engine.Effect) string {
	if len(done.Decisions) == 1 && !done.Group {
		return nameOf(done.Decisions[0].Target)
	}
	return done.Environment.Name
}

// oneLine joins the lines of an error, such as the problems of a config.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' }), "; ")
}

// sayRun sums a run up.
func sayRun(w io.Writer, results []app.Result, dryRun bool) {
	acts := map[engine.Action]int{}
	failed := 0
	for i := range results {
		if results[i].Failed() {
			failed++
		}
		for _, done := range results[i].Report.Effects {
			if done.Err == nil {
				acts[done.Action]++
			}
		}
		if came := results[i].Onboarding; came != nil {
			acts[engine.Action(came.State)]++ // those of the same words
		}
	}
	var parts []string
	for _, act := range []engine.Action{engine.ActionPushed, engine.ActionOpened, engine.ActionRefreshed, engine.ActionMerged, engine.ActionClosed} {
		if n := acts[act]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, act))
		}
	}
	text := strings.Join(parts, ", ")
	switch {
	case dryRun:
		text = "nothing was written"
	case text == "" && (failed == 0 || failed < len(results)):
		text = "nothing to do"
	}
	if failed > 0 {
		text = strings.TrimPrefix(fmt.Sprintf("%s; %d failed", text, failed), "; ")
	}
	say(w, "%s: %s", count(len(results), "repository", "repositories"), text)
}

// maxShortList is how many names an error lists.
const maxShortList = 20

func shortList(names []string) string {
	text := strings.Join(names[:min(len(names), maxShortList)], ", ")
	if more := len(names) - maxShortList; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if text == "" {
		return "none"
	}
	return text
}

// sortedPairs yields a map in the order of its keys.
func sortedPairs(m map[string]string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
