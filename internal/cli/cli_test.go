package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/cli/render"
)

func TestNewPainter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		when     string
		terminal bool
		env      string
		want     render.Painter
	}{
		{"auto", true, "", true},
		{"auto", false, "", false},
		{"auto", true, "NO_COLOR=1", false},
		{"auto", true, "NO_COLOR=", true}, // no-color.org: set and not empty
		{"always", false, "", true},
		{"always", false, "NO_COLOR=1", true},
		{"never", true, "", false},
	}
	for _, test := range tests {
		system := newConsole(test.env).System
		system.OutTerminal = test.terminal
		got, err := newPainter(test.when, system)
		if err != nil || got != test.want {
			t.Errorf("%+v: got %v, %v", test, got, err)
		}
	}
	if _, err := newPainter("red", newConsole().System); err == nil {
		t.Error("--color red is taken")
	}
}

func TestPainter_leavesPlainTextAlone(t *testing.T) {
	t.Parallel()
	if got := render.Painter(false).Paint(render.ColorRed, "x") + render.Painter(true).Paint(render.ColorRed, "") + render.Painter(true).Paint("", "x"); got != "xx" {
		t.Errorf("%q", got)
	}
	for line, want := range map[string]string{
		"+++ b/x\n": render.ColorBold, "--- a/x\n": render.ColorBold, "@@ -1 +1 @@\n": render.ColorCyan,
		"-a\n": render.ColorRed, "+a\n": render.ColorGreen, " a\n": "", "": "",
	} {
		got := render.Painter(true).Diff(line)
		if want == "" && got != line || want != "" && got != want+strings.TrimSuffix(line, "\n")+render.ColorReset+"\n" {
			t.Errorf("%q: %q", line, got)
		}
	}
}

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
			c := newConsole()
			args := append(test.args, "--dir", folder(t, test.files))
			if got := c.run(t.Context(), args...); got != test.want {
				t.Errorf("exit %d, want %d\n%s%s", got, test.want, c.out.String(), c.err.String())
			}
			if test.want == exitFailed && c.err.Len() == 0 {
				t.Error("it failed without a word")
			}
		})
	}
}

func TestExitCodes_withoutAFolder(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{"version": 0, "completion bash": 0, "--help": 0, "": 0, "plan --help": 0, "nonsense": 1, "version -o yaml": 1} {
		if got := newConsole().run(t.Context(), strings.Fields(line)...); got != want {
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
		c := newConsole()
		if code := c.run(ctx, verb, "--dir", dir, "--with", "quay.io/acme/web:2"); code != exitSignal {
			t.Errorf("%s: exit %d", verb, code)
		}
		want := "promoter: interrupted\n"
		if verb == "apply" {
			want = "promoter: nothing written\n" + want
		}
		if got := c.err.String(); got != want || c.out.Len() > 0 {
			t.Errorf("%s: %q, %q", verb, c.out.String(), got)
		}
	}
	if content, err := os.ReadFile(filepath.Join(dir, "app.yaml")); err != nil || !strings.Contains(string(content), "web:1") {
		t.Errorf("something was written: %q, %v", content, err)
	}
	c := newConsole()
	if code := c.run(ctx, "version"); code != exitDone {
		t.Errorf("a command that was done already: exit %d", code)
	}
}

// An apply that cannot write everything names the files that it wrote.
func TestApply_namesWrittenFilesAfterAFailure(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		".promoter.yaml": "version: 1\ncomponents:\n  web: {image: quay.io/acme/web, select: {semver: \">=1\"}}\nenvironments:\n  dev: {paths: [dev]}\n  prod: {paths: [prod]}\n",
		"dev/app.yaml":   "image: quay.io/acme/web:1\n",
		"prod/app.yaml":  "image: quay.io/acme/web:1\n",
	}
	for i := range 100 { // every name of a temporary file is taken
		files[fmt.Sprintf("prod/.promoter-%d.tmp", i)] = ""
	}
	c := newConsole()
	code := c.run(t.Context(), "apply", "--dir", folder(t, files), "--with", "quay.io/acme/web:2")
	if want := "promoter: wrote dev/app.yaml\npromoter: wrote 1 file\npromoter: write default in prod: "; code != exitFailed || !strings.HasPrefix(c.err.String(), want) {
		t.Errorf("exit %d, %q, want %q", code, c.err.String(), want)
	}
}

// A person who typed --with - and thinks better of it is not kept waiting.
func TestInterrupted_whileReadingTheList(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	reading, hold := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(hold) })
	c := newConsole()
	c.In = readerFunc(func([]byte) (int, error) {
		close(reading)
		<-hold
		return 0, io.EOF
	})
	go func() {
		<-reading
		cancel()
	}()
	if code := c.run(ctx, "plan", "--dir", web(t), "--with", "-"); code != exitSignal {
		t.Errorf("exit %d: %s", code, c.err.String())
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

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
		c := newConsole()
		c.Out = brokenWriter{}
		if code := c.run(t.Context(), args...); code != exitFailed || !strings.Contains(c.err.String(), "closed pipe") {
			t.Errorf("%q: exit %d, %q", args, code, c.err.String())
		}
	}

	t.Log("apply has written, and says so")
	c := newConsole()
	c.Out = brokenWriter{}
	code := c.run(t.Context(), "apply", "--dir", dir, "--with", "quay.io/acme/web:2")
	if code != exitFailed || !strings.Contains(c.err.String(), "wrote 1 file\n") {
		t.Errorf("exit %d, %q", code, c.err.String())
	}

	t.Log("nobody reads the words")
	c = newConsole()
	c.Err = brokenWriter{}
	if code := c.run(t.Context(), "plan", "--dir", dir, "--with", "quay.io/acme/web:2"); code != exitDone {
		t.Errorf("exit %d", code)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := newProgress(System{Err: &out, ErrTerminal: true})
	p.clear()
	p.show("querying registries", 1, 2)
	p.show("reading files", 0, 0)
	p.clear()
	p.clear()
	if want := "\r\x1b[Kquerying registries 1/2\r\x1b[Kreading files\r\x1b[K"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	out.Reset()
	p.show("reading files", 0, 0)
	p.around(func() { out.WriteString("a message\n") })
	if want := "\r\x1b[Kreading files\r\x1b[Ka message\nreading files"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// In the log of a job, long work has a line now and then, and short work none.
func TestProgress_inALog(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	p := newProgress(System{Err: &out})
	p.now = func() time.Time { return now }
	for done := range 61 {
		p.show("reconciling repositories", done, 60)
		now = now.Add(400 * time.Millisecond)
	}
	p.around(func() { out.WriteString("a message\n") })
	p.clear()
	if want := "promoter: reconciling repositories: 25 of 60\npromoter: reconciling repositories: 50 of 60\na message\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// On a terminal the line is gone before the first word.
func TestProgress_isClearedBeforeErrors(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		".promoter.yaml": "version: 1\ncomponents:\n  web: {image: 127.0.0.1:1/acme/web, select: {semver: \">=1\"}}\nenvironments:\n  dev: {}\n",
		"app.yaml":       "image: 127.0.0.1:1/acme/web:1\n",
	})
	c := newConsole()
	c.ErrTerminal = true
	if code := c.run(t.Context(), "plan", "--dir", dir); code != exitFailed {
		t.Errorf("exit %d", code)
	}
	head, words, found := strings.Cut(c.err.String(), "querying registries 1/1\r\x1b[K")
	if !found || head != "\r\x1b[K" || !strings.HasPrefix(words, "promoter: web: ") || strings.Contains(words, "\x1b") {
		t.Errorf("%q", c.err.String())
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
	visit(newRoot(newConsole().System))
}

// each turns a visiting function into a sequence.
func each[T any](visit func(func(T))) iter.Seq[T] {
	return func(yield func(T) bool) {
		going := true
		visit(func(value T) { going = going && yield(value) })
	}
}

func TestPrintError(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	render.PrintError(&out, errors.Join(errors.New("one"), fmt.Errorf("two%s", "\n")))
	if want := "promoter: one\npromoter: two\n"; out.String() != want {
		t.Errorf("got %q", out.String())
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
	c := newConsole()
	c.Demo = func(ctx context.Context, request DemoRequest) error {
		var inner bytes.Buffer
		if code := request.Promoter(ctx, &inner, "plan", "--nonsense"); code != exitFailed || !strings.Contains(inner.String(), "unknown flag") {
			t.Errorf("exit %d: %q", code, inner.String())
		}
		if !request.Keep {
			t.Error("--keep is lost")
		}
		return errors.New("a step is not as promised")
	}
	if code := c.run(t.Context(), "demo", "--keep"); code != exitFailed || c.err.String() != "promoter: a step is not as promised\n" {
		t.Errorf("exit %d: %q", code, c.err.String())
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
		c := newConsole()
		if code := c.run(t.Context(), strings.Fields(line)...); code != exitFailed || c.err.String() != want || c.out.Len() > 0 {
			t.Errorf("promoter %s: exit %d, out %q, err %q, want %q", line, code, c.out.String(), c.err.String(), want)
		}
	}
}

func TestRequireVerb_missing(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"", "app", "completion"} {
		c := newConsole()
		if code := c.run(t.Context(), strings.Fields(line)...); code != exitDone || !strings.Contains(c.out.String(), "\nUsage:\n") || c.err.Len() > 0 {
			t.Errorf("promoter %s: exit %d, out %q, err %q", line, code, c.out.String(), c.err.String())
		}
	}
}
