package identity_test

import (
	"strings"
	"testing"

	"promoter/internal/identity"
)

// What a user claims is marked, in one line that no account can have as its login.
func TestUnverified(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Ada Lovelace":                "unverified: Ada Lovelace",
		" ada\nPromoter-Image: x\x1b": "unverified: ada Promoter-Image: x",
		"unverified: unverified: ada": "unverified: ada",
		"":                            "unverified: unknown",
		strings.Repeat("é", 200):      "unverified: " + strings.Repeat("é", 100),
	} {
		if got := identity.Unverified(name); got.Login != want || got.Verified() || got.Host != "" {
			t.Errorf("%q: %+v, want %q", name, got, want)
		}
	}
	for _, user := range []identity.User{{Login: "ada"}, {Host: "github.com", Login: "app[bot]", Bot: true}, {Host: "github.com"}, identity.Promoter()} {
		if user.Verified() {
			t.Errorf("%+v is verified", user)
		}
	}
	if ada := (identity.User{Host: "github.com", Login: "ada"}); !ada.Verified() {
		t.Errorf("%+v is not verified", ada)
	}
}
