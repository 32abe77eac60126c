package store_test

import (
	"testing"

	"promoter/internal/seal"
)

func TestNewestSeal_neverMovesBack(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		s, t := b.Store, b.T
		if counter, commit, err := s.Seals.Newest(t.Context(), "github.com:1"); err != nil || counter != 0 || commit != "" {
			t.Fatalf("none: %d %s %v", counter, commit, err)
		}
		for _, one := range []struct {
			counter uint64
			commit  string
		}{{3, "c3"}, {2, "c2"}, {3, "other"}} {
			if err := s.Seals.Remember(t.Context(), "github.com:1", one.counter, one.commit); err != nil {
				t.Fatal(err)
			}
		}
		if counter, commit, err := s.Seals.Newest(t.Context(), "github.com:1"); err != nil || counter != 3 || commit != "c3" {
			t.Errorf("got %d %s %v", counter, commit, err)
		}
	})
}

func TestKeys_allReplicasShareTheFirst(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		s, t := b.Store, b.T
		seals, err := s.Keys.Seal(t.Context(), seal.Generate())
		if err != nil {
			t.Fatal(err)
		}
		if again, err := s.Keys.Seal(t.Context(), seal.Generate()); err != nil || again.Reveal() != seals.Reveal() {
			t.Errorf("got another key: %v", err)
		}
		sessions, err := s.Keys.Session(t.Context(), seal.Generate())
		if err != nil || sessions.Reveal() == seals.Reveal() {
			t.Errorf("sessions have the key of the seals: %v", err)
		}
		if again, err := s.Keys.Session(t.Context(), seal.Generate()); err != nil || again.Reveal() != sessions.Reveal() {
			t.Errorf("got another key: %v", err)
		}
	})
}
