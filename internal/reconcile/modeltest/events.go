package modeltest

import "reflect"

// event is something that may happen, with its weight and the hooks that the world needs
// for it.
type event struct {
	weight int
	do     func(*story)
	hooks  []any
}

func may(weight int, do func(*story), hooks ...any) event { return event{weight, do, hooks} }

// pick chooses a random event for which the world has the hooks.
func pick(s *story, among ...event) func() {
	var acts []func()
	for _, h := range among {
		for i := 0; i < h.weight && !missing(h.hooks); i++ {
			acts = append(acts, func() { h.do(s) })
		}
	}
	return acts[s.random.IntN(len(acts))]
}

func missing(hooks []any) bool {
	for _, hook := range hooks {
		if reflect.ValueOf(hook).IsNil() {
			return true
		}
	}
	return false
}

// eventsOf returns everything that may happen.
func eventsOf(s *story) []event {
	people, world := s.People, s.World.Bench.World
	return []event{
		may(8, (*story).release), may(1, moveBack), may(1, registryDown), may(2, (*story).wait),
		may(4, (*story).run), may(3, crash), may(2, race), may(1, clockSkew), may(2, failingForge), may(4, interleave),
		may(2, loseResponse, world.Lose), may(2, failRequest, world.Fail), may(1, (*story).limit, world.Limit),
		may(1, revert), may(3, interrupt), may(1, moveBase), may(1, forgeTrailers), may(1, writeUnselected), may(1, writeReleased), may(1, changeConfig), may(1, (*story).rename, world.Rename), may(1, renameEnvironment), may(1, moveFolder, s.Rewrite),

		may(1, holdOrResume), may(1, decidePattern), may(1, unreject), may(1, requestPromotion), may(3, requestSeen), may(1, hotfix), may(1, freeze), may(1, rollback), may(1, rollbackDownstream), may(1, reject),
		may(10, reportHealth), may(1, runBlind), may(1, loseDatabase), may(1, signLate), may(1, signaturesDown),
		may(4, catchUp), may(1, loseMirrored), may(1, deleteImage), may(1, rebuild), may(6, moveStable), may(1, post), may(1, holdFile),
		may(8, reportSmoke, people.Status),
		may(8, (*story).merge, people.Merge), may(2, (*story).close, people.Close), may(2, (*story).reopen, people.Reopen),
		may(1, closeAsBot, people.Close), may(1, reopenAsBot, people.Reopen),
		may(1, retarget, people.Retarget), may(1, (*story).draft, people.Draft),
		may(1, commitToHead, people.Merge), may(1, deleteBranch, s.Git.Delete, people.Merge), may(1, openFromFork, people.Fork),
		may(2, (*story).review, people.Review), may(4, pass, people.Review, people.Status), may(1, (*story).comment, people.Comment), may(2, (*story).command, people.Comment), may(3, reportCheck, people.Status),
		may(1, retitle, people.Retitle),
	}
}

// interleave lets a user act in the middle of a run.
func interleave(s *story) {
	people := s.People
	act := pick(s,
		may(2, (*story).merge, people.Merge), may(2, (*story).close, people.Close), may(1, (*story).reopen, people.Reopen),
		may(1, retarget, people.Retarget), may(1, (*story).draft, people.Draft),
		may(1, commitToHead, people.Merge), may(1, deleteBranch, s.Git.Delete, people.Merge),
		may(1, revert), may(1, moveBase), may(1, changeConfig), may(1, (*story).release),
		may(1, holdOrResume), may(1, decidePattern), may(1, unreject), may(1, freeze), may(1, reject), may(1, (*story).command, people.Comment),
		may(1, closeAsBot, people.Close), may(1, reopenAsBot, people.Reopen),
		may(2, reportHealth), may(1, catchUp), may(1, loseMirrored), may(1, deleteImage), may(1, rebuild), may(2, moveStable),
		may(1, holdFile), may(2, reportSmoke, people.Status),
	)
	at := s.random.IntN(6)
	s.log("a run, with a user at effect %d", at)
	atEffect(s, at, func() {
		s.interleaved = true
		act()
	})
}
