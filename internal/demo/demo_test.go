package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/app"
)

// honest does what the verbs do, straight on internal/app; the command line
// itself is shown by the demo's test in cmd/promoter.
func honest(ctx context.Context, out io.Writer, args ...string) int {
	changed, err := carry(ctx, args[0] == "apply", args[len(args)-1])
	switch {
	case err != nil:
		fmt.Fprintln(out, err)
		return 1
	case changed && slices.Contains(args, "--exit-code"):
		return exitChanges
	}
	return exitDone
}

func carry(ctx context.Context, apply bool, dir string) (changed bool, err error) {
	checkout, err := app.OpenCheckout(dir, nil)
	if err != nil {
		return false, err
	}
	registries, err := app.NewRegistries(app.RegistryOptions{Now: time.Now})
	if err != nil {
		return false, err
	}
	preview, err := checkout.Plan(ctx, app.Options{Versions: registries.Versions(), Now: time.Now})
	if err != nil {
		return false, err
	}
	if apply {
		_, err = checkout.Apply(ctx, preview)
	}
	return preview.Changed(), errors.Join(err, registries.Close())
}

func TestTheStoryHoldsItsPromises(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := Run(t.Context(), Options{Out: &out, Promoter: honest}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, want := range []string{"$ promoter plan", "$ promoter apply", "web 1.5.0", "Doing it again changes nothing"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the story does not tell %q:\n%s", want, out.String())
		}
	}
}

// TestABrokenPromiseIsNoticed lets the verbs do something else than promised.
func TestABrokenPromiseIsNoticed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		lie  func(verb, dir string, code int) (int, error)
		want string
	}{
		{
			"another exit code", func(_, _ string, _ int) (int, error) { return 1, nil },
			"promoter plan ended with exit code 1, not 0",
		},
		{
			"plan writes", func(_, dir string, code int) (int, error) {
				return code, os.WriteFile(filepath.Join(dir, "clusters", "dev", "shop", "helmrelease.yaml"), nil, 0o600)
			},
			"helmrelease.yaml is not what was promised",
		},
		{
			"a new file", func(_, dir string, code int) (int, error) {
				return code, os.WriteFile(filepath.Join(dir, "left-behind"), nil, 0o600)
			},
			"left-behind was not there before",
		},
		{
			"a lost file", func(_, dir string, code int) (int, error) {
				return code, os.Remove(filepath.Join(dir, ".promoter.yaml"))
			},
			"the repository has 10 files, not 11",
		},
		{
			"apply writes one byte too many", func(verb, dir string, code int) (int, error) {
				if verb != "apply" {
					return code, nil
				}
				return code, appendByte(filepath.Join(dir, "apps", "shop", "charts", "dev", "values.yaml"))
			},
			"values.yaml is not what was promised",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			lying := func(ctx context.Context, out io.Writer, args ...string) int {
				code, err := test.lie(args[0], args[len(args)-1], honest(ctx, out, args...))
				if err != nil {
					t.Error(err)
				}
				return code
			}
			err := Run(t.Context(), Options{Out: io.Discard, Promoter: lying})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func appendByte(name string) error {
	file, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString("\n")
	return errors.Join(err, file.Close())
}

func TestTheFolderIsRemovedUnlessKept(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprintf("keep %t", keep), func(t *testing.T) {
			t.Parallel()
			var dir string
			remember := func(ctx context.Context, out io.Writer, args ...string) int {
				dir = args[len(args)-1]
				return honest(ctx, out, args...)
			}
			if err := Run(t.Context(), Options{Out: io.Discard, Promoter: remember, Keep: keep}); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(dir)) })
			if _, err := os.Stat(dir); (err == nil) != keep {
				t.Errorf("kept: %v, want %t", err == nil, keep)
			}
		})
	}
}

func TestAnInterruptionCleansUp(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	var dir string
	interrupted := func(_ context.Context, _ io.Writer, args ...string) int {
		dir = args[len(args)-1]
		interrupt()
		return 130
	}
	err := Run(ctx, Options{Out: io.Discard, Promoter: interrupted})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the interruption", err)
	}
	if _, err := os.Stat(filepath.Dir(dir)); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}
