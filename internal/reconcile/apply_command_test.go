package reconcile_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/config"
	"promoter/internal/identity"
	"promoter/internal/pullrequest"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/scm"
	"promoter/internal/state"
	"promoter/internal/verb"
)

// asking is a config in which prod must be requested.
func asking() string {
	return strings.ReplaceAll(threeEnvironments, "after: [staging], land: automerge}", "after: [staging], propose: manual, newer: queue}")
}

// comment comments on a pull request as a user.
func (w *world) comment(number int, login, body string) int64 {
	w.Clock.Add(time.Minute)
	return w.Forge.Comment(number, identity.User{Host: "forge.example", Login: login}, body).ID
}

// wantReactions checks our reactions to a comment.
func (w *world) wantReactions(id int64, want ...scm.Reaction) {
	w.t.Helper()
	if got := w.Forge.ReactionsTo(id); !slices.Equal(got, want) {
		w.t.Errorf("the reactions to comment %d are %v, want %v", id, got, want)
	}
}

// answers returns our comment on a pull request that replies to commands.
func (w *world) answers(number int) string {
	w.t.Helper()
	var text string
	for _, c := range w.Forge.CommentsOf(number) {
		if c.Author.Same(reconciletest.Bot) && strings.Contains(c.Body, pullrequest.ReplyMarker) {
			if text != "" {
				w.t.Errorf("#%d has two comments of ours", number)
			}
			text = c.Body
		}
	}
	return text
}

func (w *world) wantAnswer(number int, parts ...string) {
	w.t.Helper()
	text := w.answers(number)
	if len(parts) == 0 && text != "" {
		w.t.Errorf("#%d is answered: %s", number, text)
	}
	for _, part := range parts {
		if !strings.Contains(text, part) {
			w.t.Errorf("the answer on #%d lacks %q:\n%s", number, part, text)
		}
	}
}

// staged is a world in which a pull request into staging is open.
func staged(t *testing.T, config string) *world {
	t.Helper()
	w := newWorld(t, config)
	w.pushAndRun(web, "1.1.0")
	w.wantPulls("promoter/staging/shop open")
	return w
}

// merged is a staged world whose pull request was merged.
func merged(t *testing.T, config string) *world {
	t.Helper()
	w := staged(t, config)
	w.mergeByHand(1, "merge")
	w.run()
	return w
}

func TestCommands_hold(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	id := w.comment(1, "ada", "Wait.\n\n/promoter hold the cart is empty")
	at := w.Clock.Now()
	w.run()
	w.wantReactions(id, scm.ReactionDone)
	w.wantAnswer(1)
	hold := w.state().At(in("staging")).Hold
	want := &state.Act{By: identity.User{Host: "forge.example", Login: "ada"}, At: at, Reason: "the cart is empty"}
	if hold == nil || hold.Location == nil || !slices.Equal(hold.Location.Files, []string{"staging/shop.txt"}) {
		t.Fatalf("hold %+v", hold)
	}
	want.Location = hold.Location
	if diff := cmp.Diff(want, hold); diff != "" {
		t.Errorf("hold (-want +got):\n%s", diff)
	}
	if body := w.pull(1).Body; !strings.Contains(body, "on hold by ada") {
		t.Errorf("the pull request says\n%s", body)
	}
	if got := w.subject(); !strings.HasPrefix(got, "Record") { // the last commit: it was answered
		t.Errorf("the last commit is %q", got)
	}
	if got := w.parentSubject(); got != "Hold shop in staging: the cart is empty" {
		t.Errorf("the commit of the decision is %q", got)
	}
	w.calm()
	w.pushAndRun(web, "1.2.0")
	w.wantPulls("promoter/staging/shop open")
	id = w.comment(1, "ben", "/promoter resume fixed")
	report := w.run()
	w.wantReactions(id, scm.ReactionDone)
	wantReason(t, report, "staging", "proposed", "web 1.0.0 -> 1.2.0")
	w.calm()
}

// state reads the state branch.
func (w *world) state() state.State {
	w.t.Helper()
	read, err := state.Read(w.Git.Objects().All(w.Git.Branch(state.Branch)))
	if err != nil {
		w.t.Fatal(err)
	}
	return read
}

func (w *world) subject() string {
	commit, err := w.Git.Objects().Commit(w.Git.Branch(state.Branch))
	if err != nil {
		w.t.Fatal(err)
	}
	subject, _, _ := strings.Cut(commit.Message, "\n")
	return subject
}

func (w *world) parentSubject() string {
	head, err := w.Git.Objects().Commit(w.Git.Branch(state.Branch))
	if err != nil {
		w.t.Fatal(err)
	}
	commit, err := w.Git.Objects().Commit(head.Parents[0])
	if err != nil {
		w.t.Fatal(err)
	}
	subject, _, _ := strings.Cut(commit.Message, "\n")
	return subject
}

func TestCommands_reject(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	id := w.comment(1, "ada", "/promoter reject it leaks")
	report := w.run()
	w.wantReactions(id, scm.ReactionDone)
	w.wantPulls("promoter/staging/shop closed")
	wantReason(t, report, "staging", "rejected", "web 1.1.0", "ada", "it leaks")
	everywhere := w.state().At(state.Target{Environment: state.All, Application: state.All})
	if len(everywhere.Rejections) != 1 || len(everywhere.Rejections[0].Images) != 1 || everywhere.Rejections[0].Number != 1 {
		t.Errorf("rejected %+v", everywhere.Rejections)
	}
	w.calm()
	w.pushAndRun(web, "1.2.0")
	w.wantPulls("promoter/staging/shop closed", "promoter/staging/shop open")
}

// The versions that a merged pull request changed are rejected; those that were there
// before are not.
func TestCommands_rejectMergedPullRequest(t *testing.T) {
	t.Parallel()
	w := merged(t, strings.ReplaceAll(threeEnvironments, "after: [staging], land", "after: {staging: {soak: 24h}}, land"))
	id := w.comment(1, "ada", "/promoter reject it leaks")
	w.run()
	w.wantReactions(id, scm.ReactionDone)
	w.Clock.Add(25 * time.Hour)
	report := w.run()
	wantReason(t, report, "prod", "rejected", "web 1.1.0")
	for _, r := range w.state().At(state.Target{Environment: state.All, Application: state.All}).Rejections {
		if len(r.Images) != 1 || r.Images["web"] == "" {
			t.Errorf("rejected %v", r.Images)
		}
	}
}

func TestCommands_promoteOnParentPullRequest(t *testing.T) {
	t.Parallel()
	w := staged(t, asking())
	w.mergeByHand(1, "squash")
	report := w.run()
	wantReason(t, report, "prod", "propose is manual")
	id := w.comment(1, "ada", "/promoter promote prod")
	w.run()
	w.wantReactions(id, scm.ReactionDone)
	w.wantPulls("promoter/staging/shop merged", "promoter/prod/shop open")
	w.wantAnswer(1, "ada", "`shop` in `prod` is *proposed*")
	w.calm()
	w.mergeByHand(2, "merge")
	w.run()
	w.holds("prod", "1.1.0 1.0.0")
	w.calm()
	w.push(web, "1.2.0") // asked for once is not asked for always
	w.run()
	w.mergeByHand(3, "merge")
	report = w.run()
	wantReason(t, report, "prod", "propose is manual")
}

// A command skips nothing: conditions and gates still apply.
func TestCommands_promoteSkipsNoGate(t *testing.T) {
	t.Parallel()
	w := merged(t, strings.ReplaceAll(asking(), "after: [staging],", "after: {staging: {soak: 24h}}, gates: {checks: [ci], approvals: {count: 1}}, land: automerge,"))
	w.comment(1, "ada", "/promoter promote prod")
	report := w.run()
	wantReason(t, report, "prod", "waiting", "soak")
	w.wantPulls("promoter/staging/shop merged")
	w.wantAnswer(1, "*waiting*", "staging soak")
	w.Clock.Add(25 * time.Hour)
	w.run()
	w.wantPulls("promoter/staging/shop merged", "promoter/prod/shop open")
	w.Forge.Check(w.pull(2).Head.Commit, "ci", scm.CheckPassed)
	w.Forge.Review(2, "ada", scm.Approved) // who asked does not approve
	w.run()
	w.holds("prod", "1.0.0 1.0.0")
	w.Forge.Review(2, "ben", scm.Approved)
	w.run()
	w.holds("prod", "1.1.0 1.0.0")
}

func TestCommands_promoteNamesKnownEnvironment(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments+"  tools: {paths: [\"tools/{application}.txt\"], after: [dev]}\n")
	for text, want := range map[string]string{
		"/promoter promote moon":  "there is no environment moon; there are dev, staging, prod, tools",
		"/promoter promote tools": "shop has no files in tools",
	} {
		id := w.comment(1, "ada", text)
		w.run()
		w.wantReactions(id, scm.ReactionUnclear)
		w.wantAnswer(1, want, "`/promoter promote ENVIRONMENT`")
		w.calm()
	}
}

func TestCommands_refresh(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	asked := 0
	id := w.comment(1, "ada", "/promoter refresh")
	reconciler := w.Reconciler()
	reconciler.Users.Refresh = func(c *config.Config) {
		if asked++; len(c.Components) != 2 {
			t.Error("another config")
		}
		w.push(web, "1.2.0")
	}
	if report, err := reconciler.Reconcile(t.Context()); err != nil || report.Failed() {
		t.Fatal(err, report.Errors)
	}
	w.wantReactions(id, scm.ReactionDone)
	if asked != 1 || !strings.Contains(w.pull(1).Title, "web 1.2.0") {
		t.Errorf("asked %d times; the pull request is %s", asked, w.pull(1).Title)
	}
	w.wantAnswer(1)
	w.calm()
}

func TestCommands_explain(t *testing.T) {
	t.Parallel()
	w := staged(t, strings.ReplaceAll(threeEnvironments, "after: [dev]}", "after: [dev], gates: {checks: [ci]}}"))
	id := w.comment(1, "ada", "/promoter explain")
	w.run()
	w.wantReactions(id, scm.ReactionDone)
	w.wantAnswer(1, "`shop` in `staging` is *proposed*", "**Merge gates:** 0 of 1 passed; waiting for `check ci`", "| `check ci` | waiting |", "not reported yet", "`shop` in `prod` is *same*")
	w.calm()
}

func TestCommands_help(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.Permissions.Only[verb.Reject] = []string{"cho"}
	w.Permissions.Where["ada"] = []string{"staging", "dev"}
	id := w.comment(1, "ada", "/promoter help")
	w.run()
	w.wantReactions(id, scm.ReactionDone)
	w.wantAnswer(1, "here you may use hold, resume, unreject, promote dev, promote staging, refresh, explain, help.", "| `/promoter reject REASON` |")
}

func TestCommands_unclear(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	before := w.Git.Branch("promoter/staging/shop")
	id := w.comment(1, "ada", "/promoter merge @everyone now")
	w.run()
	w.wantReactions(id, scm.ReactionUnclear)
	w.wantAnswer(1, "**ada:** unknown command.", "| `/promoter explain` |")
	id = w.comment(1, "ada", "/promoter hold\n/promoter resume")
	w.run()
	w.wantReactions(id, scm.ReactionUnclear)
	w.wantAnswer(1, "a comment can contain only one command")
	if w.Git.Branch("promoter/staging/shop") != before || w.state().At(in("staging")).Hold != nil {
		t.Error("something was done")
	}
	w.calm()
}

// Text of users is escaped: it mentions no user and ends no markup.
func TestCommands_replyIsSanitized(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.Permissions.Only[verb.Reject] = []string{"@acme/sre <!-- x --> #7 ![y](https://evil.example)"}
	id := w.comment(1, "a@b", "/promoter reject see #12 @acme/all --> `x`")
	w.run()
	w.wantReactions(id, scm.ReactionRefused)
	text := strings.TrimPrefix(w.answers(1), "<!-- "+pullrequest.ReplyMarker+" -->\n")
	for _, bad := range []string{"@acme", "a@b", "#12", "#7", "-->", "<!--", "](https://"} {
		if strings.Contains(text, bad) {
			t.Errorf("the answer holds %q:\n%s", bad, text)
		}
	}
	if strings.Contains(text, "\n/promoter") {
		t.Errorf("the answer gives a command:\n%s", text)
	}
}

// A command on a pull request of several applications applies to all of them.
func TestCommands_groupPullRequest(t *testing.T) {
	t.Parallel()
	w := grouped(t)
	w.wantPulls("promoter/staging/_all open")
	id := w.comment(1, "ada", "/promoter hold")
	w.run()
	w.wantReactions(id, scm.ReactionDone)
	for _, application := range []string{"shop", "cart"} {
		if w.state().At(state.Target{Environment: "staging", Application: application}).Hold == nil {
			t.Errorf("%s is not held", application)
		}
	}
	if w.state().At(state.Target{Environment: "staging", Application: state.All}).Hold != nil {
		t.Error("all of staging is held")
	}
	w.calm()
}
