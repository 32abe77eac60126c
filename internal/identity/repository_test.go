package identity

import (
	"strings"
	"testing"
)

func TestForgeKey(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		host string
		id   string
		want RepositoryKey
	}{
		{"github.com", "42", "github.com/42"},
		{"GitHub.com:443", "42", "github.com/42"},
		{"git.example.com:8443", "1", "git.example.com:8443/1"},
		{"[::1]:3000", "7", "[::1]:3000/7"},
		{"[::1]", "7", "[::1]/7"},
		{"bitbucket.org", "{3f1a2c-9d}", "bitbucket.org/{3f1a2c-9d}"},
	} {
		got, err := ForgeKey(test.host, test.id)
		if err != nil || got != test.want {
			t.Errorf("ForgeKey(%q, %q) = %q, %v, want %q", test.host, test.id, got, err, test.want)
		}
	}
}

func TestForgeKey_refuses(t *testing.T) {
	t.Parallel()
	for _, host := range []string{
		"", "github.com/acme", "https://github.com", "user@github.com", ":443", "a b", "github.com?x", "github.com#x",
		strings.Repeat("a", 300),
	} {
		if got, err := ForgeKey(host, "1"); err == nil {
			t.Errorf("ForgeKey(%q) = %q", host, got)
		}
	}
	for _, id := range []string{"", "a b", "a/b", "ü", strings.Repeat("1", 200)} {
		if _, err := ForgeKey("github.com", id); err == nil {
			t.Errorf("the ID %q is accepted", id)
		}
	}
}

func TestGitKey(t *testing.T) {
	t.Parallel()
	for want, urls := range map[RepositoryKey][]string{
		"git:https://git.example.com/acme/deploy": {
			"https://git.example.com/acme/deploy", "https://git.example.com/acme/deploy.git", "https://git.example.com/acme/deploy/",
			"https://git.example.com/acme/deploy.git/", "HTTPS://Git.Example.com:443/acme/deploy", "https://user@git.example.com/acme/deploy",
			"https://user:canary@git.example.com/acme/deploy.git", "https://git.example.com//acme//deploy", "https://git.example.com/acme/./deploy",
		},
		"git:https://git.example.com:8443/acme/deploy": {"https://git.example.com:8443/acme/deploy"},
		"git:http://git.example.com/acme/deploy":       {"http://git.example.com:80/acme/deploy.git"},
		"git:https://git.example.com/Acme/Deploy":      {"https://git.example.com/Acme/Deploy.git"},
		"git:https://git.example.com/a%20b":            {"https://git.example.com/a%20b", "https://git.example.com/a b.git"},
		"git:ssh://git.example.com/acme/deploy": {
			"git@git.example.com:acme/deploy.git", "git@Git.Example.com:/acme/deploy", "git.example.com:acme/deploy",
			"ssh://git@git.example.com/acme/deploy.git", "ssh://git.example.com:22/acme/deploy",
		},
		"git:ssh://git.example.com:2222/acme/deploy": {"ssh://git@git.example.com:2222/acme/deploy"},
		"git:ssh://[::1]/acme/deploy":                {"git@[::1]:acme/deploy.git", "ssh://git@[::1]:22/acme/deploy"},
		"git:ssh://[::1]:2222/acme/deploy":           {"ssh://[::1]:2222/acme/deploy"},
		"git:git://git.example.com/acme/deploy":      {"git://git.example.com:9418/acme/deploy.git"},
		"git:file:///srv/git/deploy.git":             {"file:///srv/git/deploy.git", "file://localhost/srv/git/deploy.git/"},
		"git:file:///srv/git/deploy":                 {"file:///srv/git/deploy"},
	} {
		for _, url := range urls {
			if got, err := GitKey(url); err != nil || got != want {
				t.Errorf("GitKey(%q) = %q, %v, want %q", url, got, err, want)
			}
		}
	}
}

func TestGitKey_refuses(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"", "deploy", "/srv/git/deploy", "ftp://git.example.com/deploy", "https:///deploy", "https://git.example.com", "https://git.example.com/",
		"https://git.example.com/.git", "https://git.example.com/a?b", "https://git.example.com/a?", "https://git.example.com/a#b",
		"https://git.example.com/a/../b", "https://git.example.com/a/%2e%2e/b", "https://git.example.com/\x00", "https://[::1/deploy",
		"https://git.example.com/a/...git", "git.example.com:..git", "git@git.example.com:", "git@:deploy", "file://server/deploy", "file:///", "ext::sh -c id", "--upload-pack=x:y",
		"https://git.example.com/" + strings.Repeat("a", maxURL),
	} {
		if got, err := GitKey(url); err == nil {
			t.Errorf("GitKey(%.60q) = %q", url, got)
		}
	}
}

// A URL may hold a password, and the errors go to logs and pages.
func TestGitKey_errorsHoldNoPassword(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"https://user:canary@git.example.com", "https://user:canary@[::1/deploy", "ftp://user:canary@git.example.com/a",
		"https://user:canary@git.example.com/a?b", "https://user:canary@git.example.com/%zz", "user:canary@git.example.com",
		"file://user:canary@server/a",
	} {
		key, err := GitKey(url)
		if err == nil {
			t.Errorf("GitKey(%q) = %q", url, key)
		} else if strings.Contains(err.Error(), "canary") {
			t.Errorf("the error for %q says %v", url, err)
		}
	}
}

func TestUser_Same(t *testing.T) {
	t.Parallel()
	ann := User{Host: "github.com", Login: "Ann"}
	if !ann.Same(User{Host: "GitHub.com", Login: "ann", Bot: true}) {
		t.Error("Ann is not ann")
	}
	renamed, recycled := User{Host: "github.com", ID: "1", Login: "anna"}, User{Host: "github.com", ID: "2", Login: "ann"}
	ann.ID = "1"
	if !ann.Same(renamed) || ann.Same(recycled) {
		t.Error("an ID does not take precedence over a login")
	}
	if !ann.Same(User{Host: "github.com", Login: "ann"}) {
		t.Error("without an ID, the login does not count")
	}
	if ann.Same(User{Host: "gitlab.com", Login: "Ann"}) || ann.Same(User{Host: "github.com", Login: "Anna"}) {
		t.Error("Ann is somebody else")
	}
}

// Logins that readers take for one another are different accounts.
func TestSameLogin(t *testing.T) {
	t.Parallel()
	for _, same := range []string{"kris", "Kris", "KRIS"} {
		if !SameLogin("kris", same) {
			t.Errorf("%q is another account", same)
		}
	}
	for name, other := range map[string]string{
		"the Kelvin sign":       "\u212aris",
		"the long s":            "kri\u017f",
		"a Cyrillic letter":     "k\u0433is",
		"a dotless i":           "kr\u0131s",
		"full width":            "\uff4bris",
		"a zero-width joiner":   "kr\u200dis",
		"a combining character": "kris\u0323",
		"a space":               "kris ",
		"invalid UTF-8":         "kris\xff",
		"a longer one":          "krisa",
		"none":                  "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if SameLogin("kris", other) || SameLogin(other, "kris") {
				t.Errorf("%q is kris", other)
			}
			kris := User{Host: "github.com", Login: "kris"}
			if kris.Same(User{Host: "github.com", Login: other}) {
				t.Errorf("%q is the account of kris", other)
			}
		})
	}
}

func TestRepositoryKey_IsNamed(t *testing.T) {
	t.Parallel()
	const key, address = RepositoryKey("github.com/R_1a"), "github.com/Acme/GitOps"
	for text, want := range map[string]bool{
		"github.com/R_1a": true, "github.com/r_1a": true, "github.com/acme/gitops": true, "Acme/gitops": true, "GITOPS": true,
		"": false, "ops": false, "cme/gitops": false, "/gitops": false, "github.com": false, "github.com/acme": false,
	} {
		if got := key.IsNamed(address, text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func FuzzGitKey(f *testing.F) {
	for _, url := range []string{"https://user:pass@git.example.com:443/a//b.git/", "git@[::1]:a b.git", "file:///srv/x.git", "ssh://h/~u/x", "h:..git", "h:a/...git"} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		key, err := GitKey(url)
		if err != nil {
			return
		}
		normal := strings.TrimPrefix(string(key), gitPrefix)
		if authority, _, _ := strings.Cut(strings.SplitN(normal, "://", 2)[1], "/"); strings.Contains(authority, "@") {
			t.Fatalf("%q keeps the user: %q", url, key)
		}
		if len(normal) > maxURL || strings.HasSuffix(normal, ".git") {
			return // escapes made it longer; a.git.git is another repository than a.git
		}
		if again, err := GitKey(normal); err != nil || again != key {
			t.Fatalf("%q is %q, and that is %q, %v", url, key, again, err)
		}
	})
}
