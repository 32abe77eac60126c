package reconcile_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/command"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
)

func (w *world) held() bool { return w.state().At(in("staging")).Hold != nil }

// unheard checks that the comments on the first pull request had no effect.
func (w *world) unheard() {
	w.t.Helper()
	before := w.Git.Branch(state.Branch)
	w.run()
	if w.held() || w.Git.Branch(state.Branch) != before {
		w.t.Error("it was heard")
	}
	w.wantAnswer(1)
	w.calm()
}

func TestCommands_editedCommentIsIgnored(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	first, second := w.comment(1, "ada", "Hello"), w.comment(1, "ada", "/promoter resume")
	w.Clock.Add(time.Second)
	w.Forge.EditComment(first, "/promoter hold")
	w.Forge.EditComment(second, "/promoter hold")
	w.unheard()
	w.wantReactions(first)
	w.wantReactions(second)
	third := w.comment(1, "ada", "/promoter hold")
	w.run()
	w.Forge.EditComment(third, "/promoter resume")
	w.run()
	if !w.held() {
		t.Error("an edit of what was heard counts")
	}
	w.calm()
}

// An edit within the first second leaves no trace on some forges. The webhook of the comment
// tells: a changed command is refused, an equal one is executed, and no other user is quoted.
func TestCommands_editWithinTheFirstSecond(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.Permissions.Strangers["mallory"] = true
	changed, added, same := w.comment(1, "ada", "/promoter resume"), w.comment(1, "ada", "Hello"), w.comment(1, "ben", "/promoter explain ")
	stranger := w.comment(1, "mallory", "Hello")
	for _, c := range w.Forge.CommentsOf(1) {
		w.Reported[c.ID] = command.Digest(c.Body)
	}
	w.Forge.EditAtOnce(changed, "/promoter hold")
	w.Forge.EditAtOnce(added, "Hello\n\n/promoter hold")
	w.Forge.EditAtOnce(same, "Please:\r\n\r\n/promoter   explain")
	w.Forge.EditAtOnce(stranger, "/promoter hold")
	w.run()
	if w.held() {
		t.Error("it is held")
	}
	w.wantReactions(changed, scm.ReactionRefused)
	w.wantReactions(added, scm.ReactionRefused)
	w.wantReactions(same, scm.ReactionDone)
	w.wantReactions(stranger, scm.ReactionRefused)
	w.wantAnswer(1, "the comment was changed after it was posted: write another one")
	w.calm()
}

// A command that no webhook reported waits until its webhook would have arrived. One that
// was reported does not.
func TestCommands_newCommandWaitsForItsWebhook(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.Forge.Fresh = true
	held := w.comment(1, "ada", "/promoter hold")
	explained := w.Forge.Comment(1, identity.User{Host: "forge.example", Login: "ben"}, "/promoter explain").ID
	w.Reported[explained] = command.Digest("/promoter explain")
	report := w.run()
	if want := w.Clock.Now().Add(2 * time.Second); w.held() || !report.CommandsAt.Equal(want) {
		t.Errorf("held: %v; to be read at %v, want %v", w.held(), report.CommandsAt, want)
	}
	w.wantReactions(held)
	w.wantReactions(explained, scm.ReactionDone)
	w.Clock.Add(2 * time.Second)
	if report := w.run(); !w.held() || !report.CommandsAt.IsZero() {
		t.Errorf("held: %v; to be read at %v", w.held(), report.CommandsAt)
	}
	w.wantReactions(held, scm.ReactionDone)
	w.calm()
}

func TestCommands_botsAreIgnored(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	for _, who := range []identity.User{
		{Host: "forge.example", Login: "renovate", Bot: true}, reconciletest.Bot, {Host: "Forge.Example", Login: "Promoter-Bot"}, {Host: "forge.example"},
	} {
		w.wantReactions(w.Forge.Comment(1, who, "/promoter hold").ID)
	}
	w.unheard()
	if w.Permissions.Asked > 0 {
		t.Errorf("rights were asked for %d times", w.Permissions.Asked)
	}
}

func TestCommands_strangerGetsNoText(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.Permissions.Strangers["mallory"] = true
	var said []int64
	for _, text := range []string{"/promoter hold", "/promoter help", "/promoter explain", "/promoter what", "/promoter refresh"} {
		said = append(said, w.comment(1, "mallory", text))
	}
	w.run()
	for _, id := range said {
		w.wantReactions(id, scm.ReactionRefused)
	}
	w.wantAnswer(1)
	delete(w.Permissions.Strangers, "mallory") // what was refused stays so
	w.run()
	if w.held() {
		t.Error("it was heard later")
	}
	w.calm()
}

func TestCommands_notAllowedInEnvironment(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.Permissions.Where["ada"] = []string{"dev"}
	id := w.comment(1, "ada", "/promoter hold")
	w.run()
	w.wantReactions(id, scm.ReactionRefused)
	w.wantAnswer(1, "not in staging")
	id = w.comment(1, "ada", "/promoter reject it leaks") // of every environment
	w.run()
	w.wantReactions(id, scm.ReactionRefused)
	w.wantAnswer(1, "not in prod")
	if w.held() || len(w.state().At(state.Target{Environment: state.All, Application: state.All}).Rejections) > 0 {
		t.Error("something was decided")
	}
	id = w.comment(1, "ada", "/promoter promote dev") // which is allowed, and has nothing to do
	w.run()
	w.wantReactions(id, scm.ReactionRefused)
	w.wantAnswer(1, "dev has the versions of this pull request already")
	w.calm()
}

// Branch names prove nothing: commands on a pull request from a fork, or opened by
// another account from our branch, decide nothing.
func TestCommands_foreignPullRequestDecidesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.Git.Branch("main")
	numbers := []int{
		w.Forge.ByHand("mallory", "promoter/staging/shop", "main", false),
		w.Forge.ByHand("eve", "feature", "main", false),
	}
	for _, number := range numbers {
		refused, asked, odd := w.comment(number, "ada", "/promoter hold"), w.comment(number, "ada", "/promoter explain"), w.comment(number, "ada", "/promoter what")
		w.run()
		w.wantReactions(refused, scm.ReactionRefused)
		w.wantReactions(asked, scm.ReactionRefused)
		w.wantReactions(odd, scm.ReactionUnclear)
		w.wantAnswer(number, "not promoter's")
	}
	for _, target := range w.state().Targets() {
		if record := w.state().At(target); record.Hold != nil || record.Request != nil {
			t.Errorf("%s was decided about", target)
		}
	}
	w.calm()
}

// A user committed to the branch: its trailers are not trusted, but the target can be
// held.
func TestCommands_foreignHeadIsNotTrusted(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.byHand("promoter/staging/shop", "staging", line(web, "1.1.0"), line(web, "1.0.0"))
	w.run()
	id := w.comment(1, "ada", "/promoter reject it leaks")
	w.run()
	w.wantReactions(id, scm.ReactionRefused)
	w.wantAnswer(1, "its head is not promoter's")
	id = w.comment(1, "ada", "/promoter hold")
	w.run()
	w.wantReactions(id, scm.ReactionDone)
	if !w.held() {
		t.Error("it is not held")
	}
}

// A crash before or after any effect applies no command twice and loses no reply.
func TestCommands_appliedOnceDespiteCrashes(t *testing.T) {
	t.Parallel()
	atEveryStep(t, 6, func(t *testing.T, step int, before bool) bool {
		t.Helper()
		w := merged(t, asking())
		held, asked, odd := w.comment(1, "ada", "/promoter hold why"), w.comment(1, "ben", "/promoter promote prod"), w.comment(1, "cho", "/promoter what")
		reached := w.killedAt(step, before)
		w.run()
		w.wantReactions(held, scm.ReactionDone)
		w.wantReactions(asked, scm.ReactionDone)
		w.wantReactions(odd, scm.ReactionUnclear)
		w.wantAnswer(1, "`shop` in `prod` is *proposed*", "unknown command")
		w.wantPulls("promoter/staging/shop merged", "promoter/prod/shop open")
		if by := w.state().At(in("staging")).Hold; by == nil || by.By.Login != "ada" {
			t.Errorf("held by %v", by)
		}
		w.decide(state.Resume(in("staging"), w.act("")))
		w.run()
		if w.held() {
			t.Error("it was held again")
		}
		w.calm()
		return reached
	})
}

// Two processes read the same comment: one of them applies it.
func TestCommands_appliedOnceInARace(t *testing.T) {
	t.Parallel()
	w := merged(t, asking())
	id := w.comment(1, "ada", "/promoter promote prod")
	raced := false
	w.Git.Effect = func(before bool, updates []repo.Update) error {
		if before && !raced && updates[0].Branch == state.Branch {
			raced = true
			if _, err := w.Reconciler().Reconcile(t.Context()); err != nil {
				t.Error(err)
			}
		}
		return nil
	}
	w.run()
	w.Git.Effect = nil
	w.wantReactions(id, scm.ReactionDone)
	w.wantPulls("promoter/staging/shop merged", "promoter/prod/shop open")
	if !raced {
		t.Error("nobody raced")
	}
	w.calm()
}

func TestCommands_deletedComment(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	id := w.comment(1, "ada", "/promoter hold")
	w.Forge.Effect = func(before bool, what string) error {
		if before && what == "react" {
			w.Forge.DeleteComment(id)
		}
		return nil
	}
	w.run()
	if !w.held() || len(w.state().PendingReplies()) > 0 {
		t.Errorf("held: %v, replies: %v", w.held(), w.state().PendingReplies())
	}
	w.calm()
}

// An unknown permission is neither yes nor no.
func TestCommands_waitWhilePermissionsAreUnknown(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.Permissions.Fail = func(identity.User) error { return fault.New(fault.Temporary, "the forge does not answer") }
	id := w.comment(1, "ada", "/promoter hold")
	other := w.comment(1, "ben", "hello")
	if what := w.partial().Errors[0].What; what != "comment on #1" {
		t.Errorf("the error is about %q", what)
	}
	w.wantReactions(id)
	w.wantReactions(other)
	w.Permissions.Fail = nil
	w.run()
	w.wantReactions(id, scm.ReactionDone)
	if !w.held() {
		t.Error("it was not heard later")
	}
}

// Permissions that the account may never read are one error and a refusal.
func TestCommands_refusedWhenPermissionsAreUnreadable(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.Permissions.Fail = func(identity.User) error { return fault.New(fault.Unauthorized, "only administrators may ask that") }
	id := w.comment(1, "ada", "/promoter hold words of a stranger")
	if what := w.partial().Errors[0].What; what != "comment on #1" {
		t.Errorf("the error is about %q", what)
	}
	w.wantReactions(id, scm.ReactionRefused)
	w.wantAnswer(1, "promoter's account may not read your permissions: 'promoter doctor'")
	if strings.Contains(w.answers(1), "stranger") {
		t.Errorf("it repeats what somebody said who may be anybody:\n%s", w.answers(1))
	}
	if w.held() {
		t.Error("it was carried out")
	}
	w.calm()
}

// The comments cannot be listed, or not be replied to: everything else continues.
func TestCommands_forgeErrorIsPartial(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"recent", "react", "say"} {
		w := staged(t, threeEnvironments)
		id := w.comment(1, "ada", "/promoter help")
		w.failing(what, fault.New(fault.Temporary, "an accident"))
		w.push(web, "1.2.0")
		if w.partial(); !strings.Contains(w.pull(1).Title, "1.2.0") {
			t.Errorf("%s: %s", what, w.pull(1).Title)
		}
		w.Forge.Fail = nil
		w.run()
		w.wantReactions(id, scm.ReactionDone)
		w.wantAnswer(1, "here you may use")
		w.calm()
	}
}

// A locked conversation accepts no reply: that is reported once.
func TestCommands_lockedConversation(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.comment(1, "ada", "/promoter hold")
	w.failing("react", fault.New(fault.Unauthorized, "the conversation is locked"))
	if w.partial(); !w.held() {
		t.Error("it is not held")
	}
	w.calm()
}

func TestCommands_oldCommentsAreIgnored(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	id := w.comment(1, "ada", "/promoter hold")
	w.Clock.Add(state.CommentWindow + time.Minute)
	w.unheard()
	w.wantReactions(id)
}

// The state branch is gone, and nothing remembers it: a command that promoter answered is
// not applied again, and the loss is reported once. Newer commands count.
func TestCommands_lostStateAppliesNoneAgain(t *testing.T) {
	t.Parallel()
	w := merged(t, asking())
	w.comment(1, "ada", "/promoter promote prod")
	w.run()
	w.mergeByHand(2, "merge")
	w.run()
	w.comment(1, "ada", "/promoter hold")
	w.run()
	w.decide(state.Resume(in("staging"), w.act("")))
	w.run()
	if err := w.Git.Push(t.Context(), repo.Update{Branch: state.Branch, Old: w.Git.Branch(state.Branch)}); err != nil {
		t.Fatal(err)
	}
	added := w.comment(1, "ben", "/promoter hold it is slow")
	report := w.partial()
	if len(report.Errors) != 1 || !strings.Contains(report.Errors[0].Err.Error(), "commands in comments that promoter has answered (2)") {
		t.Errorf("errors: %+v", report.Errors)
	}
	if request := w.state().At(in("prod")).Request; request != nil {
		t.Errorf("requested again: %+v", request)
	}
	if hold := w.state().At(in("staging")).Hold; hold == nil || hold.By.Login != "ben" {
		t.Errorf("hold: %+v", hold)
	}
	w.wantReactions(added, scm.ReactionDone)
	w.wantPulls("promoter/staging/shop merged", "promoter/prod/shop merged")
	w.calm()
}

// Which comments are answered cannot be read: a command waits.
func TestCommands_unknownReactions(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.comment(1, "ada", "/promoter hold")
	w.failing("reactions", fault.New(fault.Temporary, "no answer"))
	if w.partial(); w.held() {
		t.Error("it is applied")
	}
	w.Forge.Fail = nil
	if w.run(); !w.held() {
		t.Error("it is lost")
	}
	w.calm()
}

// A hold that is read late does not undo a later resume.
func TestCommands_lateHoldAfterResume(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	id := w.comment(1, "ada", "/promoter hold")
	w.Clock.Add(time.Minute)
	w.decide(state.Resume(in("staging"), w.act("")))
	w.run()
	w.wantReactions(id, scm.ReactionRefused)
	w.wantAnswer(1, "it was resumed since then")
	if w.held() {
		t.Error("it is held")
	}
}

// With many commands on closed pull requests, each branch is listed once.
func TestCommands_listsClosedPullRequestsOnce(t *testing.T) {
	t.Parallel()
	w := merged(t, threeEnvironments)
	for range 5 {
		w.comment(1, "ada", "/promoter explain")
	}
	clear(w.Forge.Calls)
	w.run()
	if asked := w.Forge.Calls["list closed"]; asked > 6 { // of three environments, alone and in a group
		t.Errorf("it asked %d times", asked)
	}
	w.wantAnswer(1, "`shop` in `staging` is *same*", "`shop` in `prod` is *same*")
}

func TestCommands_limitOfOneReconciliation(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	var said []int64
	for range 25 {
		said = append(said, w.comment(1, "ada", "/promoter refresh"))
	}
	reconciler := w.Reconciler()
	if _, err := reconciler.Rehearse(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.wantReactions(said[0])
	w.Permissions.Strangers["ada"] = true // so that nothing makes another pass follow
	w.run()
	w.wantReactions(said[19], scm.ReactionRefused)
	w.wantReactions(said[20])
	w.run()
	w.wantReactions(said[24], scm.ReactionRefused)
	w.calm()
}

// Users who may do nothing do not keep the commands of others waiting, and the forge is
// asked once about each of them.
func TestCommands_outsidersUseNoBudgetOfOthers(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.Permissions.Strangers["mallory"], w.Permissions.Strangers["eve"] = true, true
	var outsiders []int64
	for i := range 60 {
		outsiders = append(outsiders, w.comment(1, []string{"mallory", "eve"}[i%2], "/promoter hold"))
	}
	id := w.comment(1, "ada", "/promoter hold")
	w.Permissions.Asked = 0
	if _, err := w.Reconciler().Reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.wantReactions(id, scm.ReactionDone)
	w.wantReactions(outsiders[19], scm.ReactionRefused)
	w.wantReactions(outsiders[20])
	if !w.held() || w.Permissions.Asked > 6 {
		t.Errorf("held: %v; asked %d times", w.held(), w.Permissions.Asked)
	}
	w.run()
	w.run()
	w.wantReactions(outsiders[59], scm.ReactionRefused)
	w.calm()
}

// Outsiders who write more commands than the state remembers displace no command of a user
// that waits, and cause no writes in the end.
func TestCommands_floodOfRefusedCommandsDisplacesNone(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.Permissions.Strangers["mallory"] = true
	w.Permissions.Fail = func(user identity.User) error {
		if user.Login == "ada" {
			return fault.New(fault.Temporary, "the forge does not answer")
		}
		return nil
	}
	held := w.comment(1, "ada", "/promoter hold")
	for range 600 {
		w.comment(1, "mallory", "/promoter hold")
	}
	for range 30 {
		if _, err := w.Reconciler().Reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := w.state().Outsiders(); n != state.MaxOutsiders {
		t.Errorf("%d commands of outsiders are recorded", n)
	}
	w.Permissions.Fail = nil
	w.run()
	w.wantReactions(held, scm.ReactionDone)
	for range 5 { // commands that are no longer listed make room for others
		w.run()
	}
	w.calm()
}

// A flood of comments, also within one second, only delays new commands.
func TestCommands_floodOfCommentsOnlyDelaysCommands(t *testing.T) {
	t.Parallel()
	for name, every := range map[string]time.Duration{"in an hour": time.Second / 2, "in one second": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := staged(t, threeEnvironments)
			mallory := identity.User{Host: "forge.example", Login: "mallory"}
			for range 7000 {
				w.Clock.Add(every)
				w.Forge.Comment(1, mallory, "hello")
			}
			w.Clock.Add(time.Second)
			id := w.Forge.Comment(1, identity.User{Host: "forge.example", Login: "ada"}, "/promoter hold").ID
			for range 6 {
				w.run()
			}
			w.wantReactions(id, scm.ReactionDone)
			w.Clock.Add(2 * time.Hour)
			w.run()
			w.calm()
		})
	}
}

// With many comments, the state records how far they were read.
func TestCommands_manyCommentsArePaged(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	for range 700 {
		w.comment(1, "ada", "hello")
	}
	first := w.comment(1, "ada", "/promoter hold")
	clear(w.Forge.Calls)
	w.run()
	w.wantReactions(first, scm.ReactionDone)
	if asked := w.Forge.Calls["recent"]; asked > 3 {
		t.Errorf("it asked %d times", asked)
	}
	clear(w.Forge.Calls)
	w.run()
	if asked := w.Forge.Calls["recent"]; asked != 1 {
		t.Errorf("it asked %d times", asked)
	}
	w.calm()
	id := w.comment(1, "ada", "/promoter resume")
	w.run()
	w.wantReactions(id, scm.ReactionDone)
}

// Anyone who can write the state branch can break the record of processed comments:
// then no command is applied, and that is an error.
func TestCommands_unreadableRecordStopsCommands(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.Git.Commit(state.Branch, reconciletest.Human, w.Clock.Now(), "Break it", func(all map[string]string) { all["_all/_all.json"] = `{"schema":1,"processedComments":7}` })
	id := w.comment(1, "ada", "/promoter hold")
	report, err := w.Reconciler().Reconcile(t.Context())
	if err != nil || len(report.Errors) == 0 {
		t.Fatal(err, report.Errors)
	}
	w.wantReactions(id)
}

// Only a process that acts reads commands.
func TestObserve_readsNoCommands(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.comment(1, "ada", "/promoter hold")
	if _, err := w.Reconciler().Preview(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := previousSnapshot(t, w.Reconciler(), promotion.Target{Environment: "dev", Application: "shop"}); fault.KindOf(err) == fault.Internal {
		t.Fatal(err)
	}
	if w.Permissions.Asked > 0 || w.held() {
		t.Error("it was heard")
	}
}

// A reopened pull request is still ours.
func TestCommands_reopenedPullRequest(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.Forge.CloseByHand(1, "ben")
	w.run()
	id := w.comment(1, "ada", "/promoter unreject a mistake")
	w.run()
	w.wantReactions(id, scm.ReactionDone)
	if got := w.pulls(); !slices.Contains(got, "promoter/staging/shop open") {
		t.Errorf("pull requests: %v", got)
	}
	w.calm()
}
