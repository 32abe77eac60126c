package serverfile

import (
	"strings"
	"testing"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/secret/secrettest"
	"promoter/internal/webhook/credential"
)

// A short secret can be guessed, from a signature even offline.
func TestNewReceiver_refusesShortSecrets(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"fifteen-letters":  "receiver hook: its secret has fewer than 16 characters",
		"sixteen--letters": "",
	} {
		reference, err := serverconfig.ParseReference("env:HOOK")
		if err != nil {
			t.Fatal(err)
		}
		s, err := WithoutFile(Options{Env: func(string) (string, bool) { return value, true }})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.NewReceiver(serverconfig.Receiver{Name: "hook", Kind: "github", Secret: reference}, nil)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", value, err, want)
		}
	}
}

// A file that has both secrets of a receiver is replaced for each of them by its own rule.
func TestNewReceiver_checksEachSecretOfAFile(t *testing.T) {
	t.Parallel()
	mount := secrettest.NewMount(t, map[string]string{"hook": strings.Repeat("a", credential.MinPathSecret)})
	s, err := WithoutFile(Options{Env: func(string) (string, bool) { return "", false }})
	if err != nil {
		t.Fatal(err)
	}
	s.Files = mount.Files
	reference, err := serverconfig.ParseReference("file:" + mount.Dir + "/hook")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.NewReceiver(serverconfig.Receiver{Name: "hook", Kind: "github", Secret: reference, PathSecret: reference}, nil); err != nil {
		t.Fatal(err)
	}
	mount.Swap(map[string]string{"hook": "sixteen--letters"})
	mount.Later()
	problems := mount.Files.Problems()
	if len(problems) != 1 || !strings.Contains(problems[0].Reason, "its pathSecret has fewer than 32 characters") {
		t.Errorf("%+v", problems)
	}
}
