package promotion_test

import (
	"strings"
	"testing"

	"promoter/internal/promotion"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/image"
	"promoter/internal/promotion/promotiontest"
)

// imagesOf reads images, written COMPONENT=REFERENCE.

var equalRepositories = cmp.Comparer(func(a, b image.Repository) bool { return a == b })

func TestTrailers_areReadBack(t *testing.T) {
	t.Parallel()
	snapshots := map[string]promotion.Snapshot{
		"shop": promotiontest.SnapshotOfImages(t, "web=quay.io/acme/web:1.4.2@"+promotiontest.DigestA, "worker=docker.io/acme/worker:2.0.0"),
		"blog": promotiontest.SnapshotOfImages(t, "teams/a=registry.example.com:5000/teams/a@"+promotiontest.DigestB),
	}
	trailers := promotion.Trailers("staging", snapshots, nil)
	want := []promotion.Trailer{
		{Key: "Promoter-Environment", Value: "staging"},
		{Key: "Promoter-Application", Value: "blog"},
		{Key: "Promoter-Snapshot", Value: snapshots["blog"].ID()},
		{Key: "Promoter-Image", Value: "teams/a=registry.example.com:5000/teams/a@" + promotiontest.DigestB},
		{Key: "Promoter-Application", Value: "shop"},
		{Key: "Promoter-Snapshot", Value: snapshots["shop"].ID()},
		{Key: "Promoter-Image", Value: "web=quay.io/acme/web:1.4.2@" + promotiontest.DigestA},
		{Key: "Promoter-Image", Value: "worker=docker.io/acme/worker:2.0.0"},
	}
	if diff := cmp.Diff(want, trailers); diff != "" {
		t.Errorf("trailers (-want +got):\n%s", diff)
	}
	landed := promotion.ReadTrailers(trailers)
	wantLanded := []promotion.Landed{
		{Target: promotion.Target{Environment: "staging", Application: "blog"}, SnapshotID: snapshots["blog"].ID(), Snapshot: snapshots["blog"]},
		{Target: promotion.Target{Environment: "staging", Application: "shop"}, SnapshotID: snapshots["shop"].ID(), Snapshot: snapshots["shop"]},
	}
	if diff := cmp.Diff(wantLanded, landed, equalRepositories); diff != "" {
		t.Errorf("landed (-want +got):\n%s", diff)
	}
}

func TestReadTrailers_ignoresInvalidTrailers(t *testing.T) {
	t.Parallel()
	good := promotiontest.SnapshotOfImages(t, "web=quay.io/acme/web:1.4.2@"+promotiontest.DigestA)
	block := func(environment, application, id string, images ...string) []promotion.Trailer {
		trailers := []promotion.Trailer{{Key: "Promoter-Environment", Value: environment}, {Key: "Promoter-Application", Value: application}}
		if id != "" {
			trailers = append(trailers, promotion.Trailer{Key: "Promoter-Snapshot", Value: id})
		}
		for _, text := range images {
			trailers = append(trailers, promotion.Trailer{Key: "promoter-image", Value: text})
		}
		return trailers
	}
	web := "web=quay.io/acme/web:1.4.2@" + promotiontest.DigestA
	valid := block("dev", "shop", good.ID(), web)
	for name, trailers := range map[string][]promotion.Trailer{
		"nothing":                nil,
		"others":                 {{Key: "Signed-off-by", Value: "Ann <ann@example.com>"}},
		"no application":         {{Key: "Promoter-Image", Value: web}, {Key: "Promoter-Snapshot", Value: good.ID()}},
		"no environment":         valid[1:],
		"no name":                block("de v", "shop", good.ID(), web),
		"the state":              block("_all", "shop", good.ID(), web),
		"no images":              block("dev", "shop", promotion.Snapshot{}.ID()),
		"no id":                  block("dev", "shop", "", web),
		"another id":             block("dev", "shop", promotion.Snapshot{}.ID(), web),
		"another image":          block("dev", "shop", good.ID(), "web=quay.io/acme/web:1.4.3@"+promotiontest.DigestA),
		"an image too many":      block("dev", "shop", good.ID(), web, "worker=quay.io/acme/worker:1"),
		"an image nobody reads":  block("dev", "shop", good.ID(), "web=:::"),
		"an image of no one":     block("dev", "shop", good.ID(), "=quay.io/acme/web:1.4.2@"+promotiontest.DigestA),
		"an image with no equal": block("dev", "shop", good.ID(), "quay.io/acme/web:1.4.2@"+promotiontest.DigestA),
	} {
		if landed := promotion.ReadTrailers(trailers); len(landed) > 0 {
			t.Errorf("%s: read %v", name, landed)
		}
	}
	// Garbage beside what is ours, and the same place once more, change nothing.
	other := promotiontest.SnapshotOfImages(t, "web=quay.io/acme/web:6.6.6@"+promotiontest.DigestB)
	mixed := append(append([]promotion.Trailer{{Key: "X", Value: "y"}}, valid...),
		block("dev", "shop", other.ID(), "web=quay.io/acme/web:6.6.6@"+promotiontest.DigestB)...)
	landed := promotion.ReadTrailers(append(mixed, promotion.Trailer{Key: "Promoter-Image", Value: "x"}))
	if len(landed) != 1 || landed[0].SnapshotID != good.ID() {
		t.Errorf("read %v", landed)
	}
}

// FuzzReadTrailers checks for any commit message that parsed trailers are written the same.
func FuzzReadTrailers(f *testing.F) {
	s := promotiontest.SnapshotOfImages(f, "web=quay.io/acme/web:1.4.2@"+promotiontest.DigestA)
	var lines []string
	for _, trailer := range promotion.Trailers("dev", map[string]promotion.Snapshot{"shop": s}, nil) {
		lines = append(lines, trailer.Key+": "+trailer.Value)
	}
	f.Add(strings.Join(lines, "\n"))
	f.Add("Promoter-Application: a\nPromoter-Environment: b\nPromoter-Image: x=y\nPromoter-Image: x=z")
	f.Fuzz(func(t *testing.T, text string) {
		var trailers []promotion.Trailer
		for line := range strings.Lines(text) {
			key, value, _ := strings.Cut(strings.TrimRight(line, "\n"), ": ")
			trailers = append(trailers, promotion.Trailer{Key: key, Value: value})
		}
		for _, landed := range promotion.ReadTrailers(trailers) {
			again := promotion.ReadTrailers(promotion.Trailers(landed.Environment,
				map[string]promotion.Snapshot{landed.Application: landed.Snapshot}, map[string]promotion.Attribution{landed.Application: landed.Attribution}))
			if diff := cmp.Diff([]promotion.Landed{landed}, again, equalRepositories); diff != "" {
				t.Error(diff)
			}
		}
	})
}
