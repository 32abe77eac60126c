package connect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
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
