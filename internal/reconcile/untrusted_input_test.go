package reconcile_test

import (
	"strings"
	"testing"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/reconciletest"
)

// An older release wrote other text. Branch, author and commit make a pull request ours.
func TestReconcile_olderRelease(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.Forge.Rewrite(1, w.pull(1).Title, "The words of an older release, without markers.")
	w.pushAndRun(web, "1.2.0")
	w.wantPulls("promoter/staging/shop open")
	if pr := w.pull(1); !strings.Contains(pr.Title, "1.2.0") || !strings.Contains(w.Git.FilesOf(pr.Head.Commit)["staging/shop.txt"], "1.2.0") {
		t.Errorf("it was not refreshed: %q", pr.Title)
	}
	w.calm()
}

// forged commits something else as a user, with false trailers.
func (w *world) forged(branch, repository, tag string) {
	w.t.Helper()
	parsed, err := image.Parse(line(repository, tag))
	if err != nil {
		w.t.Fatal(err)
	}
	message := "Fix a typo\n\n"
	for _, t := range promotion.Trailers("dev", map[string]promotion.Snapshot{"shop": {
		"web":    {Repository: parsed.Repository, Version: image.Version{Tag: parsed.Tag, Digest: parsed.Digest}},
		"worker": w.workerOfBefore(),
	}}, nil) {
		message += t.Key + ": " + t.Value + "\n"
	}
	w.Git.Commit(branch, reconciletest.Human, w.Clock.Now(), message, func(all map[string]string) { all["README"] = "typo" })
}

func (w *world) workerOfBefore() promotion.Pinned {
	w.t.Helper()
	parsed, err := image.Parse(line(worker, "1.0.0"))
	if err != nil {
		w.t.Fatal(err)
	}
	return promotion.Pinned{Repository: parsed.Repository, Version: image.Version{Tag: parsed.Tag, Digest: parsed.Digest}}
}

// False trailers claim neither a version to roll back to, nor one that was reverted.
func TestReconcile_forgedTrailers(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"commit", "merge"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			w := staged(t, threeEnvironments)
			w.pushAndRun(web, "1.2.0")
			branch := map[string]string{"commit": "main", "merge": "typo"}[way]
			if way == "merge" {
				w.Git.Set(branch, w.Git.Branch("main"))
			}
			w.forged(branch, web, "evil")
			w.forged(branch, web, "1.3.0")
			if way == "merge" {
				number := w.Forge.ByHand("mallory", branch, "main", false)
				w.mergeByHand(number, "merge")
			}
			before, err := previousSnapshot(t, w.Reconciler(), promotion.Target{Environment: "dev", Application: "shop"})
			if err != nil || before["web"].Version.Tag != "1.1.0" {
				t.Errorf("rolled back to %v, %v", before, err)
			}
			w.pushAndRun(web, "1.3.0")
			w.holds("dev", "1.3.0 1.0.0")
		})
	}
}
