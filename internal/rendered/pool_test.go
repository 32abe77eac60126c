package rendered_test

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/budget"
	"promoter/internal/fault"
	"promoter/internal/rendered"
)

// counting returns a program that is this one, and a function that returns how often it was started.
func counting(t *testing.T) (program string, started func() int) {
	t.Helper()
	folder := t.TempDir()
	program, count := filepath.Join(folder, "program"), filepath.Join(folder, "count")
	this, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\necho started >> '" + count + "'\nexec '" + this + "' \"$@\"\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	return program, func() int {
		text, err := os.ReadFile(count)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return strings.Count(string(text), "\n")
	}
}

// failures is a memory of failures.
type failures map[string]rendered.Failure

func (f failures) Load(digest string) (rendered.Failure, bool) {
	one, known := f[digest]
	return one, known
}

func (f failures) Store(digest string, one rendered.Failure) error {
	f[digest] = one
	return nil
}

// tag returns the change of a tag from one commit to another.
func tag(commits, from, to string, more tree) rendered.Change {
	return rendered.Change{
		Commits: commits, Before: chart(from).with(more), After: chart(to).with(more), Changed: []string{"charts/shop/values-prod.yaml"},
	}
}

// A branch is pushed again when its base changes. What its commits change stays the same.
func TestPool_rendersOtherCommitsWithTheSameFilesOnce(t *testing.T) {
	t.Parallel()
	program, started := counting(t)
	pool := newPool(program, rendered.MaxMemory)
	var before []rendered.Difference
	for i, commits := range []string{"a b", "c d", "e f"} {
		found, err := pool.Differences(t.Context(), tag(commits, "1.4.1", "1.4.2", tree{"README.md": commits}))
		if err != nil || len(found) != 1 || found[0].Problem != "" {
			t.Fatalf("%d: %+v, %v", i, found, err)
		}
		if diff := cmp.Diff(before, found); i > 0 && diff != "" {
			t.Errorf("%d: (-before +after)\n%s", i, diff)
		}
		before = found
	}
	if n := started(); n != 1 {
		t.Errorf("rendered %d times", n)
	}
	if _, err := pool.Differences(t.Context(), tag("g h", "1.4.1", "1.4.3", nil)); err != nil || started() != 2 {
		t.Errorf("other files were not rendered: %v", err)
	}
}

// hungry exceeds the memory of a child.
var hungry = tree{"charts/shop/templates/web.yaml": `a: {{ $a := "aaaaaaaaaaaaaaaa" }}{{ range until 40 }}{{ $a = cat $a $a }}{{ end }}{{ $a }}`}

func TestPool_rendersWhatExceedsALimitAgainOnlyWithOtherFilesOrLimits(t *testing.T) {
	t.Parallel()
	if raceDetector {
		t.Skip("without memory, the race detector crashes in several ways")
	}
	program, started := counting(t)
	known := failures{}
	render := func(memory int64, c rendered.Change) string {
		t.Helper()
		c.Failures = known // as another process finds them: the pool is another one
		_, err := newPool(program, memory).Differences(t.Context(), c)
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "MiB of memory") && !strings.Contains(err.Error(), "processor") {
			t.Fatalf("got %v", err)
		}
		return err.Error()
	}
	const memory = 400 << 20
	first := render(memory, tag("a b", "1.4.1", "1.4.2", hungry))
	if again := render(memory, tag("c d", "1.4.1", "1.4.2", hungry)); again != first || started() != 1 {
		t.Errorf("started %d times; %q, and then %q", started(), first, again)
	}
	for _, one := range known {
		if left := time.Until(one.Until); left < 23*time.Hour || left > 24*time.Hour {
			t.Errorf("the limit counts until %v", one.Until)
		}
	}
	render(memory, tag("e f", "1.4.1", "1.4.3", hungry))
	if n := started(); n != 2 {
		t.Errorf("started %d times, and files have changed", n)
	}
	render(memory+1<<20, tag("g h", "1.4.1", "1.4.2", hungry))
	if n := started(); n != 3 {
		t.Errorf("started %d times, and a limit has changed", n)
	}
}

// A failure without a limit may have another reason than the files.
func TestPool_rendersOtherFailuresAgainAfterAnHour(t *testing.T) {
	t.Parallel()
	program, now := filepath.Join(t.TempDir(), "program"), time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho a defect >&2\nexit 1\n"), 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	pool := rendered.NewPool(rendered.Options{Program: program, Children: 1, Memory: rendered.MaxMemory, Now: func() time.Time { return now }})
	change := tag("a b", "1.4.1", "1.4.2", nil)
	change.Failures = failures{}
	if _, err := pool.Differences(t.Context(), change); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "a defect") {
		t.Fatalf("got %v", err)
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	now = now.Add(59 * time.Minute)
	if _, err := pool.Differences(t.Context(), change); fault.KindOf(err) != fault.Invalid {
		t.Errorf("after 59 minutes: %v", err)
	}
	now = now.Add(time.Minute)
	if _, err := pool.Differences(t.Context(), change); fault.KindOf(err) != fault.Temporary {
		t.Errorf("after an hour: %v", err) // a program that does not start is no result
	}
}

// Supervisors and terminals send the signal that ends the service to its child processes too. The next process renders.
func TestPool_remembersNoInterruption(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP} {
		if signal.Ignored(one) { // as with nohup, also by child processes
			continue
		}
		program := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(program, []byte("#!/bin/sh\nkill -"+name+" $$\n"), 0o700); err != nil { //nolint:gosec // it is a program
			t.Fatal(err)
		}
		change, known := tag("a b", "1.4.1", "1.4.2", nil), failures{}
		change.Failures = known
		if _, err := newPool(program, rendered.MaxMemory).Differences(t.Context(), change); fault.KindOf(err) != fault.Temporary || len(known) > 0 {
			t.Errorf("%s: %v; remembered: %v", name, err, known)
		}
	}
}

// failing is a tree that cannot be read for some time.
type failing struct {
	tree
	fails *bool
}

func (f failing) Read(path string, limit int64) ([]byte, error) {
	if *f.fails {
		return nil, errors.New("input/output error")
	}
	return f.tree.Read(path, limit)
}

// What cannot be read for the moment is no property of the commits.
func TestPool_readsAgainWhatCouldNotBeRead(t *testing.T) {
	t.Parallel()
	pool, change, fails := newPool(os.Args[0], rendered.MaxMemory), tag("a b", "1.4.1", "1.4.2", nil), true
	change.After = failing{chart("1.4.2"), &fails}
	if found, err := pool.Differences(t.Context(), change); err == nil || !strings.Contains(err.Error(), "input/output error") {
		t.Errorf("got %+v, %v", found, err)
	}
	fails = false
	if found, err := pool.Differences(t.Context(), change); err != nil || len(found) != 1 || found[0].Problem != "" {
		t.Errorf("got %+v, %v", found, err)
	}
}

func TestPool_chargesTheBudgetOfTheReconciliation(t *testing.T) {
	t.Parallel()
	pool := newPool(os.Args[0], rendered.MaxMemory)
	ctx := budget.With(t.Context(), budget.New(budget.Limits{budget.Rendering: {Total: 1}}))
	if _, err := pool.Differences(ctx, tag("a b", "1.4.1", "1.4.2", nil)); err != nil {
		t.Fatal(err)
	}
	_, err := pool.Differences(ctx, tag("c d", "1.4.1", "1.4.3", nil))
	if fault.KindOf(err) != fault.Temporary || !strings.Contains(err.Error(), "more than 1 milliseconds of rendering; most: Helm chart charts/shop with values-prod.yaml (") {
		t.Errorf("got %v", err)
	}
	if _, err := pool.Differences(ctx, tag("e f", "1.4.1", "1.4.2", nil)); err != nil {
		t.Errorf("what is known needs no budget: %v", err)
	}
	if _, err := pool.Differences(t.Context(), tag("c d", "1.4.1", "1.4.3", nil)); err != nil {
		t.Errorf("the next reconciliation: %v", err)
	}
}

func TestPool_withoutMemoryForAChildRendersNothing(t *testing.T) {
	t.Parallel()
	pool := rendered.NewPool(rendered.Options{Program: os.Args[0], Now: time.Now})
	if _, err := pool.Differences(t.Context(), tag("a b", "1.4.1", "1.4.2", nil)); fault.KindOf(err) != fault.Invalid {
		t.Errorf("got %v", err)
	}
}

// The least memory of a child is enough for a usual chart and a usual kustomization.
func TestPool_rendersWithTheLeastMemory(t *testing.T) {
	t.Parallel()
	before, after := overlay("1.4.1").with(chart("1.4.1")), overlay("1.4.2").with(chart("1.4.2"))
	change := rendered.Change{Before: before, After: after, Changed: []string{
		"apps/web/overlays/prod/kustomization.yml", "charts/shop/values-prod.yaml",
	}}
	found, err := newPool(os.Args[0], rendered.MinMemory).Differences(t.Context(), change)
	if err != nil && strings.Contains(err.Error(), "memory") && raceDetector {
		t.Skip("the race detector needs more memory")
	}
	if err != nil || len(found) != 2 || found[0].Problem != "" || found[1].Problem != "" {
		t.Errorf("got %+v, %v", found, err)
	}
}
