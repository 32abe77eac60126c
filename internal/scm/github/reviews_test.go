package github

import (
	"fmt"
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
)

const reviewsPath = repoPath + "/pulls/7/reviews"

func permissionPath(login string) string {
	return repoPath + "/collaborators/" + login + "/permission"
}

func reviewJSON(login, kind, state string) string {
	return fmt.Sprintf(`{"user":{"login":%q,"type":%q},"state":%q,"commit_id":%q,"submitted_at":"2026-06-01T10:00:00Z"}`, login, kind, state, head)
}

func TestReviews_latestPerUser(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	signals := w.open().Signals()
	w.on("GET "+reviewsPath, says(200, "["+strings.Join([]string{
		reviewJSON("ann", "User", "CHANGES_REQUESTED"), reviewJSON("Ann", "User", "APPROVED"), reviewJSON("eve", "User", "APPROVED"),
		reviewJSON("bob", "User", "COMMENTED"), reviewJSON("carl", "User", "DISMISSED"), reviewJSON("me", "User", "PENDING"),
		reviewJSON("robot[bot]", "Bot", "APPROVED"), reviewJSON("gone", "User", "APPROVED"), reviewJSON("", "User", "APPROVED"),
	}, ",")+"]"))
	w.on("GET "+permissionPath("ann"), says(200, `{"permission":"write"}`))
	w.on("GET "+permissionPath("eve"), says(200, `{"permission":"read"}`))
	w.on("GET "+permissionPath("gone"), says(404, `{"message":"gone is not a user"}`))
	got, err := signals.Reviews(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		login string
		state scm.ReviewState
		may   bool
	}{
		{"ann", scm.ChangesRequested, true},
		{"Ann", scm.Approved, true},
		{"eve", scm.Approved, false},
		{"bob", scm.Commented, false},
		{"carl", scm.Dismissed, false},
		{"robot[bot]", scm.Approved, false},
		{"gone", scm.Approved, false},
		{"", scm.Approved, false},
	}
	if len(got) != len(want) {
		t.Fatalf("got %+v", got)
	}
	for i, review := range got {
		if review.Author.Login != want[i].login || review.State != want[i].state || review.MayWrite != want[i].may || review.Commit != head || review.At.IsZero() {
			t.Errorf("%d: got %+v, want %+v", i, review, want[i])
		}
	}
	w.expect("GET "+reviewsPath, "GET "+permissionPath("ann"), "GET "+permissionPath("eve"), "GET "+permissionPath("gone"))
	w.on("GET "+permissionPath("eve"), says(403, `{"message":"Must have push access to view collaborator permission."}`))
	_, err = w.open().Signals().Reviews(t.Context(), 7)
	checkFault(t, err, fault.Unauthorized, "reviews of pull request 7 of acme/deploy", "Must have push access")
}

func TestMayWrite_askedLive(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	signals := w.open().Signals()
	ann := identity.User{Host: "github.com", Login: "ann"}
	for permission, want := range map[string]bool{"admin": true, "write": true, "read": false, "none": false, "of tomorrow": false} {
		w.on("GET "+permissionPath("ann"), says(200, `{"permission":"`+permission+`"}`))
		if may, err := signals.MayWrite(t.Context(), ann); err != nil || may != want {
			t.Errorf("%s: got %v, %v", permission, may, err)
		}
	}
	w.requests()
	for _, nobody := range []identity.User{
		{},
		{Host: "gitlab.com", Login: "ann"},
		{Host: "github.com", Login: "a/../../user"},
		{Host: "github.com", Login: ".."},
		{Host: "github.com", Login: "ann", Bot: true},
		{Host: "github.com", Login: "robot[bot]"},
	} {
		if may, err := signals.MayWrite(t.Context(), nobody); err != nil || may {
			t.Errorf("%+v: got %v, %v", nobody, may, err)
		}
	}
	w.expect()
}

func TestMember(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	signals := w.open().Signals()
	ann := identity.User{Host: "github.com", Login: "ann"}
	path := "GET /orgs/acme/teams/sre/memberships/ann"
	for answer, want := range map[string]bool{`{"state":"active","role":"member"}`: true, `{"state":"pending"}`: false} {
		w.on(path, says(200, answer))
		if in, err := signals.Member(t.Context(), "acme/sre", ann); err != nil || in != want {
			t.Errorf("%s: got %v, %v", answer, in, err)
		}
	}
	w.on(path, says(404, `{"message":"Not Found"}`))
	if in, err := signals.Member(t.Context(), "acme/sre", ann); err != nil || in {
		t.Errorf("got %v, %v", in, err)
	}
	w.requests()
	for _, team := range []string{"", "acme", "acme/", "acme/a/b", "../x", "acme/..", "acme/a b"} {
		if in, err := signals.Member(t.Context(), team, ann); err != nil || in {
			t.Errorf("%q: got %v, %v", team, in, err)
		}
	}
	if in, err := signals.Member(t.Context(), "acme/sre", identity.User{Host: "gitlab.com", Login: "ann"}); err != nil || in {
		t.Errorf("a stranger: got %v, %v", in, err)
	}
	w.expect()
	w.on(path, says(404, `{"message":"Not Found"}`, "X-Accepted-OAuth-Scopes: read:org", "X-OAuth-Scopes: repo"))
	_, err := signals.Member(t.Context(), "acme/sre", ann)
	checkFault(t, err, fault.Unauthorized, "members of team acme/sre", "lacks the scope read:org (it has repo)")
}
