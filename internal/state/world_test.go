package state_test

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/state"
)

var (
	noon     = time.Date(2026, 11, 18, 11, 0, 0, 0, time.UTC)
	shop     = state.Target{Environment: "prod", Application: "shop"}
	blog     = state.Target{Environment: "prod", Application: "blog"}
	prod     = state.Target{Environment: "prod", Application: state.All}
	everyone = state.Target{Environment: state.All, Application: state.All}
)

const (
	digestA = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	digestB = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	web2    = "quay.io/acme/web:2.0.0@" + digestA
	worker2 = "quay.io/acme/worker:2.0.0@" + digestB
)

// act returns a decision of a user, some minutes after noon.
func act(login string, minutes int) state.Act {
	return state.Act{By: identity.User{Host: "github.com", Login: login}, At: after(minutes), Reason: "because"}
}

func after(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

func reject(minutes int, images ...string) state.Rejection {
	r := state.Rejection{Act: act("ann", minutes), Images: map[string]string{}}
	for _, text := range images {
		reference, err := image.Parse(text)
		if err != nil {
			panic(err)
		}
		r.Images[reference.Repository.Name()] = text
	}
	return r
}

// apply applies the changes and fails the test if one is refused.
func apply(t *testing.T, s state.State, changes ...state.Change) state.State {
	t.Helper()
	next, err := s.Apply(changes...)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// read reads the files as a branch with exactly these files.
func read(t *testing.T, files map[string]string) state.State {
	t.Helper()
	branch := map[string][]byte{}
	for path, text := range files {
		branch[path] = []byte(text)
	}
	s, err := state.Read(maps.All(branch))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// whole returns the files that a state writes to an empty branch.
func whole(s state.State) map[string]string {
	files := map[string]string{}
	for path, content := range s.Diff(state.State{}) {
		files[path] = string(content)
	}
	return files
}

// same compares two states by the files that they write.
func same(t *testing.T, want, got state.State) {
	t.Helper()
	if diff := cmp.Diff(whole(want), whole(got)); diff != "" {
		t.Errorf("the files differ (-want +got):\n%s", diff)
	}
}

// rejected reports whether a version, written as a reference, is rejected.
func rejected(t *testing.T, s state.State, target state.Target, text string) bool {
	t.Helper()
	r, err := image.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	_, found := s.Rejected(target, r.Repository, image.Version{Tag: r.Tag, Digest: r.Digest})
	return found
}

// held returns the description of what holds a target.
func held(s state.State, target state.Target, now time.Time) string {
	h, found := s.Held(target, now)
	switch {
	case !found:
		return ""
	case h.Problem != "":
		return h.Target.String() + " cannot be read"
	case h.Freeze:
		return h.Target.String() + " frozen by " + h.By.Login
	default:
		return h.Target.String() + " held by " + h.By.Login
	}
}
