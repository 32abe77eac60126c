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

// GitHub answers about the account that has the login now.
func TestMember_ofAnAccountWhoseLoginAnotherHasNow(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	signals := w.open().Signals()
	path := "GET /orgs/acme/teams/sre/memberships/ann"
	w.on(path, says(200, `{"state":"active","role":"member"}`))
	w.on("GET "+permissionPath("ann"), says(200, `{"permission":"write","user":{"login":"ann","id":8,"type":"User"}}`))
	for id, want := range map[string]bool{"7": false, "8": true} {
		user := identity.User{Host: "github.com", ID: id, Login: "ann"}
		if in, err := signals.Member(t.Context(), "acme/sre", user); err != nil || in != want {
			t.Errorf("%s: member %v, %v", id, in, err)
		}
		if may, err := signals.MayWrite(t.Context(), user); err != nil || may != want {
			t.Errorf("%s: may write %v, %v", id, may, err)
		}
	}
	hidden := newWire(t)
	hidden.on(path, says(200, `{"state":"active","role":"member"}`))
	hidden.on("GET "+permissionPath("ann"), says(403, `{"message":"Must have push access to view collaborator permission."}`))
	user := identity.User{Host: "github.com", ID: "7", Login: "ann"}
	if in, err := hidden.open().Signals().Member(t.Context(), "acme/sre", user); err != nil || !in {
		t.Errorf("where GitHub shows no account: member %v, %v", in, err)
	}
	gone := newWire(t)
	gone.on(path, says(200, `{"state":"active","role":"member"}`))
	gone.on("GET "+permissionPath("ann"), says(404, `{"message":"ann is not a user"}`))
	if in, err := gone.open().Signals().Member(t.Context(), "acme/sre", user); err != nil || in {
		t.Errorf("where no account has the login: member %v, %v", in, err)
	}
}

// Who a reviewer is, is known from the permission that was read for the review: a team costs one request.
func TestMember_ofAReviewerCostsOneRequest(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	signals := w.open().Signals()
	w.on("GET "+reviewsPath, says(200, `[{"user":{"login":"ann","id":7,"type":"User"},"state":"APPROVED","commit_id":"`+head+`"}]`))
	w.on("GET "+permissionPath("ann"), says(200, `{"permission":"write","user":{"login":"ann","id":7,"type":"User"}}`))
	const member = "GET /orgs/acme/teams/sre/memberships/ann"
	w.on(member, says(200, `{"state":"active"}`))
	reviews, err := signals.Reviews(t.Context(), 7)
	if err != nil || len(reviews) != 1 {
		t.Fatalf("%+v, %v", reviews, err)
	}
	if in, err := signals.Member(t.Context(), "acme/sre", reviews[0].Author); err != nil || !in {
		t.Errorf("member %v, %v", in, err)
	}
	w.expect("GET "+reviewsPath, "GET "+permissionPath("ann"), member)
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
