package server_test

import (
	"bytes"
	"context"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/secret"
	"promoter/internal/server"
	"promoter/internal/store"
	"promoter/internal/webhook"
	"promoter/internal/webhook/credential"
)

// storing keeps deliveries in a database, as the service does.
type storing struct {
	*store.Store
	db *database.DB
}

func (s storing) Accept(ctx context.Context, taken server.Accepted) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		return s.Deliveries.Save(ctx, tx, store.Delivery{
			Receiver: taken.Receiver, ID: taken.ID, Sender: taken.Sender, EventType: taken.EventType,
			Events: taken.Events, Header: taken.Header, Body: taken.Body,
		})
	})
}

// No credential is on disk, in the log, in a response, or in an observation.
func TestWebhook_storesAndLogsNoCredential(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	db, err := database.Open(t.Context(), database.Options{Path: filepath.Join(folder, "promoter.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	kept := storing{store.New(db), db}
	const canary = "canary-of-a-header"
	w := newWorld(t, func(o *server.Options) {
		o.Inbox = kept
		for _, kind := range []string{"generic", "harbor"} {
			o.Receivers = append(o.Receivers, receiver(t, webhook.Options{
				Name: kind, Kind: kind, Credential: credential.Options{Secret: secret.New(canary), Header: "Authorization"},
			}))
		}
	})
	harbor := `{"type": "PUSH_ARTIFACT", "event_data": {"resources": [{"tag": "1", "resource_url": "harbor.example.com/acme/web:1"}]}}`
	var taken int
	for _, r := range []*http.Request{
		post("/webhooks/hub/"+pathSecret, dockerPush), post("/webhooks/hub/"+pathSecret, dockerPush, "Cookie", canary),
		post("/webhooks/generic", `{"image": "quay.io/acme/web:1"}`, "Authorization", canary),
		post("/webhooks/harbor", harbor, "Authorization", "Bearer "+canary), post("/webhooks/harbor", harbor, "Authorization", "Bearer "+canary+"x"),
		post("/webhooks/forge", push, "X-Gitlab-Token", canary),
	} {
		got := w.answer(r)
		if got.Code == http.StatusAccepted {
			taken++
		}
		if bytes.Contains(got.Body.Bytes(), []byte("canary")) {
			t.Errorf("the answer is %s", got.Body)
		}
	}
	all, err := kept.Deliveries.Newest(t.Context(), 10)
	if err != nil || taken != 5 || len(all) != 4 {
		t.Errorf("%d taken, kept %+v, %v", taken, all, err)
	}
	w.tellsNothing(t)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if n := search(t, folder, "acme/web"); n == 0 {
		t.Error("the payloads are not in the files that were searched")
	}
	if n := search(t, folder, "canary"); n > 0 {
		t.Errorf("the secret is in %d files", n)
	}
}

// search counts the files that hold a text.
func search(t *testing.T, folder, text string) (n int) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(folder, path))
		if bytes.Contains(data, []byte(text)) {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The same delivery again is stored once, and taken each time: sending it again is how
// people repair things.
func TestReplay_ofStoredDeliveriesDecodesTheSame(t *testing.T) {
	t.Parallel()
	db, err := database.Open(t.Context(), database.Options{Path: filepath.Join(t.TempDir(), "promoter.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	kept := storing{store.New(db), db}
	w := newWorld(t, func(o *server.Options) { o.Inbox = kept })
	for range 3 {
		if got := w.answer(post("/webhooks/forge", push)); got.Code != http.StatusAccepted {
			t.Fatalf("%d %s", got.Code, got.Body)
		}
	}
	d, err := kept.Deliveries.Get(t.Context(), "forge", "d-1")
	if err != nil || d.Times != 3 || len(d.Events) != 1 {
		t.Errorf("kept %+v, %v", d, err)
	}
	for _, seen := range w.seen {
		if seen.Events != 1 || seen.Status != http.StatusAccepted {
			t.Errorf("observed %+v", seen)
		}
	}
}
