package serverconfig_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/fault"
)

const canary = "c4n4ry-s3cr3t-v4lu3"

func sources() serverconfig.Sources {
	files := map[string]string{
		"/token": canary + "\n", "/crlf": canary + "\r\n", "/empty": "\n", "/large": canary + strings.Repeat("x", 64<<10),
	}
	return serverconfig.Sources{
		Env: func(name string) (string, bool) {
			value, found := map[string]string{"TOKEN": canary, "EMPTY": ""}[name]
			return value, found
		},
		Open: func(path string) (io.ReadCloser, error) {
			switch content, found := files[path]; {
			case path == "/broken":
				return io.NopCloser(io.MultiReader(strings.NewReader(canary), failingReader{})), nil
			case found:
				return io.NopCloser(strings.NewReader(content)), nil
			}
			return nil, &os.PathError{Op: "open", Path: path, Err: os.ErrNotExist}
		},
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errors.New("disk gone") }

func TestReference_Resolve(t *testing.T) {
	t.Parallel()
	for reference, wantErr := range map[string]string{
		"env:TOKEN":    "",
		"file:/token":  "",
		"file:/crlf":   "",
		"env:NOTHING":  "secret env:NOTHING: the environment variable is not set",
		"env:EMPTY":    "secret env:EMPTY: empty",
		"file:/no":     "secret file:/no: open /no: file does not exist",
		"file:/empty":  "secret file:/empty: empty",
		"file:/large":  "secret file:/large: larger than 65536 bytes",
		"file:/broken": "secret file:/broken: disk gone",
	} {
		t.Run(reference, func(t *testing.T) {
			t.Parallel()
			parsed, err := serverconfig.ParseReference(reference)
			if err != nil {
				t.Fatal(err)
			}
			value, err := parsed.Resolve(sources())
			if wantErr == "" {
				if err != nil || value.Reveal() != canary {
					t.Errorf("Resolve = %q, %v", value.Reveal(), err)
				}
				return
			}
			if err == nil || err.Error() != wantErr || fault.KindOf(err) != fault.Invalid || !value.IsZero() {
				t.Errorf("Resolve = %v (%s); want %s", err, fault.KindOf(err), wantErr)
			}
		})
	}
}

func TestReference_none(t *testing.T) {
	t.Parallel()
	var none serverconfig.Reference
	if _, err := none.Resolve(sources()); err == nil || !none.IsZero() {
		t.Errorf("Resolve of no reference = %v", err)
	}
}

func TestParseReference(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", canary, "env:", "env:1A", "env:A-B", "file:", "file:relative", "ENV:A", "env:A\n", "file:/a\x00b"} {
		if _, err := serverconfig.ParseReference(text); err == nil {
			t.Errorf("%q is read as a reference", text)
		} else if text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("the error repeats what may be a secret: %v", err)
		}
	}
}

// TestLoad_canary puts a secret where references belong, in every way that
// people get wrong, and looks for it in all that can be printed.
func TestLoad_canary(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`forges: {a: {kind: github, token: %s}}`,
		`forges: {a: {kind: github, token: "%s"}}`,
		`forges: {a: {kind: github, token:%s}}`,
		`forges: {a: {kind: github, %s}}`,
		`forges: {a: {kind: github, token: *%s}}`,
		`forges: {a: {kind: github, token: &%s x}}`,
		`forges: {a: {kind: github, token: !%s x}}`,
		`forges: {a: {kind: github, token: [%s]}}`,
		`forges: {a: {kind: github, token: {%s: x}}}`,
		`forges: {a: {kind: github, token: "%s}}`,
		`forges: {a: {kind: github, token: @%s}}`,
		"forges: {a: {kind: github, token: `%s}}",
		`forges: {a: {kind: github, token: "\q%s"}}`,
		`forges: {a: {kind: github, token: a: %s}}`,
		`forges: {a: {kind: github, token: "env:%s"}}`,
		`forges: {a: {kind: git, url: "https://u:%s@git.example.com"}}`,
		`forges: {a: {kind: gitea, url: "%s"}}`,
		`forges: {a: {kind: git, url: "https://h/%%zz%s"}}`,
		`forges: {a: {kind: github, app: {id: 1, key: %s}}}`,
		`forges: {a: {kind: github, app: {id: %s}}}`,
		`database: {url: "postgres://u:%s@db/x"}`,
		`database: {path: a, %s}`,
		`registries: [{host: "u:%s@quay.io"}]`,
		`registries: [{host: quay.io, credentials: {username: u, password: %s}, usableBy: [a]}]`,
		`registries: [{host: quay.io, credentials: {username: u, password:%s}, usableBy: [a]}]`,
		`registries: [{host: quay.io, credentials: %s, usableBy: [a]}]`,
		`receivers: {a: {kind: quay, pathSecret: %s}}`,
		`receivers: {a: {kind: harbor, secret: "env:S", header: "Bearer %s"}}`,
		`repositories: [{forge: a, name: "https://u:%s@h/a/b"}]`,
		`listen: "%s"`,
		`url: "https://u:%s@h"`,
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			secret := strings.ReplaceAll(canary, "-", "")
			text := "version: 1\n" + fmt.Sprintf(line, secret) + "\n"
			server, problems := serverconfig.Load("server.yaml", []byte(text), noEnv)
			printed := fmt.Sprintf("%v %+v %#v %s %v", problems, problems, problems, problems, problems.Err())
			if !strings.Contains(line, `"env:%s"`) {
				printed += fmt.Sprintf("%v %+v %#v", server, server, server)
				if server != nil {
					t.Error("the file loads")
				}
			}
			if strings.Contains(printed, secret) {
				t.Errorf("the secret is printed: %s", printed)
			}
		})
	}
}

// TestLoad_environmentCanary keeps the value of a variable that is a secret
// out of the loaded file.
func TestLoad_environmentCanary(t *testing.T) {
	t.Parallel()
	server, problems := serverconfig.Load("", nil, func(name string) (string, bool) {
		return canary, name == "PROMOTER_DATABASE_URL"
	})
	if server == nil {
		t.Fatal(problems)
	}
	if got := server.Database.URL.String(); got != "env:PROMOTER_DATABASE_URL" {
		t.Errorf("database.url = %q", got)
	}
	if strings.Contains(fmt.Sprintf("%+v", server), canary) {
		t.Error("the secret is printed")
	}
}
