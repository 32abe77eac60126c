package app

import (
	"context"
	"errors"
	"strings"
	"testing"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
	"promoter/internal/server"
)

// Ctrl-C while GitHub takes its time with the key: the pages stop waiting, and the App
// that comes of it is told all the same.
func TestCreator_outcome_waitsForTheKey(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	c := &creator{appMaker: &appMaker{}}
	c.mu.Lock() // as Make does
	stop()
	type told struct {
		kept connect.StoredApp
		err  error
	}
	ended := make(chan told)
	go func() {
		kept, err := c.outcome(ctx, errors.New("answer what had begun: it took too long"))
		ended <- told{kept, err}
	}()
	c.appKept(connect.StoredApp{ID: 7})
	c.mu.Unlock()
	if got := <-ended; got.err != nil || got.kept.ID != 7 {
		t.Errorf("got %+v", got)
	}
}

// Where there is no App, what went wrong with it is told first.
func TestCreator_outcome(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	refused, late := errors.New("refused"), errors.New("late")
	for _, test := range []struct{ fail, listen, want error }{
		{refused, late, refused},
		{nil, late, late},
		{nil, nil, context.Canceled},
	} {
		c := &creator{appMaker: &appMaker{}, fail: test.fail}
		if _, err := c.outcome(ctx, test.listen); !errors.Is(err, test.want) {
			t.Errorf("got %v, want %v", err, test.want)
		}
	}
}

func TestAppName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ organization, address, want string }{
		{"acme", "https://promoter.example.com", "promoter-acme"},
		{"", "https://promoter.example.com:8443/x", "promoter-example-com"},
		{"", "https://ci.example.com", "promoter-ci-example-com"},
		{"", "", ""},
		{strings.Repeat("a", 30), "", ""},
	} {
		if got := appName(test.organization, test.address); got != test.want {
			t.Errorf("%s %s: %q, want %q", test.organization, test.address, got, test.want)
		}
	}
}

// The page that an error names is the one that the service has.
func TestAppSetupURL_isServed(t *testing.T) {
	t.Parallel()
	s := &connect.Server{File: &serverconfig.Config{URL: "https://promoter.example.com"}}
	if got, want := s.AppSetupURL("a b"), "https://promoter.example.com"+server.SetupPath("a b", "SECRET"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
