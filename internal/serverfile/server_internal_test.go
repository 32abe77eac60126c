package serverfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/fault"
)

func noEnv(string) (string, bool) { return "", false }

func TestOpenServer_withoutAFile(t *testing.T) {
	t.Parallel()
	env := map[string]string{githubTokenVariable: "canary-1", gitUserVariable: "ann", gitPasswordVariable: "canary-2"}
	lookup := func(name string) (string, bool) {
		value, set := env[name]
		return value, set
	}
	s, err := OpenServer(Options{
		Repositories: []string{"https://github.com/acme/gitops.git", "https://git.example.com/acme/gitops", "https://git.example.com/acme/gitops"},
		Env:          lookup, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"acme/gitops", "https://git.example.com/acme/gitops"}, s.Repositories()); diff != "" {
		t.Error(diff)
	}
	hub, plain := s.Targets[0].Forge, s.Targets[1].Forge
	if hub.Kind != serverconfig.ForgeGitHub || hub.Token.String() != "env:"+githubTokenVariable || s.Local {
		t.Errorf("%+v, local %v", hub, s.Local)
	}
	if plain.Kind != serverconfig.ForgeGit || plain.Username != "ann" || plain.Password.String() != "env:"+gitPasswordVariable || !plain.SSHKey.IsZero() {
		t.Errorf("%+v", plain)
	}
}

// A repository on gitlab.com is one of GitLab's, unless only Git has a credential.
func TestOpenServer_onGitLab(t *testing.T) {
	t.Parallel()
	for variable, want := range map[string]serverconfig.ForgeKind{gitlabTokenVariable: serverconfig.ForgeGitLab, gitPasswordVariable: serverconfig.ForgeGit} {
		env := func(name string) (string, bool) { return "canary", name == variable }
		s, err := OpenServer(Options{Repositories: []string{"https://gitlab.com/acme/platform/gitops.git"}, Env: env, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Targets[0]; got.Forge.Kind != want || want == serverconfig.ForgeGitLab && got.Name != "acme/platform/gitops" {
			t.Errorf("with %s: %+v", variable, got)
		}
	}
	_, err := OpenServer(Options{Repositories: []string{"https://gitlab.com/acme/gitops"}, Env: noEnv, Now: time.Now})
	if err == nil || !strings.Contains(err.Error(), "set "+gitlabTokenVariable) {
		t.Errorf("got %v", err)
	}
}

// Loopback may be dialed only by who works on repositories of the same machine.
// What a person got wrong is answered with what would be right.
func TestOpenServer_advice(t *testing.T) {
	t.Parallel()
	env := map[string]string{githubTokenVariable: "canary-1", gitPasswordVariable: "canary-2"}
	lookup := func(name string) (string, bool) {
		value, set := env[name]
		return value, set
	}
	for address, want := range map[string]string{
		"":                  "--repo is empty: write the repository's URL",
		"/srv/gitops.git":   "write a repository of this machine as file:///srv/gitops.git",
		"acme/gitops":       "as in https://git.example.com/acme/gitops",
		"ftp://host/a/b":    "must start with https",
		"https://a:b@h/x":   "the URL holds a user or a password",
		"git@h.invalid:a":   "wants " + sshKeyVariable,
		"https://github.co": "the repository",
	} {
		_, err := OpenServer(Options{Repositories: []string{address}, Env: lookup, Now: time.Now})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", address, err, want)
		}
	}
	for address, want := range map[string]string{
		"https://github.com/acme/gitops":      "the token in " + githubTokenVariable,
		"https://git.example.com/acme/gitops": "the password in " + gitPasswordVariable,
		"file:///srv/gitops.git":              "",
	} {
		s, err := OpenServer(Options{Repositories: []string{address}, Env: lookup, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Targets[0].Credential; got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

func TestOpenServer_onlyFilesAreLocal(t *testing.T) {
	t.Parallel()
	for want, urls := range map[bool][]string{
		true:  {"file:///srv/a", "FILE:///srv/b"},
		false: {"file:///srv/a", "https://git.example.com/a/b"},
	} {
		s, err := OpenServer(Options{Repositories: urls, Env: noEnv, Now: time.Now})
		if err != nil || s.Local != want {
			t.Errorf("%v: local %v, %v", urls, s.Local, err)
		}
	}
}

func TestOpenServer_errorsHoldNoCredential(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"https://ann:canary@git.example.com/a/b", "https://canary@github.com/a/b", "https://ann:canary@git.example.com/%zz",
		"ssh://git:canary@git.example.com/a", "ann:canary@git.example.com:a/b", "HTTPS://canary@git.example.com/a", "https://git.example.com/a?token=canary",
	} {
		_, err := OpenServer(Options{Repositories: []string{url}, Env: noEnv, Now: time.Now})
		if fault.KindOf(err) != fault.Invalid || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q gives %v", url, err)
		}
	}
	for _, url := range []string{"ssh://git@git.example.com/a/b", "git@git.example.com:a/b", "https://git.example.com/a@b/c"} {
		env := func(name string) (string, bool) { return "set", name != configVariable && name != committerVariable }
		if _, err := OpenServer(Options{Repositories: []string{url}, Env: env, Now: time.Now}); err != nil {
			t.Errorf("%q gives %v", url, err)
		}
	}
}

func TestOpenServer_sshNeedsKeyAndHosts(t *testing.T) {
	t.Parallel()
	_, err := OpenServer(Options{Repositories: []string{"git@git.example.com:a/b"}, Env: noEnv, Now: time.Now})
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), knownHostsVariable) {
		t.Errorf("got %v", err)
	}
}

func TestOpenServer_whichFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string) string {
		file := filepath.Join(dir, name)
		text := "version: 1\nforges:\n  g: {kind: git, url: 'https://git.example.com'}\nrepositories: [{forge: g, name: acme/" + name + "}]\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	flag, variable := write("flag"), write("variable")
	env := func(name string) (string, bool) { return variable, name == configVariable }
	for want, options := range map[string]Options{
		"acme/flag":     {Config: flag, Env: env},
		"acme/variable": {Env: env},
	} {
		s, err := OpenServer(options)
		if err != nil || len(s.Repositories()) != 1 || s.Repositories()[0] != want {
			t.Errorf("got %v, %v, want %s", s, err, want)
		}
	}
}
