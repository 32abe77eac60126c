package serverfile

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/scm/github"
	"promoter/internal/secret"
)

func registered() github.Registered {
	return github.Registered{
		ID: 7, Slug: "promoter-acme", Owner: "acme", ClientID: "Iv1", Page: "https://github.com/apps/promoter-acme",
		Key: secret.New("canary-key"), WebhookSecret: secret.New("canary-hook"), ClientSecret: secret.New("canary-client"),
	}
}

// What is kept is read again, and another App never replaces it.
func TestAppFolder_keep(t *testing.T) {
	t.Parallel()
	folder := AppFolder(filepath.Join(t.TempDir(), "apps", "github"))
	if _, err := folder.Read(); fault.KindOf(err) != fault.NotFound {
		t.Errorf("before: %v", err)
	}
	if made, err := folder.Prepare(); err != nil || !made {
		t.Fatalf("%t, %v", made, err)
	}
	kept, err := folder.Store(registered(), "https://promoter.example.com/webhooks/github")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := folder.Read(); err != nil || again != kept {
		t.Errorf("%+v, %v, want %+v", again, err, kept)
	}
	if _, err := folder.Prepare(); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a second App: %v", err)
	}
	if _, err := folder.Store(registered(), ""); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a second App: %v", err)
	}
	if again, err := folder.Read(); err != nil || again != kept {
		t.Errorf("after it: %+v, %v", again, err)
	}
}

// A file that came in the meantime stops all of it: none is there, and no rest.
func TestAppFolder_keep_allOrNone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{AppKeyFile, AppHookSecretFile, AppClientSecretFile, appFile} {
		folder := AppFolder(t.TempDir())
		if err := os.WriteFile(folder.Path(name), []byte("of another"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := folder.Store(registered(), ""); fault.KindOf(err) != fault.Conflict || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", name, err)
		}
		left, err := os.ReadDir(string(folder))
		if err != nil || len(left) != 1 || left[0].Name() != name {
			t.Errorf("%s: the folder holds %v, %v", name, left, err)
		}
		if data, err := os.ReadFile(folder.Path(name)); err != nil || string(data) != "of another" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

// No content of the file stops the program, and what is read has an id.
func FuzzAppFolder_read(f *testing.F) {
	f.Add([]byte(`{"schema": 1, "id": 7, "slug": "promoter-acme"}`))
	f.Add([]byte(`{"schema": 2, "id": -1}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, content []byte) {
		folder := AppFolder(t.TempDir())
		if err := os.WriteFile(folder.Path(appFile), content, 0o600); err != nil {
			t.Fatal(err)
		}
		if kept, err := folder.Read(); err == nil && kept.ID <= 0 {
			t.Errorf("read %+v", kept)
		}
	})
}

// Of many who keep an App in one folder at once one succeeds, and all files are its own.
func TestAppFolder_keep_together(t *testing.T) {
	t.Parallel()
	for range 20 {
		folder := AppFolder(t.TempDir())
		begin, ended := make(chan bool), make(chan int64)
		const many = 8
		for id := range int64(many) {
			go func() {
				mine := registered()
				mine.ID, mine.Key = id+1, secret.New(strconv.FormatInt(id+1, 10))
				<-begin
				if _, err := folder.Store(mine, ""); err != nil {
					mine.ID = 0
				}
				ended <- mine.ID
			}()
		}
		close(begin)
		var kept []int64
		for range many {
			if id := <-ended; id != 0 {
				kept = append(kept, id)
			}
		}
		if len(kept) != 1 {
			t.Fatalf("kept %v", kept)
		}
		described, err := folder.Read()
		key, failed := os.ReadFile(folder.Path(AppKeyFile))
		if err != nil || failed != nil || described.ID != kept[0] || string(key) != strconv.FormatInt(kept[0], 10) {
			t.Fatalf("%d: %+v with the key %s, %v, %v", kept[0], described, key, err, failed)
		}
	}
}
