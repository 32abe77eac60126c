package web_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"promoter/internal/database"
	"promoter/internal/store"
)

// seedDeliveries stores three weeks of two applications in dev and prod.
func (w *world) seedDeliveries() {
	w.t.Helper()
	const key = "github:9"
	var events []store.Event
	var times []store.PromotionTime
	landed := func(environment, application, snapshot string, daysAgo int, took time.Duration) {
		at := noon.Add(-time.Duration(daysAgo) * 24 * time.Hour)
		events = append(events, store.Event{
			At: at, Repository: key, Name: "github.com/acme/deliveries", Environment: environment, Application: application,
			Action: store.EventLanded, Commit: environment + snapshot, Snapshot: snapshot,
		})
		times = append(times, store.PromotionTime{
			TargetKey: store.TargetKey{Repository: key, Environment: environment, Application: application}, Snapshot: snapshot,
			Kind: store.TimeOfCommit, Name: "web", Began: at.Add(-took),
		})
	}
	landed("dev", "web", "v1:a", 16, 30*time.Minute)
	landed("dev", "web", "v1:b", 9, 90*time.Minute)
	landed("dev", "web", "v1:c", 2, time.Hour)
	landed("dev", "worker", "v1:d", 1, 20*time.Minute)
	landed("prod", "web", "v1:a", 14, 50*time.Hour)
	landed("prod", "web", "v1:b", 8, 26*time.Hour)
	events = append(events, store.Event{
		At: noon.Add(-7 * 24 * time.Hour), Repository: key, Name: "github.com/acme/deliveries", Environment: "prod", Application: "web",
		Action: store.EventReverted, Commit: "prodv1:b", Snapshot: "v1:b",
	})
	err := w.db.Update(w.t.Context(), func(ctx context.Context, tx *database.Tx) error {
		if err := w.store.Targets.Set(ctx, tx, key, []store.Target{
			{Environment: "dev", Application: "web", State: "same", Labels: map[string]string{"team": "shop"}},
			{Environment: "dev", Application: "worker", State: "same"},
			{Environment: "prod", Application: "web", State: "same", Labels: map[string]string{"team": "shop"}},
		}); err != nil {
			return err
		}
		_, err := w.store.RecordReconciliation(ctx, tx, store.Repository{Key: key, Forge: "github", Host: "github.com", Name: "acme/deliveries"}, store.HistoryUpdate{Events: events, Times: times})
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestDelivery(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seedDeliveries()
	all, shop := w.signedIn(everything), w.signedIn(onlyShop)
	for name, test := range map[string]struct {
		browser *browser
		path    string
	}{
		"delivery":         {all, "/delivery?since=21d"},
		"delivery-label":   {all, "/delivery?since=&by=month&group=label%3Ateam"},
		"delivery-of-prod": {all, "/delivery?environment=prod&group=application&since=21d"},
		"delivery-nothing": {shop, "/delivery"}, // its scope is another repository
	} {
		response, page := test.browser.get(test.path)
		if response.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", test.path, response.Status)
		}
		golden(t, name, textOf(page))
	}
	for path, want := range map[string]int{"/delivery?by=day": 400, "/delivery?group=label%3A": 400, "/delivery?color=red": 400, "/delivery?since=long": 400} {
		if response, _ := all.get(path); response.StatusCode != want {
			t.Errorf("%s: %s", path, response.Status)
		}
	}
	_, page := all.get("/delivery?since=21d&group=label%3Ateam")
	for _, want := range []string{
		`href="/delivery?group=application&amp;label=team%3Dshop&amp;since=21d"`,
		`href="/api/v1/metrics?format=csv&amp;group=label%3Ateam&amp;since=21d"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("there is no %s in\n%s", want, page)
		}
	}
}

// Each table is drawn, and a group leads to what it consists of.
func TestBrowser_delivery(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seedDeliveries()
	b := openTab(t, w)
	b.Run(chromedp.Navigate(w.URL+"/delivery?since=21d"), chromedp.WaitVisible(".plot canvas"), b.Until(`document.body.dataset.charts === "4"`))
	// Something is drawn in the color of the first line.
	const drawn = `(() => { const c = document.querySelector(".plot canvas"); const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
		for (let i = 0; i < d.length; i += 4) if (d[i] === 11 && d[i + 1] === 87 && d[i + 2] === 164) return "drawn"; return "empty"; })()`
	b.Run(b.Until(drawn + ` === "drawn"`))
	b.Run(chromedp.Focus(`//th/a[text()="dev"]`), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(`//caption[text()="By application"]`), chromedp.WaitVisible(`//th/a[text()="web"]`))
	b.Run(chromedp.SetValue("select[name=by]", "month"), chromedp.Focus("input[name=since]"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(`//p[contains(., "by month")]`))
	if query := b.Text("location.search"); !strings.Contains(query, "environment=dev") || !strings.Contains(query, "by=month") {
		t.Errorf("the filters in the URL: %s", query)
	}
}
