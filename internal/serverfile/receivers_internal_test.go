package serverfile

import (
	"strings"
	"testing"

	serverconfig "promoter/internal/config/server"
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
