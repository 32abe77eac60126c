package workspace

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/connect"
	"promoter/internal/serverfile"
)

// A workspace that is closed empties the mirrors that do not fit beside its own, except for
// those that are open. What was remembered about their branches stays.
func TestClose_emptiesMirrorsOverTheirLimit(t *testing.T) {
	t.Parallel()
	var urls []string
	for range 3 {
		noise := make([]byte, 600<<10)
		for at := range noise {
			noise[at] = byte(rand.Uint32()) //nolint:gosec // it only must not be compressible
		}
		url, _ := gitRepository(t, map[string]string{"noise": string(noise)})
		urls = append(urls, url)
	}
	connections, err := connect.Connect(serverfile.Options{Repositories: urls, Env: noEnv, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	session := openSession(t, connections, t.TempDir())
	session.Server.File.Sizes.Mirrors = 1300 << 10
	var logged bytes.Buffer
	options := Options{Log: slog.New(slog.NewTextHandler(&logged, nil))}
	use := func(i int, then func()) {
		t.Helper()
		err := Use(t.Context(), session, session.Repositories[i], options, func(ctx context.Context, w *Workspace) error {
			if _, err := w.Reconciler.Clients.Remote.Fetch(ctx, "main"); err != nil {
				return err
			}
			then()
			return w.Reconciler.Clients.Branches.Remember(map[string]string{"main": fmt.Sprint(i)})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	packs := func(i int) int {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(mirrorFolder(session, string(session.Repositories[i].Key())), "objects", "pack", "*.pack"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	none := func() {}
	use(0, none)
	use(1, none)
	if packs(0) != 1 || packs(1) != 1 || logged.Len() > 0 {
		t.Errorf("two fit: %d, %d packs\n%s", packs(0), packs(1), logged.String())
	}
	use(0, func() { use(2, none) }) // the oldest one that is not open is 1
	if packs(0) != 1 || packs(1) != 0 || packs(2) != 1 {
		t.Errorf("%d, %d, %d packs", packs(0), packs(1), packs(2))
	}
	if n := strings.Count(logged.String(), "mirror emptied"); n != 1 || !strings.Contains(logged.String(), urls[1]) {
		t.Errorf("logged:\n%s", logged.String())
	}
	err = Use(t.Context(), session, session.Repositories[1], options, func(_ context.Context, w *Workspace) error {
		if at := w.Reconciler.Clients.Branches.Last()["main"]; at != "1" {
			t.Errorf("it remembers %q", at)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
