package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"promoter/internal/cli/console"
	"promoter/internal/cli/console/consoletest"
)

// root is the whole command line, without a demo.
func root(system console.System) *cobra.Command { return newRoot(system, nil) }

// web is a folder with one reference.
func web(t *testing.T) string {
	t.Helper()
	return consoletest.Folder(t, map[string]string{"app.yaml": "image: quay.io/acme/web:1\n"})
}

// brokenWriter is an output that is closed.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

const brokenYAML = "image: quay.io/acme/web:1\n  x: [\n"

// An error takes precedence over changes, and only --exit-code reports changes.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	config := `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
environments:
  dev: {paths: ["{application}/**"]}
`
	changes := map[string]string{"app.yaml": "image: quay.io/acme/web:1\n"}
	both := map[string]string{".promoter.yaml": config, "a/a.yaml": changes["app.yaml"], "b/b.yaml": brokenYAML}
	with := []string{"--with", "quay.io/acme/web:2"}
	tests := map[string]struct {
		files map[string]string
		args  []string
		want  int
	}{
		"nothing to change":                  {map[string]string{"app.yaml": "image: quay.io/acme/web:2\n"}, append([]string{"plan", "--exit-code"}, with...), 0},
		"changes":                            {changes, append([]string{"plan"}, with...), 0},
		"changes, asked for":                 {changes, append([]string{"plan", "--exit-code"}, with...), 2},
		"changes written":                    {changes, append([]string{"apply"}, with...), 0},
		"changes written, asked for":         {changes, append([]string{"apply", "--exit-code"}, with...), 2},
		"changes and a refusal":              {both, append([]string{"plan", "--exit-code"}, with...), 1},
		"changes written and a refusal":      {both, append([]string{"apply", "--exit-code"}, with...), 1},
		"a refusal alone":                    {map[string]string{"b.yaml": brokenYAML}, append([]string{"plan"}, with...), 1},
		"no config":                          {changes, []string{"plan"}, 1},
		"a broken config":                    {map[string]string{".promoter.yaml": "x: 1\n"}, []string{"plan"}, 1},
		"a valid config":                     {map[string]string{".promoter.yaml": config}, []string{"validate"}, 0},
		"an invalid config":                  {map[string]string{".promoter.yaml": "x: 1\n"}, []string{"validate"}, 1},
		"no config to check":                 {nil, []string{"validate"}, 1},
		"an unknown form":                    {changes, append([]string{"plan", "-o", "xml"}, with...), 1},
		"an unknown flag":                    {nil, []string{"plan", "--nonsense"}, 1},
		"a limit that is none":               {changes, append([]string{"plan", "--max-file-size", "-1"}, with...), 1},
		"a limit that is no number":          {changes, append([]string{"plan", "--max-file-size", "1MiB"}, with...), 1},
		"a network that is none":             {changes, append([]string{"plan", "--network", "home"}, with...), 1},
		"a config is written":                {changes, []string{"init"}, 0},
		"there is nothing to write a config": {nil, []string{"init"}, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := consoletest.New()
			args := append(test.args, "--dir", consoletest.Folder(t, test.files))
			if got := c.Run(t.Context(), root, args...); got != test.want {
				t.Errorf("exit %d, want %d\n%s%s", got, test.want, c.Out.String(), c.Err.String())
			}
			if test.want == console.ExitFailed && c.Err.Len() == 0 {
				t.Error("it failed without a word")
			}
		})
	}
}

func TestExitCodes_withoutAFolder(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{"version": 0, "completion bash": 0, "--help": 0, "": 0, "plan --help": 0, "nonsense": 1, "version -o yaml": 1} {
		if got := consoletest.New().Run(t.Context(), root, strings.Fields(line)...); got != want {
			t.Errorf("promoter %s: exit %d, want %d", line, got, want)
		}
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := web(t)
	for _, verb := range []string{"plan", "apply"} {
		c := consoletest.New()
		if code := c.Run(ctx, root, verb, "--dir", dir, "--with", "quay.io/acme/web:2"); code != console.ExitSignal {
			t.Errorf("%s: exit %d", verb, code)
		}
		want := "promoter: interrupted\n"
		if verb == "apply" {
			want = "promoter: nothing written\n" + want
		}
		if got := c.Err.String(); got != want || c.Out.Len() > 0 {
			t.Errorf("%s: %q, %q", verb, c.Out.String(), got)
		}
	}
	if content, err := os.ReadFile(filepath.Join(dir, "app.yaml")); err != nil || !strings.Contains(string(content), "web:1") {
		t.Errorf("something was written: %q, %v", content, err)
	}
	c := consoletest.New()
	if code := c.Run(ctx, root, "version"); code != console.ExitDone {
		t.Errorf("a command that was done already: exit %d", code)
	}
}

func TestClosedOutput(t *testing.T) {
	t.Parallel()
	dir := web(t)
	for _, args := range [][]string{
		{"plan", "--dir", dir, "--with", "quay.io/acme/web:2"},
		{"plan", "--dir", dir, "--with", "quay.io/acme/web:2", "-o", "json"},
		{"plan", "--dir", dir, "--with", "quay.io/acme/web:2", "-o", "diff"},
		{"version"},
		{"version", "-o", "json"},
	} {
		c := consoletest.New()
		c.System.Out = brokenWriter{}
		if code := c.Run(t.Context(), root, args...); code != console.ExitFailed || !strings.Contains(c.Err.String(), "closed pipe") {
			t.Errorf("%q: exit %d, %q", args, code, c.Err.String())
		}
	}

	t.Log("apply has written, and says so")
	c := consoletest.New()
	c.System.Out = brokenWriter{}
	code := c.Run(t.Context(), root, "apply", "--dir", dir, "--with", "quay.io/acme/web:2")
	if code != console.ExitFailed || !strings.Contains(c.Err.String(), "wrote 1 file\n") {
		t.Errorf("exit %d, %q", code, c.Err.String())
	}

	t.Log("nobody reads the words")
	c = consoletest.New()
	c.System.Err = brokenWriter{}
	if code := c.Run(t.Context(), root, "plan", "--dir", dir, "--with", "quay.io/acme/web:2"); code != console.ExitDone {
		t.Errorf("exit %d", code)
	}
}

// Every command and flag has a description.
func TestHelp_isComplete(t *testing.T) {
	t.Parallel()
	var visit func(*cobra.Command)
	visit = func(command *cobra.Command) {
		if command.Short == "" {
			t.Errorf("%s has no short help", command.CommandPath())
		}
		if strings.HasSuffix(command.Short, ".") {
			t.Errorf("%s: the short help is no sentence", command.CommandPath())
		}
		for f := range each(command.LocalFlags().VisitAll) {
			if f.Usage == "" || strings.HasSuffix(f.Usage, ".") {
				t.Errorf("%s --%s: help %q", command.CommandPath(), f.Name, f.Usage)
			}
		}
		for line := range strings.Lines(command.Long) {
			if len([]rune(line)) > 100 {
				t.Errorf("%s: a line of %d characters: %q", command.CommandPath(), len(line), line)
			}
		}
		for _, child := range command.Commands() {
			visit(child)
		}
	}
	visit(root(consoletest.New().System))
}

// each turns a visiting function into a sequence.
func each[T any](visit func(func(T))) iter.Seq[T] {
	return func(yield func(T) bool) {
		going := true
		visit(func(value T) { going = going && yield(value) })
	}
}

func TestVersionOf(t *testing.T) {
	t.Parallel()
	if v := versionOf("1.2.3"); v.Version != "1.2.3" || v.Go == "" || !strings.Contains(v.Platform, "/") {
		t.Errorf("%+v", v)
	}
	if v := versionOf(""); v.Version != "dev" {
		t.Errorf("%+v", v)
	}
}

func TestDemo_runsTheRealCommands(t *testing.T) {
	t.Parallel()
	demo := func(ctx context.Context, request DemoRequest) error {
		var inner bytes.Buffer
		if code := request.Promoter(ctx, &inner, "plan", "--nonsense"); code != console.ExitFailed || !strings.Contains(inner.String(), "unknown flag") {
			t.Errorf("exit %d: %q", code, inner.String())
		}
		if !request.Keep {
			t.Error("--keep is lost")
		}
		return errors.New("a step is not as promised")
	}
	c := consoletest.New()
	if code := Main(t.Context(), []string{"demo", "--keep"}, c.System, demo); code != console.ExitFailed || c.Err.String() != "promoter: a step is not as promised\n" {
		t.Errorf("exit %d: %q", code, c.Err.String())
	}
}

// An unknown verb is an error with a suggestion, at every level.
func TestRequireVerb_unknown(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"frobnicate":      "promoter: unknown command \"promoter frobnicate\": 'promoter --help' lists the commands\n",
		"hystory":         "promoter: unknown command \"promoter hystory\": did you mean history?\n",
		"app crate":       "promoter: unknown command \"promoter app crate\": did you mean create?\n",
		"app frobnicate":  "promoter: unknown command \"promoter app frobnicate\": 'promoter app --help' lists the commands\n",
		"completion bish": "promoter: unknown command \"promoter completion bish\": did you mean bash or fish or zsh?\n",
	} {
		c := consoletest.New()
		if code := c.Run(t.Context(), root, strings.Fields(line)...); code != console.ExitFailed || c.Err.String() != want || c.Out.Len() > 0 {
			t.Errorf("promoter %s: exit %d, out %q, err %q, want %q", line, code, c.Out.String(), c.Err.String(), want)
		}
	}
}

func TestRequireVerb_missing(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"", "app", "completion"} {
		c := consoletest.New()
		if code := c.Run(t.Context(), root, strings.Fields(line)...); code != console.ExitDone || !strings.Contains(c.Out.String(), "\nUsage:\n") || c.Err.Len() > 0 {
			t.Errorf("promoter %s: exit %d, out %q, err %q", line, code, c.Out.String(), c.Err.String())
		}
	}
}
