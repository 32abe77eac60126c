package demo

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The tests of cmd/promoter cover the whole demo with the real commands. These
// tests need access to its parts.

// newTestShow returns a show whose registry runs until the end of the test.
func newTestShow(t *testing.T, promoter func(context.Context, io.Writer, ...string) int) *show {
	t.Helper()
	registry, err := startRegistry(t.Context(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = registry.loopback.stop() })
	s, err := newShow(t.Context(), Options{Out: io.Discard, Promoter: promoter, Title: strings.ToUpper, Now: time.Now}, t.TempDir(), registry)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.close(context.Background()) })
	return s
}

// TestARegistryThatIsGone checks that the demo ends in the step that needs the
// registry.
func TestARegistryThatIsGone(t *testing.T) {
	t.Parallel()
	var s *show
	s = newTestShow(t, func(_ context.Context, out io.Writer, _ ...string) int {
		_, _ = io.WriteString(out, "  dev/shop  same  \n  prod/mail  same  \nnothing to do\n")
		_ = s.registry.loopback.server.Close()
		return 0
	})
	err := s.perform(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), "step 2 of the demo (You push new images: dev gets them at once, staging waits for a request): push ") {
		t.Errorf("error %v, want step 2", err)
	}
}

// TestTheFilesAreCompared covers each way in which files may differ.
func TestTheFilesAreCompared(t *testing.T) {
	t.Parallel()
	s := newTestShow(t, nil)
	if _, err := s.ann.push(t.Context(), tree{"a": "1", "b": "2"}, "Begin"); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		want    tree
		problem string
	}{
		{tree{"a": "1", "b": "2"}, ""},
		{tree{"a": "1", "b": "2\n"}, "b is not what was promised; it holds\n2\ninstead of\n2\n"},
		{tree{"a": "1"}, "b was not there before"},
		{tree{"a": "1", "b": "2", "c": ""}, "c is not what was promised"},
	}
	for _, test := range tests {
		err := s.hub.compare(test.want)
		if (err != nil) != (test.problem != "") || err != nil && !strings.Contains(err.Error(), test.problem) {
			t.Errorf("%v: %v, want %q", test.want, err, test.problem)
		}
	}
}

func TestAUserPullsAndPushes(t *testing.T) {
	t.Parallel()
	s := newTestShow(t, nil)
	if _, err := s.ann.push(t.Context(), tree{"a/b": "1"}, "Begin\n\nAnd more."); err != nil {
		t.Fatal(err)
	}
	bob, err := newUser("bob", filepath.Join(t.TempDir(), "bob"), s.hub, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second run finds nothing new
		if err := bob.pull(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(bob.dir, "a", "b")); err != nil || string(text) != "1" {
		t.Errorf("pulled %q, %v", text, err)
	}
	if _, err := bob.push(t.Context(), tree{"a/b": "2"}, "Change it"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ann.push(t.Context(), tree{"a/b": "3"}, "Too late"); err == nil {
		t.Error("a push over another one is no error")
	}
	if log, err := s.hub.log(); err != nil || log != "bob: Change it\nann: Begin\n" {
		t.Errorf("the log is\n%s, %v", log, err)
	}
}

func TestUntilIn(t *testing.T) {
	t.Parallel()
	printed := "  prod/a  waiting  soak, until 2026-11-21T14:00:00Z\n  prod/b  waiting  soak, until 2026-11-21T14:00:02Z\n  dev  waiting, until 2027-01-01T00:00:00Z\n"
	until, err := untilIn(printed, "^  prod/")
	if want := time.Date(2026, time.November, 21, 14, 0, 2, 0, time.UTC); err != nil || !until.Equal(want) {
		t.Errorf("%v, %v, want %v", until, err, want)
	}
	for _, wrong := range []string{"", "  prod/a  waiting, until noon"} {
		if until, err := untilIn(wrong, "^  prod/"); err == nil {
			t.Errorf("%q gives %v", wrong, until)
		}
	}
}

func TestADemoDoesNotWaitLong(t *testing.T) {
	t.Parallel()
	s := newTestShow(t, nil)
	if err := s.wait(t.Context(), time.Now().Add(time.Hour)); err == nil {
		t.Error("an hour is waited")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.wait(ctx, time.Now().Add(maxWait/2)); err == nil {
		t.Error("an interruption does not end it")
	}
}

func TestALongLineOfTheLessonIsBroken(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 30) + "end"
	if got := wrap(long); got != strings.TrimSpace(strings.Repeat("word ", 19))+"\n     "+strings.Repeat("word ", 11)+"end" {
		t.Errorf("%q", got)
	}
	for _, line := range []string{"short", strings.Repeat("x", 200)} {
		if got := wrap(line); got != line {
			t.Errorf("%q", got)
		}
	}
}

func TestACommandLineIsShownAsAShellReadsIt(t *testing.T) {
	t.Parallel()
	if got := inWords([]string{"hold", "--reason", "it's late"}); got != `hold --reason 'it'\''s late'` {
		t.Error(got)
	}
	if got := inWords([]string{"run"}); got != "run" {
		t.Error(got)
	}
}
