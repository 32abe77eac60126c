package modeltest

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/config"
	"promoter/internal/config/setting"
	"promoter/internal/health"
	"promoter/internal/identity"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/scm/scmtest"
	"promoter/internal/state"
)

// stateBranch contains the user decisions.
const stateBranch = state.Branch

// story is a world in which random events happen.
type story struct {
	World
	shape
	t      *testing.T
	repo   scm.Repository
	random *rand.Rand
	logged []string

	released        map[string]int             // the minor version of each repository
	minorOf         map[string]int             // of every reference that was ever released, and unselected ones
	held            map[string]map[string]bool // references that each target ever had
	verifiedHeads   map[string]string          // by branch, the commit that was checked
	refused         map[string]map[string]bool // references that a user refused in a target
	reopened        map[string]map[string]bool // references that a user reopened a pull request of, in a target
	rolledBack      map[string][]string        // references that a user rolled a target back to
	closed          map[string]bool            // targets of which a user closed a pull request since they were rolled back
	userHeads       map[string]string          // heads that a user committed to, with the commit
	seen            map[int]scm.PullRequest    // every pull request that was ever open
	fork            int                        // the number of the pull request of a fork; 0: none
	renamed         bool                       // the repository
	guarded         bool                       // the forge requires ci before a merge into main
	queued          bool                       // the forge merges into main by a queue only
	stored          state.State                // the state before the step
	reported        map[string]scm.CheckState  // the last ci result, by commit
	reviewed        map[int]map[string]review  // the last review of each user, by pull request
	titles          map[int]string             // that users wrote
	resumes         map[state.Target]time.Time // the last resume in a comment
	unrejects       map[state.Target]time.Time // the last unreject in one
	reconciliations int                        // so far
	partial         int                        // of them, those that decided about a part only
	cache           *decisionCache
	configured      string // before the step, as main has it
	configSeed      uint64 // of the config as main has it
	stateHead       string // of the state branch, when failures were read
	evidence        *reconciletest.Evidence
	delivered       []health.Report            // all reports about health
	healthy         map[string][]health.Report // reports of the right sources that a target is healthy
	failures        map[string][]*failure      // that were ever recorded, by target
	blind           bool                       // processes have no database
	signed          map[string]bool            // digests that were ever signed as they must be
	checkedHeads    map[string]bool            // commits of ours whose images are signed
	sealed          bool                       // requests on the state branch are authentic
	bypassing       map[string]bool            // targets about which Ann bypassed something in a comment
	configs         map[string]*config.Config  // that were loaded, by their text
	ran             []time.Time                // the times of the reconciliations in this step
	copied          map[string]bool            // digests that ever were in the mirror
	deleted         map[string]bool            // releases that the registry does not have any more
	rebuilt         map[string]string          // releases under the tag of an earlier one, with their content
	builds          int                        // of them, so far
	releasedAt      map[string]time.Time       // the digests of releases
	stable          map[string]bool            // digests that ever had the tag stable
	smoked          map[string]bool            // commits for which smoke ever passed
	rows            map[string]int             // of the table choices, how often decisions had each
	unanswered      bool                       // a registry did not answer in this step
	byRevert        map[string]bool            // what of refused was reverted in Git, by target and reference
	openAgain       map[int]bool               // pull requests that a user reopened last
	skewed          bool                       // a process had a wrong clock
	dropping        bool                       // the story itself ends requests
	botCloses       map[string]int             // how often a bot closed what would bring a reference, by target and reference
	storedHead      string                     // of the state branch before the step
	skipped         bool                       // the event that was drawn cannot happen
	interleaved     bool                       // a user acted in the middle of the step: too late for some of it
	arrived         map[string]arrival         // of commits to branches
	noted           time.Time                  // when they were noted last

	onEffect  func(before bool, what string) error // around every push and every write to the forge
	onRequest func(what string) error              // before every request to the forge
}

func newStory(t *testing.T, world func(*testing.T, *rand.Rand, map[string]string) World, random *rand.Rand) *story {
	t.Helper()
	s := &story{
		t: t, random: random,
		released: map[string]int{}, held: map[string]map[string]bool{}, refused: map[string]map[string]bool{}, reopened: map[string]map[string]bool{},
		userHeads: map[string]string{}, verifiedHeads: map[string]string{}, closed: map[string]bool{}, rolledBack: map[string][]string{}, seen: map[int]scm.PullRequest{},
		reported: map[string]scm.CheckState{}, reviewed: map[int]map[string]review{}, titles: map[int]string{}, resumes: map[state.Target]time.Time{}, unrejects: map[state.Target]time.Time{},
		evidence: reconciletest.NewEvidence(), healthy: map[string][]health.Report{}, failures: map[string][]*failure{},
		signed: map[string]bool{}, checkedHeads: map[string]bool{}, bypassing: map[string]bool{},
		configs: map[string]*config.Config{}, copied: map[string]bool{}, deleted: map[string]bool{}, rebuilt: map[string]string{}, releasedAt: map[string]time.Time{},
		stable: map[string]bool{}, smoked: map[string]bool{}, rows: map[string]int{}, arrived: map[string]arrival{}, botCloses: map[string]int{}, byRevert: map[string]bool{}, openAgain: map[int]bool{},
		minorOf: map[string]int{reference(web, "1.0.0"): 0, reference(worker, "1.0.0"): 0},
	}
	s.shape = shape{
		pushOnly: random.IntN(10) == 0, moving: random.IntN(3) == 0, ownBranch: random.IntN(3) == 0, verified: random.IntN(3) == 0,
		mirrored: random.IntN(3) == 0, names: newNames(),
	}
	s.byCheck = !s.pushOnly && random.IntN(2) == 0
	s.cache = &decisionCache{s: s}
	s.configSeed = random.Uint64()
	text := s.configNow()
	s.World = world(t, random, s.files(text))
	s.open()
	if s.People.Merge == nil && !s.pushOnly {
		s.pushOnly, s.byCheck = true, false
		text = s.configNow()
		s.write("main", repo.ConfigFile, text)
	}
	s.log("%s", text)
	for _, repository := range []string{web, worker} {
		s.pushSigned(repository, "1.0.0")
		s.mirror(reference(repository, "1.0.0"))
	}
	if s.moving {
		s.minorOf[moveTag(s, 0)] = 0
	}
	if s.ownBranch {
		s.write(release, "README", "y\n")
	}
	s.settings()
	for _, target := range targets() {
		s.held[target], s.refused[target], s.reopened[target] = map[string]bool{}, map[string]bool{}, map[string]bool{}
	}
	acceptCurrent(s)
	return s
}

// settings sets up the repository on the forge.
func (s *story) settings() {
	s.t.Helper()
	world, method := s.World.Bench.World, []string{"merge", "squash", "rebase"}[s.random.IntN(3)]
	if world.Methods != nil {
		s.log("the merge method is %s", method)
		world.Methods(s.t, method)
	}
	switch chance := s.random.IntN(10); {
	case s.pushOnly:
	case chance < 2 && world.Protect != nil:
		s.log("main requires ci before a merge")
		s.guarded = true
		world.Protect(s.t, ci)
	case chance == 2 && world.Queue != nil:
		s.log("main requires a merge queue")
		s.queued = true
		world.Queue(s.t)
	}
}

// open opens the repository for the story itself.
func (s *story) open() {
	s.t.Helper()
	var err error
	if s.repo, err = s.Forge.Open(s.t.Context(), s.Name); err != nil {
		s.t.Fatal(err)
	}
}

func (s *story) log(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if s.Secret != "" && strings.Contains(text, s.Secret) {
		s.t.Errorf("the credential is visible: %s", text)
	}
	s.logged = append(s.logged, text)
}

// step lets one event happen, and often a run after it.
func (s *story) step() {
	s.Clock.Add(time.Minute)
	s.readState()
	before := s.reconciliations
	for range 5 {
		s.skipped = false
		if pick(s, eventsOf(s)...)(); !s.skipped {
			break
		}
	}
	if s.reconciliations == before && s.random.IntN(2) == 0 {
		s.check()
		s.readState()
		s.run()
	}
}

// skip reports that the event that was drawn cannot happen now.
func (s *story) skip() { s.skipped = true }

// readState keeps the user decisions from before a step.
func (s *story) readState() {
	s.interleaved, s.unanswered, s.ran = false, false, nil
	s.storedHead = s.head(stateBranch)
	s.stored = s.stateAt(s.storedHead)
	s.configured = s.Store.Files(s.head("main"))[repo.ConfigFile]
}

// stateAt returns the user decisions in a commit of the state branch; empty: none.
func (s *story) stateAt(commit string) state.State {
	if commit == "" {
		return state.State{}
	}
	read, err := state.Read(contents(s.Store.Files(commit)))
	if err != nil {
		s.t.Error(err)
	}
	return read
}

func contents(files map[string]string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for path, content := range files {
			if !yield(path, []byte(content)) {
				return
			}
		}
	}
}

// write commits one file to a branch as a user.
func (s *story) write(branch, path, content string) {
	s.commit(branch, path, content, "By hand")
}

func (s *story) commit(branch, path, content, message string) string {
	return s.Git.Commit(s.t, scmtest.Commit{By: scmtest.Ann, Branch: branch, Path: path, Content: content, Message: message})
}

// act is a decision of a user, now.
func (s *story) act() state.Act {
	return state.Act{By: identity.User{Host: s.repo.Info().Self.Host, Login: scmtest.Ann}, At: s.Clock.Now(), Reason: "because"}
}

// finish checks that reconciliations write nothing any more some time after the last
// event.
func (s *story) finish() {
	s.t.Helper()
	s.log("the end")
	for range 4 {
		s.Clock.Add(2 * time.Hour)
		s.readState()
		s.reconcile()
		s.check()
	}
	checkProgress(s)
	for range 4 { // time passed since the last one, and Gitea defers merges of new heads
		s.reconcile()
	}
	disturbed(s, func(before bool, what string) error {
		if !before && what != saying {
			s.t.Errorf("reconciliations never rest: %s", what)
		}
		return nil
	})
}

// checkProgress checks that the next release is promoted once nothing holds it.
func checkProgress(s *story) {
	s.t.Helper()
	everything := state.Target{Environment: state.All, Application: state.All}
	changes := []state.Change{state.ResumeWithin(everything, s.act()), state.Thaw(state.All)}
	for _, environment := range environments() {
		for _, name := range s.names.of(environment) {
			changes = append(changes, state.Thaw(name))
		}
	}
	s.readState()
	for _, target := range targets() {
		if request := s.stored.At(s.targetOf(target)).Request; request != nil && len(request.For) == 0 { // it may be for what is not signed
			changes = append(changes, state.RemoveRequest(s.targetOf(target), *request))
		}
	}
	s.dropping = true
	s.record("resume and thaw everything", changes...)
	readFailures(s)
	s.dropping = false
	forgetRollback(s, everything.Contains)
	newest := max(s.released[web], s.released[worker]) + 1 // sameVersion needs that of both
	for _, repository := range []string{web, worker} {
		s.released[repository] = newest
		s.sign(reference(repository, s.next(repository)))
	}
	for range 6 { // windows open, and versions become old enough
		s.readState()
		s.reconcile()
		s.Clock.Add(2*time.Hour + 20*time.Minute)
		s.check()
	}
	tag := s.newest(web)
	settings, _ := settingsOf(s, s.configured, "dev/shop")
	pushes := settings.Land == setting.LandPush && settings.Newer != setting.NewerDrain // which waits for the children
	if pushes && !s.guarded && !s.queued && !slices.Contains(currentReferences(s, "dev/shop"), reference(web, tag)) {
		s.t.Errorf("dev never got web %s", tag)
	}
}
