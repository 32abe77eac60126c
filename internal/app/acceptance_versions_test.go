package app_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"promoter/internal/decision"
	"promoter/internal/verb"

	"promoter/internal/app"
	"promoter/internal/registry/registrytest"
)

// Snapshots, and user decisions about versions.

// onBoth plays a case on GitHub with fresh clones, and on plain Git with a cached
// mirror; everything lands by push.
func onBoth(t *testing.T, config string, play func(*story)) {
	t.Helper()
	t.Run("github", func(t *testing.T) {
		t.Parallel()
		once(t, "github", freshClones, config, play)
	})
	t.Run("plain", func(t *testing.T) {
		t.Parallel()
		app.AnotherForge(t)
		once(t, "git", keptMirror, config, play)
	})
}

// edge follows a moving tag.
func edge(more string) string {
	return strings.Replace(pushed(), `web: {image: $R/acme/web, select: {semver: ">=1"}}`, "web: {image: $R/acme/web, select: {tag: edge"+more+"}}", 1)
}

// beginEdge gives all environments the current image of the tag.
func (s *story) beginEdge() {
	s.t.Helper()
	s.image("web", "edge", "edge 0", workday().AddDate(0, -2, 0))
	for _, environment := range []string{"dev", "staging", "prod"} {
		s.edit("ada", "main", environment+"/shop.yaml", s.line("web:1.0.0"), s.line("web:edge"))
	}
}

// has checks that the file of an environment contains a digest.
func (s *story) has(environment, digest string) {
	s.t.Helper()
	if text := s.repo.Git.Run("show", "main:"+environment+"/shop.yaml"); !strings.Contains(text, digest) {
		s.t.Errorf("%s does not hold %s:\n%s", environment, digest, text)
	}
}

func TestRun_movedTagIsPromoted(t *testing.T) {
	t.Parallel()
	onBoth(t, edge(""), func(s *story) {
		s.beginEdge()
		s.calm()
		moved := s.image("web", "edge", "edge 1", workday())
		s.run()
		s.has("dev", "web:edge@"+moved)
		s.has("prod", "web:edge@"+moved)
	})
}

func TestRun_newLabelIsPromoted(t *testing.T) {
	t.Parallel()
	onBoth(t, pushed(), func(s *story) {
		old, created := s.digests["web:1.0.0"], workday().AddDate(0, -1, 0)
		first := s.image("web", "1.0.1", "one", created)
		s.run()
		s.holds("prod", "1.0.1 1.0.0")
		if same := s.image("web", "1.0.2", "one", created); same != first || same == old {
			s.t.Fatal("the images are not as this test needs them")
		}
		s.calm()
		s.holds("dev", "1.0.1 1.0.0")
	})
}

func TestRun_settleCollectsImages(t *testing.T) {
	t.Parallel()
	onBoth(t, pushed()+"applications:\n  \"*\": {settle: 2m}\n", func(s *story) {
		s.because(s.releaseAndRun("web", "1.1.0"), "dev", "settle")
		s.wait(90 * time.Second)
		s.releaseAndRun("worker", "1.1.0")
		s.wait(90 * time.Second)
		s.run()
		s.holds("dev", "1.0.0 1.0.0")
		s.calm()
		s.wait(time.Minute)
		s.run()
		s.holds("dev", "1.1.0 1.1.0")
		if n := s.repo.Git.Run("rev-list", "--count", "main", "--", "dev"); n != "2" {
			s.t.Errorf("%s commits in dev, want one for both images", n)
		}
		s.wait(3 * time.Minute)
		s.run()
	})
}

func TestRun_snapshotAddsTheVersionsInTheFiles(t *testing.T) {
	t.Parallel()
	onBoth(t, pushed(), func(s *story) {
		s.releaseAndRun("worker", "1.1.0")
		message := s.repo.Git.Run("log", "-1", "--format=%B", "main", "--", "prod")
		for _, line := range []string{
			"Promoter-Environment: prod", "Promoter-Application: shop", "Promoter-Snapshot: ",
			"Promoter-Image: web=" + s.line("web:1.0.0"), "Promoter-Image: worker=" + s.line("worker:1.1.0"),
		} {
			if !strings.Contains(message, line) {
				s.t.Errorf("the commit does not say %q:\n%s", line, message)
			}
		}
	})
}

func TestRun_rejectedVersionsAreExcludedFromAnySnapshot_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, chain, func(s *story) {
		s.release("web", "1.1.0")
		s.releaseAndRun("worker", "1.1.0")
		s.repo.Pulls.Close("ada", 1)
		s.run()
		s.because(s.releaseAndRun("worker", "1.2.0"), "staging", "rejected", "web 1.1.0")
		s.pulls(stagingHead + " closed")
		s.calm()
		s.releaseAndRun("web", "1.2.0")
		s.pulls(stagingHead+" closed", stagingHead+" open")
		s.holdsOn(stagingHead, "staging", "1.2.0 1.2.0")
	})
}

func TestRun_rejectEverywhere(t *testing.T) {
	t.Parallel()
	onBoth(t, pushed(), func(s *story) {
		s.release("web", "1.1.0")
		s.decide(decision.Decision{Verb: verb.Reject, Images: []string{"web:1.1.0"}, All: true, Reason: "it leaks"})
		s.because(s.run(), "dev", "rejected", "it leaks")
		s.releaseAndRun("worker", "1.1.0")
		s.holds("dev", "1.0.0 1.1.0")
		s.releaseAndRun("web", "1.2.0")
		s.holds("prod", "1.2.0 1.1.0")
	})
}

func TestRun_rollbackHoldsUntilResume(t *testing.T) {
	t.Parallel()
	onBoth(t, pushed(), func(s *story) {
		for _, tag := range []string{"1.1.0", "1.2.0"} {
			s.releaseAndRun("web", tag)
			s.wait(time.Minute)
		}
		s.decide(decision.Decision{Verb: verb.Rollback, Environment: "prod", Application: "shop", Reason: "errors"})
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
		s.calm()
		s.because(s.releaseAndRun("web", "1.3.0"), "prod", "on hold", "errors")
		s.holds("staging", "1.3.0 1.0.0")
		s.holds("prod", "1.1.0 1.0.0")
		s.wait(time.Minute)
		s.decide(decision.Decision{Verb: verb.Resume, Environment: "prod", Application: "shop"})
		s.run()
		s.holds("prod", "1.3.0 1.0.0")
	})
}

func TestRun_removedEnvironmentClosesItsPullRequest_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, chain, func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		without := s.expand(chain[:strings.Index(chain, "  staging:")])
		s.repo.Git.Commit("ada", "main", "Without staging", map[string]string{".promoter.yaml": without})
		s.run()
		s.pulls(stagingHead + " closed")
		if comments := s.repo.Pulls.Get(1).Comments; len(comments) != 1 || !strings.Contains(comments[0].Body, "config") {
			s.t.Errorf("comments: %v", comments)
		}
		s.calm()
		s.repo.Git.Commit("ada", "main", "With it again", map[string]string{".promoter.yaml": s.expand(chain)})
		s.run()
		s.pulls(stagingHead+" closed", stagingHead+" open")
	})
}

func TestRun_imageGoneBeforeProdWaits(t *testing.T) {
	t.Parallel()
	onBoth(t, soaking(pushed()), func(s *story) {
		digest := s.release("web", "1.1.0")
		s.run()
		s.remove("web", digest)
		s.wait(61 * time.Minute)
		s.because(s.pass().Report, "prod", "image missing")
		s.holds("prod", "1.0.0 1.0.0")
		s.release("web", "1.2.0")
		s.pass()
		s.wait(61 * time.Minute)
		s.run()
		s.holds("prod", "1.2.0 1.0.0")
	})
}

// remove deletes an image from the registry.
func (s *story) remove(component, digest string) {
	s.t.Helper()
	for _, reference := range []string{digest, s.tagOf(component, digest)} {
		request, err := http.NewRequestWithContext(s.t.Context(), http.MethodDelete, "http://"+s.host+"/v2/acme/"+component+"/manifests/"+reference, nil)
		if err != nil {
			s.t.Fatal(err)
		}
		response, err := registrytest.Transport{}.RoundTrip(request)
		if err != nil {
			s.t.Fatal(err)
		}
		_ = response.Body.Close()
	}
}

func (s *story) tagOf(component, digest string) string {
	for version, known := range s.digests {
		if tag, ok := strings.CutPrefix(version, component+":"); ok && known == digest {
			return tag
		}
	}
	return ""
}

func TestRun_movedTagOfTheParentWaits(t *testing.T) {
	t.Parallel()
	onBoth(t, soaking(pushed()), func(s *story) {
		for _, environment := range []string{"dev", "staging", "prod"} {
			s.edit("ada", "main", environment+"/shop.yaml", "@"+s.digests["web:1.0.0"], "")
		}
		s.releaseAndRun("web", "1.1.0")
		s.wait(61 * time.Minute)
		s.image("web", "1.1.0", "something else", workday())
		s.because(s.run(), "prod", "tag moved")
		s.holds("prod", "1.0.0 1.0.0")
	})
}

func TestRun_forwardAndBackIsNeverSplit(t *testing.T) {
	t.Parallel()
	onBoth(t, pushed(), func(s *story) {
		s.release("worker", "1.1.0")
		s.decide(decision.Decision{Verb: verb.Hold, Environment: "dev", Application: "shop"})
		s.edit("ada", "main", "staging/shop.yaml", s.line("worker:1.0.0"), s.line("worker:1.1.0"))
		s.release("web", "1.1.0")
		s.edit("ada", "main", "dev/shop.yaml", s.line("web:1.0.0"), s.line("web:1.1.0"))
		s.because(s.run(), "staging", "waiting", "move back", "worker")
		s.holds("staging", "1.0.0 1.1.0")
	})
}

func TestRun_minAgeCountsFromFirstSeen(t *testing.T) {
	t.Parallel()
	onBoth(t, edge(", minAge: 1h"), func(s *story) {
		s.beginEdge()
		moved := s.image("web", "edge", "edge 1", workday().AddDate(0, -1, 0)) // the label of its publisher proves nothing
		s.because(s.run(), "dev", "1h")
		s.wait(50 * time.Minute)
		s.run()
		s.holds("dev", "edge 1.0.0")
		s.calm()
		s.wait(11 * time.Minute)
		s.run()
		s.has("prod", moved)
	})
}

func TestRun_movingTagThatMovedBackWaits(t *testing.T) {
	t.Parallel()
	onBoth(t, edge(""), func(s *story) {
		s.beginEdge()
		first := s.image("web", "edge", "edge 1", workday())
		s.run()
		s.wait(time.Minute)
		second := s.image("web", "edge", "edge 2", workday())
		s.run()
		s.has("dev", second)
		s.wait(time.Minute)
		if back := s.image("web", "edge", "edge 1", workday()); back != first {
			s.t.Fatal("the tag does not point back")
		}
		s.because(s.run(), "dev", "waiting", "moved back")
		s.has("dev", second)
	})
}
