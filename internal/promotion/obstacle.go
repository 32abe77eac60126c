package promotion

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Obstacle is what keeps a promotion from landing until a user changes something: no version, no review, and no time
// ends it. The pull request, the command line, the page, and notifications show the same value.
type Obstacle struct {
	Cause   Cause      `json:"cause"`
	Since   *time.Time `json:"since,omitempty"` // nil: not known
	Message string     `json:"message"`         // what happens, for users
	Remedy  string     `json:"remedy"`          // what users can do
	// About distinguishes obstacles with one cause, such as the checks of one head.
	About string `json:"-"`
}

// Cause is the kind of an obstacle, for code that reads it.
type Cause string

// The causes.
const (
	CauseCheck    Cause = "check"    // a required check has not started
	CausePush     Cause = "push"     // the forge refuses a push
	CauseConflict Cause = "conflict" // the pull request conflicts with its base, and promoter must not write it again
)

// StartOfChecks is how long checks of a new head may take to be reported for the first time. Most systems report a
// queued run within seconds.
const StartOfChecks = 15 * time.Minute

// Text is the message with the remedy.
func (o Obstacle) Text() string { return o.Message + "; " + o.Remedy }

// ID identifies an obstacle: it is the same as long as the obstacle lasts.
func (o Obstacle) ID() string { return strings.TrimSuffix(string(o.Cause)+"/"+o.About, "/") }

// Reason is the reason of a target with the obstacle.
func (o Obstacle) Reason() Reason { return Reason{Rule: RuleStuck, Message: "stuck: " + o.Text()} }

// NotStarted makes a required check that was not reported an obstacle of a pull request once its time is over, and else
// sets when that will be. The remedy is for checks that the setting requires.
func (c *Condition) NotStarted(open Open, name, setting string, now time.Time) {
	// Runs may also be triggered by the pull request, which may be opened after a push.
	begin := open.Pushed
	if open.Opened.After(begin) {
		begin = open.Opened
	}
	if open.Pushed.IsZero() || open.Head == "" || open.Blind {
		return
	}
	if due := begin.Add(StartOfChecks); now.Before(due) {
		c.Overdue = due
		return
	}
	begin = begin.UTC()
	c.State = Blocked
	c.Obstacle = &Obstacle{
		Cause: CauseCheck, Since: &begin, About: name + "/" + open.Commit,
		Message: fmt.Sprintf("the check %s has not started since %s", name, begin.Format("2006-01-02 15:04 UTC")),
		Remedy:  fmt.Sprintf("let its workflow run for the branch %s, or remove it from %s", open.Head, setting),
	}
	c.Reason = c.Obstacle.Text()
}

// RefusedPush returns the obstacle of a push that the forge refuses, by the words of the forge.
func RefusedPush(branch, head string, cause error) Obstacle {
	words := cause.Error()
	remedy := "'promoter doctor' checks the credential and the settings"
	for _, one := range pushRemedies {
		if one.words.MatchString(words) {
			remedy = strings.ReplaceAll(one.remedy, "BRANCH", branch)
			break
		}
	}
	return Obstacle{
		Cause: CausePush, About: head, Remedy: remedy,
		Message: fmt.Sprintf("the push of %s is refused: %s", branch, words),
	}
}

// pushRemedies are what users can do about a refused push, by the words of GitHub, GitLab, Gitea, and Git.
var pushRemedies = []struct {
	words  *regexp.Regexp
	remedy string
}{
	{
		regexp.MustCompile("(?i)`?workflows?`? (permission|scope)|create or update workflow"),
		"grant the App or the token the permission to write workflows, or keep workflow files out of the paths of the config",
	},
	{
		regexp.MustCompile(`(?i)sign(ed|ing|atures?)\b`),
		"set signing in the server file, exclude promoter/** from the rule, or let promoter bypass it",
	},
	{
		regexp.MustCompile(`(?i)protected branch|branch protection|GH006|GH013|rule violations|ruleset|not allowed to push code to`),
		"let promoter's account push to BRANCH: allow it in the rule, or let it bypass the rule",
	},
	{
		regexp.MustCompile(`(?i)hook declined|hook`),
		"the server's hook has to accept promoter's commits: ask those who administer it",
	},
	{
		regexp.MustCompile(`(?i)\b403\b|denied|forbidden|read.only|not granted|not allowed|unauthorized|permission|deploy key`),
		"give promoter's credential write access to the contents of the repository",
	},
}

// ConflictsWith returns the obstacle of a pull request that a user works on and that conflicts with its base.
func ConflictsWith(base string, open Open) Obstacle {
	return Obstacle{
		Cause: CauseConflict, About: open.Commit,
		Message: fmt.Sprintf("pull request #%d conflicts with %s, and promoter must not write it again: %s",
			open.Number, cmp.Or(base, "its base"), open.Foreign),
		Remedy: fmt.Sprintf("resolve the conflict on %s, or delete the branch to let promoter write it again", open.Head),
	}
}
