package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"promoter/internal/cli"
	"promoter/internal/cli/console"
)

// stage performs the demo through the whole command line.
type stage struct {
	out, err bytes.Buffer
	// act replaces the verbs. Nil: the real ones.
	act func(honest verbs, ctx context.Context, out io.Writer, args ...string) int
	// hear receives all output.
	hear   func(printed string)
	color  bool
	env    map[string]string
	folder string // in which the repository was
}

type verbs func(ctx context.Context, out io.Writer, args ...string) int

// Write takes what is printed.
func (s *stage) Write(p []byte) (int, error) {
	if s.hear != nil {
		s.hear(string(p))
	}
	return s.out.Write(p)
}

func (s *stage) perform(ctx context.Context, args ...string) int {
	return cli.Main(ctx, append([]string{"demo"}, args...), console.System{
		In: strings.NewReader(""), Out: s, Err: &s.err, OutTerminal: s.color,
		Env: func(name string) (string, bool) { value, set := s.env[name]; return value, set },
	}, func(ctx context.Context, request cli.DemoRequest) error {
		honest := request.Promoter
		request.Program, _ = exec.LookPath("promoter") // not this test
		request.Promoter = func(ctx context.Context, out io.Writer, args ...string) int {
			if i := slices.Index(args, "--config"); i >= 0 {
				s.folder = filepath.Dir(args[i+1])
			}
			if s.act != nil {
				return s.act(honest, ctx, out, args...)
			}
			return honest(ctx, out, args...)
		}
		return showDemo(ctx, request)
	})
}

// gone checks that the demo left nothing behind.
func (s *stage) gone(t *testing.T) {
	t.Helper()
	if !strings.Contains(s.folder, "promoter-demo-") {
		t.Fatalf("the folder is %q", s.folder)
	}
	if _, err := os.Stat(s.folder); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}

// checkStory searches the output for each line, in this order.
func checkStory(t *testing.T, printed string, steps ...string) {
	t.Helper()
	rest := printed
	for _, step := range steps {
		at := regexp.MustCompile(`(?m)` + step).FindStringIndex(rest)
		if at == nil {
			t.Fatalf("%q is not in the rest of the story:\n%s\n\nThe whole story:\n%s", step, rest, printed)
		}
		rest = rest[at[1]:]
	}
}

// checkSize checks that the output fits into two screens of a terminal.
func checkSize(t *testing.T, printed string) {
	t.Helper()
	if lines := strings.Count(printed, "\n"); lines > 100 {
		t.Errorf("%d lines:\n%s", lines, printed)
	}
	for line := range strings.Lines(printed) {
		if width := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); width > 100 {
			t.Errorf("%d characters: %s", width, line)
		}
	}
}

var colors = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// TestDemo_isALesson runs the demo as on a terminal.
func TestDemo_isALesson(t *testing.T) {
	t.Parallel()
	s := stage{color: true}
	if code := s.perform(t.Context(), "--once"); code != 0 {
		t.Fatalf("the demo ended with %d\n%s%s", code, s.err.String(), s.out.String())
	}
	if !colors.MatchString(s.out.String()) {
		t.Error("no colors")
	}
	printed := colors.ReplaceAllString(s.out.String(), "")
	checkSize(t, printed)
	checkStory(t, printed,
		`^promoter on your machine\. You are the user ann, and work in \S+promoter-demo-\d+,$`,
		`^1\. You describe the environments in \.promoter\.yaml: dev, then staging, then prod$`,
		`^   windows: {change: .*\n   environments:\n     dev: {paths: `,
		`^   \$ promoter run$`,
		`^   promoter: 1 repository: nothing to do$`,
		`^2\. You push new images: dev gets them at once, staging waits for a request$`,
		`^   .*\bpushed +[0-9a-f]{7}\b.*newer: shop 1\.4\.2 -> 1\.5\.0\n   staging/shop  waiting  propose is manual`,
		`^3\. You review the change for staging and request it$`,
		`^   \$ promoter plan --env staging --dir gitops$`,
		`^   -    newTag: "1\.4\.2" .*\n   \+    newTag: "1\.5\.0" .*\n   \$ promoter promote --to staging --all --as ann`,
		`^   prod/shop  waiting  staging soak: `,
		`^4\. Prod gets the same versions after 2 seconds in staging, when its window is open$`,
		`^   gate windows change: waiting, .*until \S+Z\n   An hour is too long for a demo`,
		`^   -windows: .*\n   \+windows: .*\n   \$ promoter run\n.*pushed.*staging has: shop 1\.4\.2 -> 1\.5\.0$`,
		`^   \$ promoter run\n   promoter: 1 repository: nothing to do$`,
		`^5\. You push shop 1\.6\.0, and revert it in dev: promoter does not propose it again$`,
		`^   -    newTag: "1\.6\.0" .*\n   \+    newTag: "1\.5\.0" `,
		`^   dev/shop  reverted  shop 1\.6\.0 was here before and was reverted `,
		`^6\. You start the service: `,
		`^   You push shop 1\.6\.1\. dev was pushed \S+ after the webhook\.$`,
		`^7\. You let prod wait until your tests report that staging is healthy$`,
		`^   \+    propose: manual, health: {api: true, from: tests, timeout: 2s, onFailure: rollback}}$`,
		`^   staging was pushed \S+ after the webhook\.$`,
		`^   prod/shop  waiting  staging healthy: only the service knows `,
		`^   Your tests report shop as healthy\. prod was pushed \S+ after the report\.$`,
		`^8\. shop 1\.7\.0 fails in staging: promoter rolls it back, and prod never gets it$`,
		`^   Your tests report shop as degraded\. staging was pushed \S+ after the report\.$`,
		`^   staging/shop  rejected  shop 1\.7\.0 was rejected by promoter .*: Degraded for 2s$`,
		`^9\. You read in Git who changed what, and on the dashboard what is where$`,
		`^   promoter: Roll back shop in staging: shop 1\.6\.1\n   promoter: Promote shop to staging: shop 1\.7\.0\n`,
		`^   shop has 1\.7\.0 in dev, and 1\.6\.1 in staging and prod, as the dashboard shows\.$`,
		`^Next: 'promoter init'`)
	if _, end, _ := strings.Cut(printed, "\n9. "); strings.Contains(end, "http://") {
		t.Errorf("the end names an address that is gone:\n%s", end)
	}
	s.gone(t)
}

func TestDemo_verboseShowsEverything(t *testing.T) {
	t.Parallel()
	var s stage
	if code := s.perform(t.Context(), "--once", "--verbose"); code != 0 {
		t.Fatalf("the demo ended with %d\n%s%s", code, s.err.String(), s.out.String())
	}
	checkStory(t, s.out.String(),
		`^apps/mail/prod/deployment\.yaml$`,
		`^  dev/shop  same  already up to date$`,
		`^2\. You push new images: dev gets them at once, staging waits for a request$`,
		`^\S+/acme/shop:1\.5\.0$`,
		`\bpushed +[0-9a-f]{7}\b.*newer: mail main-3f9c2ab -> main-a81d04e$`,
		`^\+    newTag: "1\.5\.0"      # quotes and comments stay$`,
		`^\+    digest: sha256:[0-9a-f]{64}$`,
		`^\$ promoter promote --to staging --all --as ann --reason 'for the testers'$`,
		`^  prod/shop  waiting  staging soak: .*, until \S+Z$`,
		`^Waiting until \d\d:\d\d:\d\d\.$`,
		`^Every branch is at the commit at which it was\.$`,
		`^\$ promoter serve --log text --quiet 100ms &$`,
		`^POST http://127\.0\.0\.1:\d+/webhooks/registry: \{"delivery":"[0-9a-f]{64}-1","events":1\}$`,
		` msg="webhook received" receiver=registry delivery=[0-9a-f]{64}-1 event=push events=1 `,
		` msg=pushed repository=acme/gitops .*environment=dev\b`,
		`^POST http://127\.0\.0\.1:\d+/webhooks/git: \{"delivery":"push-\d+","events":1\}$`,
		`^\$ curl http://127\.0\.0\.1:\d+/api/v1/evidence -H `,
		`^POST http://127\.0\.0\.1:\d+/api/v1/evidence: \{"delivery":"[0-9a-f]+","events":1\}$`,
		` reason="rolled back: Degraded for 2s: shop 1\.7\.0 -> 1\.6\.1"$`,
		`^promoter: Promote mail to prod: mail main-a81d04e$`,
		`^ann: Begin$`)
	if strings.Contains(s.out.String(), "\x1b") {
		t.Error("the story is colored where there is no terminal")
	}
	s.gone(t)
}

// TestDemo_aBrokenPromiseIsNoticed lets the verbs do something else than promised.
func TestDemo_aBrokenPromiseIsNoticed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		act  func(honest verbs, ctx context.Context, out io.Writer, args ...string) int
		want string
	}{
		{
			"another exit code", func(verbs, context.Context, io.Writer, ...string) int { return 1 },
			"promoter: step 1 of the demo (You describe the environments in .promoter.yaml: dev, then staging, then prod): " +
				"promise broken: promoter run ended with exit code 1, not 0\n",
		},
		{
			"nothing is said", func(honest verbs, ctx context.Context, _ io.Writer, args ...string) int {
				return honest(ctx, io.Discard, args...)
			},
			`promise broken: promoter run does not print "nothing to do$"`,
		},
		{
			"nothing is asked for", func(honest verbs, ctx context.Context, out io.Writer, args ...string) int {
				if args[0] == "promote" {
					_, _ = io.WriteString(out, "x  Promote staging: for the testers\nrecorded in promoter/_state as unverified: ann\n")
					return 0
				}
				return honest(ctx, out, args...)
			},
			"step 3 of the demo (You review the change for staging and request it",
		},
		{
			"run only looks", func(honest verbs, ctx context.Context, out io.Writer, args ...string) int {
				if args[0] == "run" {
					args = append(args, "--dry-run")
				}
				_, _ = io.WriteString(out, "promoter: 1 repository: nothing to do\n")
				return honest(ctx, out, args...)
			},
			"step 2 of the demo (You push new images: ",
		},
		{
			"the service does not start", func(honest verbs, ctx context.Context, out io.Writer, args ...string) int {
				if args[0] == "serve" {
					_, _ = io.WriteString(out, "promoter: no, thanks\n")
					return 1
				}
				return honest(ctx, out, args...)
			},
			"brings the fix to dev): promise broken: promoter serve ended, and printed\npromoter: promoter: no, thanks\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := stage{act: test.act}
			if code := s.perform(t.Context(), "--once"); code != 1 || !strings.Contains(s.err.String(), test.want) {
				t.Errorf("exit %d, %q, want %q\n%s", code, s.err.String(), test.want, s.out.String())
			}
			s.gone(t)
		})
	}
}

// TestDemo_continuesUntilInterrupted runs the commands that the demo prints at its end, as
// they are, and then works on the repository with the git command.
func TestDemo_continuesUntilInterrupted(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var s stage
	s.hear = func(printed string) {
		if !strings.Contains(printed, "It keeps running until Ctrl-C") {
			return
		}
		defer interrupt()
		checkStory(t, s.out.String(), `^   shop has 1\.7\.0 in dev, .* prod: open http://127\.0\.0\.1:\d+/$`)
		output := runPrinted(t, printed, nil)
		checkStory(t, output,
			`^\+    newTag: "1\.8\.0" `, `recorded in promoter/_state as unverified: ann`,
			`^  prod/shop  waiting  staging healthy: only the service knows `, `"events":1`,
			`acme/gitops  (idle|waiting|running), reconciled `, `prod/shop .*1\.8\.0`)
		pushWithGit(t, regexp.MustCompile(`repository +(\S+)`).FindStringSubmatch(printed)[1])
		pushWithGit(t, "file://"+filepath.Join(s.folder, "gitops.git"))
	}
	if code := s.perform(ctx); code != 0 || !strings.HasSuffix(s.out.String(), "\nThe demo has stopped.\n") {
		t.Errorf("exit %d\n%s%s", code, s.err.String(), s.out.String())
	}
	checkSize(t, strings.TrimSuffix(s.out.String(), "\nThe demo has stopped.\n"))
	s.gone(t)
}

// runPrinted runs the commands that the demo prints after "In another terminal".
func runPrinted(t *testing.T, printed string, env map[string]string) string {
	t.Helper()
	for _, program := range []string{"sh", "git", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	_, commands, _ := strings.Cut(printed, "\nIn another terminal")
	var script strings.Builder
	for line := range strings.Lines(commands) {
		if strings.HasPrefix(line, "  ") {
			script.WriteString(line)
		}
	}
	shell := exec.CommandContext(t.Context(), "sh", "-eu", "-c", script.String())
	shell.Env = gitEnv()
	for name, value := range env {
		shell.Env = append(shell.Env, name+"="+value)
	}
	output, err := shell.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s\nof\n%s", err, output, script.String())
	}
	return string(output)
}

// gitEnv keeps the user's own settings out.
func gitEnv() []string {
	return append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0")
}

// pushWithGit pushes several files with the git command, and then their changes, which it
// sends as deltas.
func pushWithGit(t *testing.T, url string) {
	t.Helper()
	const script = `
git clone -q "$1" .
git config user.name bob
git config user.email bob@example.com
for push in 1 2 3; do
  for file in a b c; do seq 5000 | sed "s/\$/ $file/" >$file.txt; echo "$1 $push" >>$file.txt; done
  git add .
  git commit -q -m "Push $push"
  git push -q || { git pull -q --rebase; git push -q; } # the service may have pushed
  git fetch -q
done
test "$(git rev-parse HEAD)" = "$(git ls-remote "$1" refs/heads/main | cut -f1)"
git fsck --strict
`
	command := exec.CommandContext(t.Context(), "sh", "-eu", "-c", script, "sh", url)
	command.Dir, command.Env = t.TempDir(), gitEnv()
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", url, err, output)
	}
}

// TestDemo_anInterruptionLeavesNothing interrupts the first verb, and one that is
// called while the service runs.
func TestDemo_anInterruptionLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"run", "explain"} {
		ctx, interrupt := context.WithCancel(t.Context())
		s := stage{act: func(honest verbs, ctx context.Context, out io.Writer, args ...string) int {
			if args[0] != verb {
				return honest(ctx, out, args...)
			}
			interrupt()
			return 130
		}}
		if code := s.perform(ctx); code != 130 || s.err.String() != "promoter: interrupted\n" {
			t.Errorf("%s: exit %d: %q", verb, code, s.err.String())
		}
		s.gone(t)
	}
}

func TestDemo_keepsTheFolderAndColors(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{false, true} {
		s := stage{color: true, act: func(honest verbs, ctx context.Context, out io.Writer, args ...string) int {
			honest(ctx, out, args...)
			return 1 // the first step is enough
		}}
		if plain {
			s.env = map[string]string{"NO_COLOR": "1"}
		}
		s.perform(t.Context(), "--once", "--keep")
		t.Cleanup(func() { _ = os.RemoveAll(s.folder) })
		if _, err := os.Stat(filepath.Join(s.folder, "gitops.git", "HEAD")); err != nil {
			t.Errorf("not kept: %v", err)
		}
		if colored := strings.Contains(s.out.String(), "\x1b"); colored == plain {
			t.Errorf("NO_COLOR %t: colored %t", plain, colored)
		}
	}
}
