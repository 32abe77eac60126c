package app_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/scm/github/githubtest"
)

// Races, lost answers, limits and sudden ends.

const mergeRoute = "PUT /repos/{owner}/{repo}/pulls/{number}/merge"

func TestRun_P05_github(t *testing.T) {
	onGitHub(t, chain, func(s *story) {
		s.release("web", "1.1.0")
		s.run()
		s.repo.MergePull("ada", 1, "merge")
		var mine string
		s.before(mergeRoute, func() {
			mine = s.repo.Commit("ada", prodHead, "Slip", map[string]string{"evil": "x\n"})
		})
		s.run()
		s.holds("prod", "1.0.0 1.0.0")
		s.pulls(stagingHead+" merged", prodHead+" open")
		if mine == "" || s.repo.Head(prodHead) != mine {
			s.t.Error("the head did not move, or the commit of a person was overwritten")
		}
	})
}

func TestRun_P06_github(t *testing.T) {
	for _, lost := range []string{"GIT receive-pack", "POST /repos/{owner}/{repo}/pulls", "POST /repos/{owner}/{repo}/statuses", mergeRoute} {
		t.Run(strings.ReplaceAll(lost, "/", "-"), func(t *testing.T) {
			onGitHub(t, chain, func(s *story) {
				s.release("web", "1.1.0")
				s.forge.Lose(lost)
				for range 3 {
					s.pass()
				}
				s.repo.MergePull("ada", 1, "merge")
				for range 3 {
					s.pass()
				}
				s.holds("prod", "1.1.0 1.0.0")
				s.pulls(stagingHead+" merged", prodHead+" merged")
				if n := s.forge.Requests()[mergeRoute]; n != 1 {
					s.t.Errorf("it was merged %d times", n)
				}
			})
		})
	}
}

func TestRun_P12_github(t *testing.T) {
	for _, secondary := range []bool{false, true} {
		t.Run(fmt.Sprintf("secondary=%t", secondary), func(t *testing.T) {
			onGitHub(t, chain, func(s *story) {
				s.release("web", "1.1.0")
				until := s.clock.Now().Add(10 * time.Minute)
				s.before("POST /repos/{owner}/{repo}/pulls", func() { s.forge.Limit(secondary, until) })
				result := s.pass()
				at, limited := fault.RetryAt(result.Err)
				if early := until.Sub(at); !limited || early > 2*time.Second || early < -2*time.Second {
					s.t.Errorf("retry at %s, want %s: %v", at, until, result.Err)
				}
				before := s.forge.Requests()
				if again := s.pass(); fault.KindOf(again.Err) != fault.RateLimited {
					s.t.Errorf("within the limit: %v", again.Err)
				}
				if n := count(s.forge.Requests()) - count(before); n > 1 {
					s.t.Errorf("%d requests within the limit", n)
				}
				s.wait(11 * time.Minute)
				s.run()
				s.pulls(stagingHead + " open")
			})
		})
	}
}

func count(requests map[string]int) (n int) {
	for _, one := range requests {
		n += one
	}
	return n
}

// Killed just before every write, and just after it.
func TestRun_P13_github(t *testing.T) {
	onGitHub(t, chain, func(s *story) { s.killed("1.%d.0", true) })
}

func TestRun_P13_plain(t *testing.T) {
	onPlain(t, pushed(), func(s *story) { s.killed("1.%d.0", false) })
}

// killed releases version after version and ends the run at its n-th write.
func (s *story) killed(tags string, forge bool) {
	for n := range 8 {
		tag := fmt.Sprintf(tags, n+1)
		s.release("web", tag)
		ctx, cancel := context.WithCancel(s.t.Context())
		var writes atomic.Int64
		s.forge.Watch(func(route string) {
			if changes(route) && writes.Add(1) == int64(n+1) {
				cancel()
			}
		})
		s.passUnder(ctx)
		cancel()
		s.forge.Watch(nil)
		s.run()
		s.holds("dev", tag+" 1.0.0")
		open := 0
		for _, pull := range s.repo.Pulls() {
			if pull.Open {
				open++
			}
		}
		if forge && open != 1 || !forge && open != 0 {
			s.t.Fatalf("killed at write %d: %d pull requests are open", n, open)
		}
		s.calm()
	}
}

// While one run is about to push, another one runs to its end.
func TestRun_M15_github(t *testing.T) {
	onGitHub(t, chain, func(s *story) {
		s.release("web", "1.1.0")
		other := s.another(5 * time.Minute)
		s.before("GIT receive-pack", func() { other.run() })
		s.run()
		s.holds("dev", "1.1.0 1.0.0")
		s.pulls(stagingHead + " open")
		s.before(mergeRoute, func() { other.run() })
		s.repo.MergePull("ada", 1, "merge")
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
		s.pulls(stagingHead+" merged", prodHead+" merged")
	})
}

func TestRun_M15_plain(t *testing.T) {
	onPlain(t, pushed(), func(s *story) {
		s.release("web", "1.1.0")
		other := s.another(-5 * time.Minute)
		s.before("GIT receive-pack", func() { other.run() })
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
		if n := s.repo.Git("rev-list", "--count", "main"); n != "4" {
			s.t.Errorf("%s commits for three environments and what was there", n)
		}
	})
}

// The base moves between the look and the push.
func TestRun_P08_lostRace_plain(t *testing.T) {
	onPlain(t, pushed(), func(s *story) {
		s.release("web", "1.1.0")
		s.before("GIT receive-pack", func() { s.edit("ada", "main", "dev/shop.yaml", "kind: Deployment", "kind: Deployment # mine") })
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
		if text := s.repo.Git("show", "main:dev/shop.yaml"); !strings.Contains(text, "# mine") {
			s.t.Errorf("the work of a person is gone:\n%s", text)
		}
	})
}

func TestRun_P20_github(t *testing.T) { onGitHub(t, chain, (*story).protected) }

func TestRun_P20_plain(t *testing.T) { onPlain(t, pushed(), (*story).protected) }

func (s *story) protected() {
	s.repo.Protect("main", githubtest.Protection{PushDenied: true})
	s.release("web", "1.1.0")
	result := s.pass()
	err := failures(result.Report)
	if result.Err != nil || fault.KindOf(err) != fault.Unauthorised || !strings.Contains(err.Error(), "Changes must be made through a pull request") {
		s.t.Errorf("%v, %v", result.Err, err)
	}
	if n := s.forge.Requests()["GIT receive-pack"]; n != 1 {
		s.t.Errorf("pushed %d times", n)
	}
	s.repo.Protect("main", githubtest.Protection{})
	s.run()
	s.holds("dev", "1.1.0 1.0.0")
}
