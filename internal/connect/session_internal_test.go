package connect

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/connect/rules"
	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/serverfile"
)

func noEnv(string) (string, bool) { return "", false }

func openSession(t *testing.T, s *serverfile.Server) *Session {
	t.Helper()
	connections, err := New(s, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	session, err := connections.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	return session
}

// A forge that cannot be wired is the error of its repositories.
func TestOpen_forgeWithoutItsToken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "server.yaml")
	text := `version: 1
forges:
  lab: {kind: gitlab, token: "env:LAB"}
repositories: [{forge: lab, name: acme/b}]
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := serverfile.OpenServer(serverfile.Options{Config: file, Env: noEnv, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	session := openSession(t, s)
	if got := session.Repositories[0].Err; fault.KindOf(got) != fault.Invalid || !strings.Contains(got.Error(), "LAB") {
		t.Errorf("got %v", got)
	}
}

// An error about a repository names the credential to check.
func TestRepository_Advise(t *testing.T) {
	t.Parallel()
	for credential, want := range map[string]string{
		"the token in PROMOTER_GITHUB_TOKEN": "not seen: it does not exist, or the token in PROMOTER_GITHUB_TOKEN may not see it",
		"":                                   "not seen",
	} {
		if got := (&Repository{credential: credential}).Advise(fault.New(fault.NotFound, "not seen")).Error(); got != want {
			t.Errorf("%q: %q, want %q", credential, got, want)
		}
	}
}

// downForge opens nothing.
type downForge struct{}

func (downForge) Open(context.Context, string) (scm.Repository, error) {
	return nil, fault.New(fault.Temporary, "down")
}

// openRepository is a repository that was opened.
type openRepository struct {
	scm.Repository
	info scm.Info
}

func (r openRepository) Info() scm.Info { return r.info }

// What is recorded about a failed reconciliation needs the key and the names of the repository.
func TestRepository_Reopen_failureKeepsWhatWasOpen(t *testing.T) {
	t.Parallel()
	info := scm.Info{Key: "https://forge.example#7", Name: "acme/shop", URL: "https://forge.example/acme/shop"}
	open := &Repository{Name: "acme/shop", Forge: &Forge{SCM: downForge{}}, SCM: openRepository{info: info}, name: rules.NameOf(info)}
	again := open.Reopen(t.Context())
	if fault.KindOf(again.Err) != fault.Temporary || open.Err != nil {
		t.Errorf("errors %v and %v, want one of the reopened repository", open.Err, again.Err)
	}
	if again.Key() != info.Key || !again.Matches([]string{"forge.example/acme/*"}) {
		t.Errorf("key %s, want that of what was open, and its name", again.Key())
	}
}
