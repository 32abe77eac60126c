package history

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/promotion/propose"
	"promoter/internal/pullrequest"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/scm"
	"promoter/internal/store"
)

func reportOf(t *testing.T, configText string) outcome.Report {
	t.Helper()
	loaded, problems := config.Load(config.FileName, []byte(configText))
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	return outcome.Report{Repository: "github:1", Config: loaded, Decisions: []promotion.Decision{}, Problems: loaded.Warnings()}
}

const small = `version: 1
components: {web: {image: quay.io/acme/web, select: {semver: '*'}}}
environments: {dev: {paths: [dev/**]}}
`

// What another replica wrote in between is replaced, and what is stored is not written again.
func TestRecorder_foundIsComparedWithWhatIsStored(t *testing.T) {
	t.Parallel()
	r := &Recorder{Now: time.Now}
	first, second := reportOf(t, small), reportOf(t, strings.Replace(small, "dev/**", "prod/**", 1))
	found, digest, changed, err := r.Found(first, store.FoundDigest{})
	if err != nil || !changed || !found.Usable || !strings.Contains(found.Detail.Config, "propose: automatic") {
		t.Fatalf("%+v %v %v", found, changed, err)
	}
	if _, _, changed, _ = r.Found(first, digest); changed {
		t.Error("the same is written again")
	}
	_, other, changed, _ := r.Found(second, digest)
	if !changed {
		t.Error("another config is not written")
	}
	if found, _, changed, _ = r.Found(first, other); !changed || found.Detail.Config == "" {
		t.Error("the first config is not written after the second")
	}
	first.Refused = map[promotion.Target][]edit.Refusal{{Environment: "dev", Application: "default"}: {{File: "a.yaml", Reason: "too large"}}}
	if found, _, changed, _ = r.Found(first, digest); !changed || found.Detail.Config != "" {
		t.Error("a refusal writes the config again, or is not written")
	}
}

func TestRecorder_foundInAnUnusableRepository(t *testing.T) {
	t.Parallel()
	r := &Recorder{Now: time.Now}
	_, problems := config.Load(config.FileName, []byte("version: 2\n"))
	found, digest, changed, err := r.Found(outcome.Report{Unusable: "the config cannot be used", Problems: problems}, store.FoundDigest{All: "x", Config: "y"})
	if err != nil || !changed || found.Usable || digest.Config != "" || len(found.Detail.Problems.Errors()) == 0 {
		t.Errorf("%+v %v %v %v", found, digest, changed, err)
	}
	if _, _, changed, _ = r.Found(outcome.Report{}, digest); changed {
		t.Error("a reconciliation that found nothing is written")
	}
}

// The page of an application has the commits that the body of its pull request has.
func TestAddSourceChanges(t *testing.T) {
	t.Parallel()
	target := promotion.Target{Environment: "prod", Application: "shop"}
	decision := promotion.Decision{Target: target, Moves: promotion.ChangesOf(promotiontest.SnapshotOf("api:1.0", "web:1.4"), promotiontest.SnapshotOf("api:1.1", "web:1.5"))}
	change := pullrequest.Change{
		From: image.Description{Revision: "a"}, To: image.Description{Revision: "b"},
		Source: scm.Change{Source: "github.com/acme/web", Comparison: scm.Comparison{Commits: slices.Repeat([]scm.Commit{
			{ID: "58b5d4a3f1", Message: "Round\x1b prices down\n\nMore.", Author: "Cem", PullRequest: scm.PullLink{Number: 88, URL: "https://github.com/acme/web/pull/88"}},
		}, 12), Total: 40}},
	}
	effect := outcome.Effect{
		Proposal: propose.Proposal{Decisions: []promotion.Decision{decision}},
		Changes: map[pullrequest.ChangeKey]pullrequest.Change{
			pullrequest.KeyOf(decision.Moves[0]): {Unread: "the new image is not readable"}, pullrequest.KeyOf(decision.Moves[1]): change,
		},
	}
	added := func(d promotion.Decision) (sources []store.SourceChange, pulls string) {
		one := store.Target{Wanted: []store.EventVersion{{Component: "api"}, {Component: "web"}}}
		addSourceChanges(&one, outcome.Report{Effects: []outcome.Effect{effect}}, d)
		for _, version := range one.Wanted {
			pulls += version.Component + ":" + strings.Join(version.SourcePullRequests, " ") + " "
		}
		return one.Detail.Sources, strings.TrimSpace(pulls)
	}
	got, pulls := added(decision)
	if len(got) != 2 || got[0].Component != "api" || got[0].Unknown != "the new image is not readable" || len(got[1].Commits) != 10 || got[1].Left() != 30 {
		t.Fatalf("%+v", got)
	}
	if commit := got[1].Commits[0]; commit.Short() != "58b5d4a" || !strings.HasPrefix(commit.Subject, "Round") || strings.ContainsAny(commit.Subject, "\x1b\n") || commit.Number != 88 {
		t.Errorf("%+v", commit)
	}
	if pulls != "api: web:github.com/acme/web#88" {
		t.Error(pulls)
	}
	if other, pulls := added(promotion.Decision{Target: promotion.Target{Environment: "dev"}}); len(other) > 0 || pulls != "api: web:" {
		t.Errorf("of another target: %+v, %s", other, pulls)
	}
}

func TestRepositoryDetailOf(t *testing.T) {
	t.Parallel()
	redis, err := image.ParseRepository("docker.io/library/redis")
	if err != nil {
		t.Fatal(err)
	}
	got := repositoryDetailOf(outcome.Report{
		Refused: map[promotion.Target][]edit.Refusal{
			{Environment: "prod", Application: "web"}: {{File: "b.yaml", Line: 2, Reason: "the tag stands alone"}},
			{Environment: "dev", Application: "web"}:  {{File: "a.yaml", Reason: "larger than 1 MiB"}},
		},
		Unfollowed: map[string][]edit.Reference{"main": {{Repository: redis, Tag: "7", Digest: "sha256:1", Position: edit.Position{File: "a.yaml", Line: 4}}}},
	})
	want := store.RepositoryDetail{
		Refused: store.ListOf([]store.RefusedFile{
			{Environment: "dev", Application: "web", Refusal: edit.Refusal{File: "a.yaml", Reason: "larger than 1 MiB"}},
			{Environment: "prod", Application: "web", Refusal: edit.Refusal{File: "b.yaml", Line: 2, Reason: "the tag stands alone"}},
		}),
		Unfollowed: store.ListOf([]store.UnfollowedImage{{Branch: "main", File: "a.yaml", Line: 4, Image: "redis:7@sha256:1"}}),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
