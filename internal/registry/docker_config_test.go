package registry

import (
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"promoter/internal/image"
)

// loginOf is the value of `auth` in the files of Docker and Podman.
func loginOf(name, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(name + ":" + password))
}

// The files have the form that docker(1) and containers-auth.json(5) publish. auths names
// a key and a user for each login.
func TestUserLogin(t *testing.T) {
	t.Parallel()
	const docker, runtime, config, named = "home/.docker/config.json", "run/containers/auth.json", "home/.config/containers/auth.json", "named.json"
	auths := func(pairs ...string) string {
		var entries []string
		for i := 0; i+1 < len(pairs); i += 2 {
			entries = append(entries, `"`+pairs[i]+`": {"auth": "`+loginOf(pairs[i+1], "gate-7")+`"}`)
		}
		return `{"auths": {` + strings.Join(entries, ", ") + `}}`
	}
	for name, test := range map[string]struct {
		files map[string]string
		image string
		want  string // the user; empty: none
	}{
		"Docker Hub of Docker":   {map[string]string{docker: auths("https://index.docker.io/v1/", "ann")}, "acme/web", "ann"},
		"Docker Hub of Podman":   {map[string]string{runtime: auths("docker.io", "ann")}, "acme/web", "ann"},
		"an official image":      {map[string]string{runtime: auths("docker.io", "ann")}, "nginx", "ann"},
		"another name of it":     {map[string]string{runtime: auths("registry-1.docker.io", "ann")}, "index.docker.io/acme/web", "ann"},
		"a namespace of it":      {map[string]string{runtime: auths("docker.io", "ann", "docker.io/acme", "bob")}, "acme/web", "bob"},
		"another namespace":      {map[string]string{runtime: auths("docker.io", "ann", "docker.io/acme", "bob")}, "globex/web", "ann"},
		"only a namespace":       {map[string]string{runtime: auths("docker.io/acme", "bob")}, "globex/web", ""},
		"part of a name":         {map[string]string{runtime: auths("docker.io/acm", "bob")}, "acme/web", ""},
		"the longest one":        {map[string]string{runtime: auths("quay.io", "a", "quay.io/acme", "b", "quay.io/acme/shop/web", "d", "quay.io/acme/shop", "c")}, "quay.io/acme/shop/web", "d"},
		"a longer one":           {map[string]string{runtime: auths("quay.io", "a", "quay.io/acme", "b", "quay.io/acme/shop/web", "d", "quay.io/acme/shop", "c")}, "quay.io/acme/shop/api", "c"},
		"a URL":                  {map[string]string{docker: auths("https://quay.io/v2/", "ann")}, "quay.io/acme/web", "ann"},
		"a path of the API":      {map[string]string{docker: auths("quay.io/v1/", "ann")}, "quay.io/acme/web", "ann"},
		"a port":                 {map[string]string{docker: auths("http://localhost:5000", "ann")}, "localhost:5000/web", "ann"},
		"another port":           {map[string]string{docker: auths("localhost:5000", "ann")}, "localhost:5001/web", ""},
		"tokens of docker":       {map[string]string{docker: auths("https://index.docker.io/v1/access-token", "no", "https://index.docker.io/v1/", "ann")}, "acme/web", "ann"},
		"an empty entry":         {map[string]string{docker: `{"auths": {"quay.io": {}}}`}, "quay.io/acme/web", ""},
		"no file":                {nil, "quay.io/acme/web", ""},
		"both, of Docker":        {map[string]string{docker: auths("quay.io", "ann"), runtime: auths("quay.io", "bob")}, "quay.io/acme/web", "ann"},
		"both, of Podman":        {map[string]string{docker: auths("ghcr.io", "ann"), runtime: auths("quay.io", "bob")}, "quay.io/acme/web", "bob"},
		"one that survives":      {map[string]string{config: auths("quay.io", "ann")}, "quay.io/acme/web", "ann"},
		"the file of a variable": {map[string]string{named: auths("quay.io", "eve"), docker: auths("quay.io", "ann")}, "quay.io/acme/web", "eve"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for path, text := range test.files {
				path = filepath.Join(dir, path)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			r, err := image.ParseRepository(test.image)
			if err != nil {
				t.Fatal(err)
			}
			login, err := userLogin(env(map[string]string{
				"HOME": filepath.Join(dir, "home"), "XDG_RUNTIME_DIR": filepath.Join(dir, "run"), "REGISTRY_AUTH_FILE": filepath.Join(dir, named),
			}), r)
			if err != nil {
				t.Fatal(err)
			}
			got, err := login.Authorization()
			if err != nil || got.Username != test.want || (got.Password == "gate-7") != (test.want != "") {
				t.Errorf("got %+v, %v, want the user %q", got, err, test.want)
			}
		})
	}
}

// The other variables of both tools.
func TestLoginFiles(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		env  map[string]string
		want string
	}{
		{nil, ""},
		{map[string]string{"USERPROFILE": "/u"}, "/u/.docker/config.json /u/.config/containers/auth.json"},
		{map[string]string{"HOME": "/h", "DOCKER_CONFIG": "/d", "XDG_CONFIG_HOME": "/c"}, "/d/config.json /c/containers/auth.json"},
	} {
		if got := filepath.ToSlash(strings.Join(loginFiles(env(test.env)), " ")); got != test.want {
			t.Errorf("%v: %s, want %s", test.env, got, test.want)
		}
	}
}

// A credential helper is asked for the registry, by each name of Docker Hub. It is a
// program on PATH, so this test does not run beside others.
func TestUserLogin_helper(t *testing.T) {
	dir := t.TempDir()
	program := "#!/bin/sh\nread server\necho $server >>" + filepath.Join(dir, "asked") + "\n" +
		`test $server = docker.io -o $server = quay.io && echo '{"Username": "ann", "Secret": "gate-7"}' && exit` + "\necho 'credentials not found in native keychain'; exit 1\n"
	file := filepath.Join(dir, "auth.json")
	for path, text := range map[string]string{
		filepath.Join(dir, "docker-credential-test"): program,
		file: `{"credHelpers": {"docker.io": "test", "quay.io": "test", "ghcr.io": "test"}, "auths": {"ghcr.io": {"auth": "` + loginOf("bob", "gate-8") + `"}}}`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	for text, want := range map[string]string{"acme/web": "ann", "quay.io/acme/web": "ann", "ghcr.io/acme/web": "bob"} {
		r, err := image.ParseRepository(text)
		if err != nil {
			t.Fatal(err)
		}
		login, err := userLogin(env(map[string]string{"REGISTRY_AUTH_FILE": file}), r)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := login.Authorization(); err != nil || got.Username != want {
			t.Errorf("%s: got %+v, %v, want %s", text, got, err, want)
		}
	}
}
