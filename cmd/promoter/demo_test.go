package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"promoter/internal/cli"
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
	return cli.Main(ctx, append([]string{"demo"}, args...), cli.System{
		In: strings.NewReader(""), Out: s, Err: &s.err, OutTerminal: s.color,
		Env: func(name string) (string, bool) { value, set := s.env[name]; return value, set },
		Demo: func(ctx context.Context, request cli.DemoRequest) error {
			honest := request.Promoter
			request.Promoter = func(ctx context.Context, out io.Writer, args ...string) int {
				if i := len(args) - 1; args[0] == "run" {
					s.folder = filepath.Dir(strings.TrimPrefix(args[i], "file://"))
				}
				if s.act != nil {
					return s.act(honest, ctx, out, args...)
				}
				return honest(ctx, out, args...)
			}
			return showDemo(ctx, request)
		},
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

func TestDemo_onceTellsTheWholeStory(t *testing.T) {
	t.Parallel()
	var s stage
	if code := s.perform(t.Context(), "--once"); code != 0 {
		t.Fatalf("the demo ended with %d\n%s%s", code, s.err.String(), s.out.String())
	}
	told := s.out.String()
	for _, step := range []string{
		`^1\. A registry, and a GitOps repository with three applications in dev, staging and prod$`,
		`^  dev/shop  same  already up to date$`,
		`^2\. The pipeline pushes new images: dev gets them at once$`,
		`^  dev/mail  pushed  [0-9a-f]{7}  newer: mail main-3f9c2ab -> main-a81d04e$`,
		`^  staging/shop  waiting  propose is manual: waiting for a request$`,
		`^3\. Staging waits for a person: Ann reviews the difference and requests it$`,
		`^\+    newTag: "1\.5\.0"      # quotes and comments stay$`,
		`^\$ promoter promote --repo \S+ --to staging --as ann --reason 'for the testers'$`,
		`^  staging/shop  pushed  [0-9a-f]{7}  dev has: shop 1\.4\.2 -> 1\.5\.0$`,
		`^  prod/shop  waiting  staging soak: .*, until \S+Z$`,
		`^Waiting until \d\d:\d\d:\d\d\.$`,
		`^4\. Prod waits until staging has had it for 2 seconds, and for its window$`,
		`^    to be pushed when its gates allow$`,
		`^    gate windows change: waiting, .*until \S+Z$`,
		`^An hour is too long for a demo\. Ann moves the window to `,
		`^  prod/shop  pushed  [0-9a-f]{7}  staging has: shop 1\.4\.2 -> 1\.5\.0$`,
		`^5\. Running it again writes nothing$`,
		`^promoter: 1 repository: nothing to do$`,
		`^Every branch is at the commit at which it was\.$`,
		`^6\. A bad image: Ann takes it back by hand, and it does not come again$`,
		`^  dev/shop  pushed  [0-9a-f]{7}  newer: shop 1\.5\.0 -> 1\.6\.0$`,
		`^  dev/shop  reverted  shop 1\.6\.0 was here before and was reverted \(commit [0-9a-f]{7,12}\)$`,
		`^  dev/shop  pushed  [0-9a-f]{7}  newer: shop 1\.5\.0 -> 1\.6\.1$`,
		`^7\. The service: the registry notifies it of a new image, and dev has it a moment later$`,
		`^\$ promoter serve --config \S+ --log text --quiet 100ms &$`,
		`^POST http://127\.0\.0\.1:\d+/webhooks/registry: \{"delivery":"[0-9a-f]{64}-1","events":1\}$`,
		` msg="webhook received" receiver=registry delivery=[0-9a-f]{64}-1 event=push events=1 `,
		` msg=pushed repository=acme/gitops .* environment=dev `,
		`^dev was pushed [0-9.]+m?s after the webhook\.$`,
		`^127\.0\.0\.1:\d+/acme/gitops  (idle|waiting|running), reconciled \d+s ago`,
		`^\d+s ago  registry  push  [0-9a-f]{64}-1$`,
		`^8\. Ann asks for it in staging, and the service goes on to prod by itself$`,
		`^POST http://127\.0\.0\.1:\d+/webhooks/argocd: \{"delivery":"[0-9a-f]{64}","events":1\}$`,
		`^staging was pushed [0-9.]+m?s after the webhook\.$`,
		`^prod was pushed [0-9.]+s after the webhook\.$`,
		`^9\. Who did what$`,
		`^[0-9a-f]{7} promoter Promote shop to prod: shop 1\.7\.0$`,
		`^[0-9a-f]{7} ann +Take shop 1\.6\.0 back: it does not start$`,
		`^Next: 'promoter init'`,
	} {
		at := regexp.MustCompile(`(?m)` + step).FindStringIndex(told)
		if at == nil {
			t.Fatalf("the rest of the story does not tell %q:\n%s", step, told)
		}
		told = told[at[1]:]
	}
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
			"promoter: step 1 of the demo (A registry, and a GitOps repository with three applications in dev, staging and prod): " +
				"promise broken: promoter run ended with exit code 1, not 0\n",
		},
		{
			"nothing is said", func(honest verbs, ctx context.Context, _ io.Writer, args ...string) int {
				return honest(ctx, io.Discard, args...)
			},
			`promise broken: promoter run does not print "^  dev/shop  same  "`,
		},
		{
			"nothing is asked for", func(honest verbs, ctx context.Context, out io.Writer, args ...string) int {
				if args[0] == "promote" {
					_, _ = io.WriteString(out, "x  Promote staging: for the testers\nrecorded in promoter/_state as ann\n")
					return 0
				}
				return honest(ctx, out, args...)
			},
			"step 3 of the demo (Staging waits for a person",
		},
		{
			"run only looks", func(honest verbs, ctx context.Context, out io.Writer, args ...string) int {
				if args[0] == "run" {
					args = append(args, "--dry-run")
				}
				_, _ = io.WriteString(out, "promoter: 1 repository: nothing to do\n")
				return honest(ctx, out, args...)
			},
			"step 2 of the demo (The pipeline pushes new images",
		},
		{
			"the service does not start", func(honest verbs, ctx context.Context, out io.Writer, args ...string) int {
				if args[0] == "serve" {
					_, _ = io.WriteString(out, "promoter: no, thanks\n")
					return 1
				}
				return honest(ctx, out, args...)
			},
			"a moment later): promise broken: promoter serve ended, and printed\npromoter: promoter: no, thanks\n",
		},
		{
			"the service only looks", func(honest verbs, ctx context.Context, out io.Writer, args ...string) int {
				if args[0] == "serve" {
					args = append(args, "--dry-run")
				}
				return honest(ctx, out, args...)
			},
			"promise broken: nothing was pushed: promoter serve prints\n",
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

// TestDemo_keepsRunningUntilInterrupted stops it where it invites to play.
func TestDemo_keepsRunningUntilInterrupted(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var s stage
	s.hear = func(printed string) {
		if strings.Contains(printed, "Everything keeps running until Ctrl-C.") {
			if _, err := os.Stat(s.folder); err != nil {
				t.Errorf("there is nothing to play with: %v", err)
			}
		}
		if strings.Contains(printed, "A webhook by hand:") {
			postByHand(t, printed)
			interrupt()
		}
	}
	if code := s.perform(ctx); code != 0 || !strings.HasSuffix(s.out.String(), "\nThe end.\n") {
		t.Errorf("exit %d\n%s%s", code, s.err.String(), s.out.String())
	}
	s.gone(t)
}

// postByHand does what the command line does that the demo shows.
func postByHand(t *testing.T, printed string) {
	t.Helper()
	part := func(pattern string) string {
		found := regexp.MustCompile(pattern).FindStringSubmatch(printed)
		if found == nil {
			t.Errorf("%q is not in %s", pattern, printed)
			return ""
		}
		return found[1]
	}
	secret, err := os.ReadFile(part(`Authorization: Bearer \$\(cat (\S+)\)"`))
	if err != nil {
		t.Error(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, part(`curl (\S+) -H`), strings.NewReader(part(`-d '(.*)'`)))
	if err != nil {
		t.Error(err)
		return
	}
	request.Header.Set("Content-Type", part(`-H 'Content-Type: (\S+)'`))
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(secret)))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = response.Body.Close() }()
	if answer, err := io.ReadAll(response.Body); response.StatusCode != http.StatusAccepted || !strings.Contains(string(answer), `"events":1`) {
		t.Errorf("status %d: %s, %v", response.StatusCode, answer, err)
	}
}

// TestDemo_anInterruptionLeavesNothing interrupts the first verb, and one that is
// called while the service runs.
func TestDemo_anInterruptionLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"run", "status"} {
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
