package console

import (
	"bytes"
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := NewProgress(System{Err: &out, ErrTerminal: true})
	p.Clear()
	p.Show("querying registries", 1, 2)
	p.Show("reading files", 0, 0)
	p.Clear()
	p.Clear()
	if want := "\r\x1b[Kquerying registries 1/2\r\x1b[Kreading files\r\x1b[K"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	out.Reset()
	p.Show("reading files", 0, 0)
	p.Around(func() { out.WriteString("a message\n") })
	if want := "\r\x1b[Kreading files\r\x1b[Ka message\nreading files"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// In the log of a job, long work has a line now and then, and short work none.
func TestProgress_inALog(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	p := NewProgress(System{Err: &out})
	p.now = func() time.Time { return now }
	for done := range 61 {
		p.Show("reconciling repositories", done, 60)
		now = now.Add(400 * time.Millisecond)
	}
	p.Around(func() { out.WriteString("a message\n") })
	p.Clear()
	if want := "promoter: reconciling repositories: 25 of 60\npromoter: reconciling repositories: 50 of 60\na message\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
