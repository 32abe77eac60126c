package githubapp

import (
	"context"
	"errors"
	"strings"
	"testing"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/server"
	"promoter/internal/serverfile"
)

// A user presses Ctrl-C while GitHub returns the key: the App that is then created is
// reported all the same.
func TestOutcome_waitsForTheKey(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	l := &local{}
	l.mutex.Lock() // as Create does
	stop()
	type outcome struct {
		stored serverfile.StoredApp
		err    error
	}
	ended := make(chan outcome)
	go func() {
		stored, err := l.outcome(ctx, errors.New("a request was not finished in time"))
		ended <- outcome{stored, err}
	}()
	l.stored = &serverfile.StoredApp{ID: 7}
	l.mutex.Unlock()
	if got := <-ended; got.err != nil || got.stored.ID != 7 {
		t.Errorf("got %+v", got)
	}
}

// Without an App, the error of its creation comes first.
func TestOutcome_errors(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	refused, late := errors.New("refused"), errors.New("late")
	for _, test := range []struct{ create, listen, want error }{
		{refused, late, refused},
		{nil, late, late},
		{nil, nil, context.Canceled},
	} {
		l := &local{err: test.create}
		if _, err := l.outcome(ctx, test.listen); !errors.Is(err, test.want) {
			t.Errorf("got %v, want %v", err, test.want)
		}
	}
}

func TestProposeName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ organization, address, want string }{
		{"acme", "https://promoter.example.com", "promoter-acme"},
		{"", "https://promoter.example.com:8443/x", "promoter-example-com"},
		{"", "https://ci.example.com", "promoter-ci-example-com"},
		{"", "", ""},
		{strings.Repeat("a", 30), "", ""},
	} {
		if got := proposeName(test.organization, test.address); got != test.want {
			t.Errorf("%s %s: %q, want %q", test.organization, test.address, got, test.want)
		}
	}
}

// The page that an error of package connect names is the one that the service serves.
func TestAppSetupURL_isServed(t *testing.T) {
	t.Parallel()
	s := &serverfile.Server{File: &serverconfig.Config{URL: "https://promoter.example.com"}}
	if got, want := s.AppSetupURL("a b"), "https://promoter.example.com"+server.SetupPath("a b", "SECRET"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
