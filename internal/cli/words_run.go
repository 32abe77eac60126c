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
	wordRunShort = "Make one pass over repositories: propose, land, and end"
	wordRunLong  = `run looks at every repository of the server's file once: it reads the files, asks
the registries, opens, refreshes, lands or closes pull requests, pushes where the
config says so, and ends. It is the scheduled container job. It needs no database:
everything is read from Git, the registries and the forge each time, so that a pass
that was lost, or interrupted, is made good by the next.

Without a server's file, --repo takes the URL of a repository; credentials come from
PROMOTER_GITHUB_TOKEN, PROMOTER_GITLAB_TOKEN, PROMOTER_GITEA_TOKEN with
PROMOTER_GITEA_URL, PROMOTER_GIT_USERNAME and PROMOTER_GIT_PASSWORD, or
PROMOTER_GIT_SSH_KEY and PROMOTER_GIT_KNOWN_HOSTS.

Exit codes: 0 done; 1 something failed in a repository (the others are done); 130
interrupted.`
	wordRunExample = `  promoter run --config promoter-server.yaml --cache /var/cache/promoter
  promoter run --repo acme/gitops --dry-run
  promoter run --repo https://github.com/acme/gitops`

	wordExplainShort = "Show every condition and gate of an environment"
	wordExplainLong  = `explain shows for each application of an environment what is wanted there, every
condition and gate with its state, its present value and its time, and why nothing
happens. It changes nothing.

With --repo or --config it looks at repositories as run does. Without them it looks
at the checkout in --dir as plan does; then what needs a forge is not evaluated.

Exit codes: 0 done; 1 something could not be looked at.`
	wordExplainExample = `  promoter explain prod
  promoter explain prod --app shop --repo acme/gitops`

	wordOneEnvironment = "%s wants the name of one environment: '%[1]s prod'"
	wordNoEnvironment  = "there is no environment %s here; there are %s"
	wordNoApplication  = "there is no application %s in %s; there are %s"

	wordDecided    = "written to %s as %s; the next run, or look of the service, acts on it"
	wordByName     = " (by its name: no digest of it is known)"
	wordStoodThere = "nothing written: %s says so already"
	wordEverywhere = "everywhere"
	wordToAndEnv   = "--to and --env both name the environment: write one of them"

	flagConfig    = "the server's file (default: $PROMOTER_CONFIG, or promoter-server.yaml in this folder)"
	flagRepo      = "a repository: OWNER/NAME or FORGE:OWNER/NAME of the server's file, or a URL where there is none (repeatable)"
	flagMirrors   = "a folder to keep mirrors of repositories and facts about images in"
	flagDryRun    = "show what would be done, and write nothing"
	flagApp       = "the application (default: all)"
	flagOrderEnv  = "the environment (default: all)"
	flagOneEnv    = "the environment; there has to be one"
	flagReason    = "why, for others to read"
	flagAs        = "who decides, where the credential is not a person's"
	flagTo        = "the environment, as --env"
	flagOrderWith = "the version to promote instead: REPOSITORY[:TAG][@DIGEST] (repeatable)"
	flagUntil     = "when it ends by itself: a time, a day, or a duration (default: with thaw)"
)

// orderWords are the words of one verb that decides.
type orderWords struct{ short, long, example string }

const orderEnd = `

It is written to the branch promoter/_state of the repository, with who, when and
why. Whoever may push there may do it; nobody passes a gate by it.

Exit codes: 0 written, or it stood there already; 1 not written.`

func wordsHold() orderWords {
	return orderWords{
		"Let nothing move in an application or environment until it is resumed",
		"hold stops promotions into a place: nothing is proposed, and an open pull request\nstays open and is not merged, until 'promoter resume'." + orderEnd,
		"  promoter hold --env prod --app shop --reason 'incident 42'",
	}
}

func wordsResume() orderWords {
	return orderWords{
		"End a hold, a rollback and what was rejected in a place",
		"resume ends a hold and the hold of a rollback, and drops what was rejected in the\nplace until now, so that it may be proposed again. A freeze stays: thaw ends it." + orderEnd,
		"  promoter resume --env prod --app shop",
	}
}

func wordsReject() orderWords {
	return orderWords{
		"Never propose these versions again",
		"reject names versions that are not to be proposed: COMPONENT:TAG, or\nREPOSITORY[:TAG][@DIGEST]. Without --env they are rejected everywhere. What a tag\npoints to is asked of the registry. An open pull request with them is closed; newer\nversions go on." + orderEnd,
		"  promoter reject web:1.4.2 --reason 'leaks memory'\n  promoter reject --app shop --env prod quay.io/acme/web:1.4.2",
	}
}

func wordsPromote() orderWords {
	return orderWords{
		"Ask for a promotion that waits for a person",
		"promote asks for what waits in an environment with propose: manual, for one\napplication or for all of it. With --with the named versions are taken instead of\nthose of the environments before; the registry is asked what they are. Conditions\nand gates hold all the same." + orderEnd,
		"  promoter promote --to prod --app shop\n  promoter promote --to prod --app shop --with quay.io/acme/web:1.4.3",
	}
}

func wordsRollback() orderWords {
	return orderWords{
		"Go back to the versions of before, and hold",
		"rollback asks for the versions that stood in a place before the present ones, as\nthe history of its branch tells them, and holds the place until 'promoter resume'." + orderEnd,
		"  promoter rollback --env prod --app shop --reason 'errors since 1.4.2'",
	}
}

func wordsFreeze() orderWords {
	return orderWords{
		"Let nothing move in an environment, or anywhere, for a time",
		"freeze stops promotions into an environment, or without --env into all of them,\nuntil a time or until 'promoter thaw'." + orderEnd,
		"  promoter freeze --until 2027-01-04 --reason 'end of the year'\n  promoter freeze --env prod --until 4h",
	}
}

func wordsThaw() orderWords {
	return orderWords{
		"End a freeze",
		"thaw ends a freeze of an environment, or without --env that of the repository." + orderEnd,
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
