package app_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/fault"
	"promoter/internal/scm/github/githubtest"
)

// Races, lost responses, rate limits, and sudden ends.

const mergeRoute = "PUT /repos/{owner}/{repo}/pulls/{number}/merge"

func TestRun_headMovedBeforeTheMergeIsRefused_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, chain, func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		s.repo.Pulls.Merge("ada", 1, "merge")
		var mine string
		s.before(mergeRoute, func() {
			mine = s.repo.Git.Commit("ada", prodHead, "Slip", map[string]string{"evil": "x\n"})
		})
		s.run()
		s.holds("prod", "1.0.0 1.0.0")
		s.pulls(stagingHead+" merged", prodHead+" open")
		if mine == "" || s.repo.Git.Head(prodHead) != mine {
			s.t.Error("the head did not move, or the commit of a person was overwritten")
		}
	})
}

func TestRun_mergeWithALostResponseSucceeds_github(t *testing.T) {
	t.Parallel()
	for _, lost := range []string{"GIT receive-pack", "POST /repos/{owner}/{repo}/pulls", "POST /repos/{owner}/{repo}/statuses", mergeRoute} {
		t.Run(strings.ReplaceAll(lost, "/", "-"), func(t *testing.T) {
			t.Parallel()
			onceOnGitHub(t, chain, func(s *story) {
				s.release("web", "1.1.0")
				s.forge.Traffic.Lose(lost)
				for range 3 {
					s.pass()
				}
				s.repo.Pulls.Merge("ada", 1, "merge")
				for range 3 {
					s.pass()
				}
				s.holds("prod", "1.1.0 1.0.0")
				s.pulls(stagingHead+" merged", prodHead+" merged")
				if n := s.forge.Traffic.Requests()[mergeRoute]; n != 1 {
					s.t.Errorf("it was merged %d times", n)
				}
			})
		})
	}
}

func TestRun_forgeFailuresAreIsolated_github(t *testing.T) {
	t.Parallel()
	for _, secondary := range []bool{false, true} {
		t.Run(fmt.Sprintf("secondary=%t", secondary), func(t *testing.T) {
			t.Parallel()
			onceOnGitHub(t, chain, func(s *story) {
				s.release("web", "1.1.0")
				until := s.clock.Now().Add(10 * time.Minute)
				s.before("POST /repos/{owner}/{repo}/pulls", func() { s.forge.Limit(secondary, until) })
				result := s.pass()
				at, limited := fault.RetryAt(result.Err)
				if early := until.Sub(at); !limited || early > 2*time.Second || early < -2*time.Second {
					s.t.Errorf("retry at %s, want %s: %v", at, until, result.Err)
				}
				before := s.forge.Traffic.Requests()
				if again := s.pass(); fault.KindOf(again.Err) != fault.RateLimited {
					s.t.Errorf("within the limit: %v", again.Err)
				}
				if n := count(s.forge.Traffic.Requests()) - count(before); n > 1 {
					s.t.Errorf("%d requests within the limit", n)
				}
				s.wait(11 * time.Minute)
				s.run()
				s.pulls(stagingHead + " open")
			})
		})
	}
}

// A forge that is down or limits its rate does not affect another.
func TestRun_isolatesForges(t *testing.T) {
	t.Parallel()
	s, other := newStory(t, "github", chain), newStory(t, "github", chain)
	s.release("web", "1.1.0")
	file := s.serverFile("two.yaml", fmt.Sprintf(`one: {kind: github, url: "%s", insecure: true, token: "env:ONE"}
  two: {kind: github, url: "%s", insecure: true, token: "env:TWO"}`, other.forge.URL(), s.forge.URL()),
		"repositories: [{forge: one, name: acme/gitops}, {forge: two, name: acme/gitops}]")
	server := connected(t, file, environ("ONE", other.token, "TWO", s.token), s.clock.Now)
	other.forge.Limit(true, s.clock.Now().Add(time.Hour))
	results, err := app.Run(t.Context(), server, app.RunOptions{})
	if err != nil || len(results) != 2 || fault.KindOf(results[0].Err) != fault.RateLimited || results[1].Failed() {
		t.Fatalf("%v: %+v", err, results)
	}
	s.pulls(stagingHead + " open")
}

func count(requests map[string]int) (n int) {
	for _, one := range requests {
		n += one
	}
	return n
}

// The run is killed at every write, one after the other.
func TestRun_killedAtEveryWrite_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, chain, func(s *story) { s.killed("dev", 1) })
}

func TestRun_killedAtEveryWriteOfAnAutomerge_github(t *testing.T) {
	t.Parallel()
	config := strings.ReplaceAll(chain, "after: [dev]}", "after: [dev], land: automerge}")
	once(t, "github", keptMirror, config, func(s *story) { s.killed("prod", 0) })
}

func TestRun_killedAtEveryWrite_plain(t *testing.T) {
	t.Parallel()
	once(t, "git", freshClones, pushed(), func(s *story) { s.killed("prod", 0) })
}

// killed releases one version after the other, and ends the run at its n-th write.
// After the next run, the last environment has the version, and the given number of
// pull requests is open.
func (s *story) killed(last string, open int) {
	writes := int64(1)
	for n := int64(0); n < writes; n++ {
		tag := fmt.Sprintf("1.%d.0", n+1)
		s.release("web", tag)
		ctx, cancel := context.WithCancel(s.t.Context())
		var seen atomic.Int64
		s.forge.Traffic.Watch(func(route string) {
			if changes(route) && seen.Add(1) == n+1 {
				cancel()
			}
		})
		s.passUnder(ctx)
		killed := ctx.Err() != nil
		cancel()
		s.run()
		s.forge.Traffic.Watch(nil)
		s.holds(last, tag+" 1.0.0")
		if got := openHeads(s.repo.Pulls.All()); len(got) != open {
			s.t.Fatalf("killed at write %d: open are %v", n, got)
		}
		s.calm()
		if killed {
			writes = min(n+2, 20)
		}
	}
	if writes < 2 {
		s.t.Error("no run was killed")
	}
}

// While one run is about to push, another one runs to its end.
func TestRun_twoConcurrentRuns_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, chain, func(s *story) {
		s.release("web", "1.1.0")
		other := s.another(5 * time.Minute)
		s.before("GIT receive-pack", func() { other.run() })
		s.run()
		s.holds("dev", "1.1.0 1.0.0")
		s.pulls(stagingHead + " open")
		s.before(mergeRoute, func() { other.run() })
		s.repo.Pulls.Merge("ada", 1, "merge")
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
		s.pulls(stagingHead+" merged", prodHead+" merged")
	})
}

func TestRun_twoConcurrentRuns_plain(t *testing.T) {
	t.Parallel()
	onPlain(t, pushed(), func(s *story) {
		s.release("web", "1.1.0")
		other := s.another(-5 * time.Minute)
		s.before("GIT receive-pack", func() { other.run() })
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
		if n := s.repo.Git.Run("rev-list", "--count", "main"); n != "4" {
			s.t.Errorf("%s commits for three environments and what was there", n)
		}
	})
}

// The base moves between the observation and the push.
func TestRun_lostRace_plain(t *testing.T) {
	t.Parallel()
	onPlain(t, pushed(), func(s *story) {
		s.release("web", "1.1.0")
		s.before("GIT receive-pack", func() { s.edit("ada", "main", "dev/shop.yaml", "kind: Deployment", "kind: Deployment # mine") })
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
		if text := s.repo.Git.Run("show", "main:dev/shop.yaml"); !strings.Contains(text, "# mine") {
			s.t.Errorf("the work of a person is gone:\n%s", text)
		}
	})
}

func TestRun_protectedBranchRefusesThePush_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, chain, (*story).protected)
}

func TestRun_protectedBranchRefusesThePush_plain(t *testing.T) {
	t.Parallel()
	onPlain(t, pushed(), (*story).protected)
}

func (s *story) protected() {
	s.repo.Protect("main", githubtest.Protection{PushDenied: true})
	s.release("web", "1.1.0")
	result := s.pass()
	err := failures(result.Report)
	if result.Err != nil || fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), "Changes must be made through a pull request") ||
		!strings.Contains(err.Error(), "or use land: automerge or pr") {
		s.t.Errorf("%v, %v", result.Err, err)
	}
	if n := s.forge.Traffic.Requests()["GIT receive-pack"]; n != 1 {
		s.t.Errorf("pushed %d times", n)
	}
	s.repo.Protect("main", githubtest.Protection{})
	s.run()
	s.holds("dev", "1.1.0 1.0.0")
}
