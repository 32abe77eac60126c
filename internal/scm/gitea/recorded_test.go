package gitea_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
	"promoter/internal/scm/gitea/giteatest"
)

// recorded returns the exchanges with a real Gitea.
func recorded(t *testing.T) map[string][]giteatest.Exchange {
	t.Helper()
	found, err := giteatest.ReadRecorded()
	must(t, "read", err)
	if found == nil {
		t.Skip("PROMOTER_CORPUS names no folder with exchanges with a Gitea")
	}
	return found.Exchanges
}

// replay opens the repository of the exchanges on a server that gives their responses:
// for a request that is there several times, one after the other, and the last one for
// all others. What is not there exists, if it is the repository or the account, and else
// is not found.
func replay(t *testing.T, exchanges ...giteatest.Exchange) scm.Repository {
	t.Helper()
	given := map[string]int{}
	name := strings.Join(strings.Split(strings.TrimPrefix(exchanges[0].Path, "/api/v1/repos/"), "/")[:2], "/")
	forge := against(t, "", func(w http.ResponseWriter, r *http.Request) {
		var fits []giteatest.Exchange
		for _, one := range exchanges {
			if one.Method == r.Method && one.Path == r.URL.EscapedPath() && isPage(one.Query, r.URL.Query().Get("page")) {
				fits = append(fits, one)
			}
		}
		switch key := r.Method + r.URL.String(); {
		case len(fits) > 0:
			one := fits[min(given[key], len(fits)-1)]
			given[key]++
			for name, value := range one.Headers {
				w.Header().Set(name, value)
			}
			w.WriteHeader(one.Status)
			_, _ = w.Write(one.Response)
		case r.URL.Path == "/api/v1/user":
			_, _ = w.Write([]byte(`{"id":8,"login":"bot"}`))
		case r.URL.Path == "/api/v1/repos/"+name:
			_, _ = fmt.Fprintf(w, `{"id":7,"full_name":%q,"default_branch":"main","has_pull_requests":true,"allow_merge_commits":true,"permissions":{"push":true}}`, name)
		case r.URL.Query().Get("page") > "1":
			_, _ = w.Write([]byte("[]"))
		default:
			http.NotFound(w, r)
		}
	})
	repo, err := forge.Open(t.Context(), name)
	must(t, "open", err)
	return repo
}

// isPage reports whether a recorded query is for a page of a list.
func isPage(query, page string) bool {
	of := regexp.MustCompile(`(^|&)page=(\d+)`).FindStringSubmatch(query)
	return page == "" || of == nil && page == "1" || of != nil && of[2] == page
}

// Everything that Gitea sends can be read.
func TestRecorded_reads(t *testing.T) {
	t.Parallel()
	number := regexp.MustCompile(`/(?:pulls|issues)/(\d+)`)
	reads := map[string]func(scm.Repository, int, string) error{}
	read := func(pattern string, do func(scm.Repository, int, string) error) { reads[pattern] = do }
	ctx := t.Context()
	read(`/pulls$`, func(repo scm.Repository, _ int, _ string) error { _, err := repo.PullRequests().Open(ctx); return err })
	read(`/timeline$`, func(repo scm.Repository, n int, _ string) error {
		_, err := repo.(scm.Deletions).HeadDeleted(ctx, n)
		return err
	})
	read(`/reviews$`, func(repo scm.Repository, n int, _ string) error { _, err := repo.Signals().Reviews(ctx, n); return err })
	read(`/pulls/\d+/comments$|/issues/\d+/comments$`, func(repo scm.Repository, n int, _ string) error {
		_, err := repo.Conversation().Comments(ctx, n)
		return err
	})
	read(`/issues/comments$`, func(repo scm.Repository, _ int, _ string) error {
		_, err := repo.Conversation().Recent(ctx, time.Time{}, 10)
		return err
	})
	read(`/branches/[^/]+$`, func(repo scm.Repository, _ int, last string) error {
		_, err := repo.(scm.Ruled).Rules(ctx, last)
		return err
	})
	n := 0
	for file, exchanges := range recorded(t) {
		for _, one := range exchanges {
			if one.Method != http.MethodGet || one.Status != http.StatusOK || !strings.Contains(one.Path, "/repos/") {
				continue
			}
			for pattern, do := range reads {
				if !regexp.MustCompile(pattern).MatchString(one.Path) {
					continue
				}
				var of int
				if found := number.FindStringSubmatch(one.Path); found != nil {
					_, _ = fmt.Sscan(found[1], &of)
				}
				if err := do(replay(t, one), of, one.Path[strings.LastIndex(one.Path, "/")+1:]); err != nil && fault.KindOf(err) != fault.NotFound {
					t.Errorf("%s, exchange %d: %v", file, one.Number, err)
				}
				n++
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d responses were read", n)
	}
}

// at selects exchanges of a file by their numbers.
func at(t *testing.T, file string, numbers ...int) []giteatest.Exchange {
	t.Helper()
	found := slices.DeleteFunc(slices.Clone(recorded(t)[file]), func(one giteatest.Exchange) bool { return !slices.Contains(numbers, one.Number) })
	if len(found) != len(numbers) {
		t.Fatalf("%s has %d of the exchanges %v", file, len(found), numbers)
	}
	return found
}

// deletedWhileLabeled is the name of a file.
const deletedWhileLabeled = "api/timeline-branch-deleted-while-open-labelled"

// Labels, and deleted and restored branches, as Gitea reports them.
func TestRecorded_deletions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		file     string
		exchange int
		number   int
		want     string
	}{
		{deletedWhileLabeled, 3, 4, "04:19:46"},
		{deletedWhileLabeled, 8, 4, "00:00:00"}, // reopened
		{"api/timeline-branch-deleted-by-push", 2, 5, "04:19:52"},
		{"api/timeline-branch-deleted-by-push", 6, 5, "00:00:00"},
		{"api/timeline-label-before-and-after-close", 7, 3, "00:00:00"},
		{"api/timeline-close-then-branch-deleted-then-reused", 4, 6, "00:00:00"}, // it does not report that
	} {
		got := deletedAt(t, replay(t, at(t, test.file, test.exchange)...), test.number)
		if got.Format(time.TimeOnly) != test.want {
			t.Errorf("%s, exchange %d: %s, want %s", test.file, test.exchange, got, test.want)
		}
	}
	// The last entries are on the second page.
	pages := at(t, "api/timeline-longer-than-a-page", 1, 2, 3)
	pages[1].Response = []byte(`[{"id":999,"type":"delete_branch","created_at":"2026-11-22T05:00:00Z"}]`)
	if got := deletedAt(t, replay(t, pages...), 1); got.Format(time.TimeOnly) != "05:00:00" {
		t.Errorf("on the second page: %s", got)
	}
}

// Every refusal of a merge that was recorded.
func TestRecorded_refusedMerges(t *testing.T) {
	t.Parallel()
	behind := func(err error) bool { return errors.Is(err, scm.ErrBehind) }
	wanted := map[string]struct {
		kind   fault.Kind
		behind bool
	}{
		"Changed protected files": {fault.Unauthorized, false}, "Does not have enough approvals": {fault.Unauthorized, false},
		"Not all required status checks successful": {fault.Unauthorized, false}, "Please try again later": {fault.Temporary, false},
		"The head branch is behind the base branch": {fault.Temporary, true}, "There are official review requests": {fault.Unauthorized, false},
		"There are requested changes": {fault.Unauthorized, false}, "User not allowed to merge PR": {fault.Unauthorized, false},
		"Work in progress PRs cannot be merged": {fault.Unauthorized, false}, "wont sign: nokey": {fault.Unauthorized, false},
		"is not allowed an allowed merge style": {fault.Unauthorized, false}, "already scheduled": {fault.Unauthorized, false},
		"head out of date": {fault.Conflict, false}, "is archived": {fault.Unauthorized, false}, `"Style"`: {fault.Temporary, true},
		`405 {"message":"The PR is already merged"`: {fault.Unauthorized, false}, `404 `: {fault.NotFound, false}, `500 {"message":""`: {fault.Temporary, false},
	}
	missing := maps.Clone(wanted)
	for file, exchanges := range recorded(t) {
		for _, one := range exchanges {
			if one.Method != http.MethodPost || !strings.HasSuffix(one.Path, "/merge") || one.Status < http.StatusBadRequest || one.Status == http.StatusUnprocessableEntity {
				continue
			}
			text := fmt.Sprintf("%d %s", one.Status, strings.ReplaceAll(string(one.Response), `": "`, `":"`))
			var number int
			_, _ = fmt.Sscan(strings.Split(one.Path, "/")[7], &number)
			_, err := replay(t, one).PullRequests().Merge(t.Context(), number, scm.Merge{Head: strings.Repeat("1", 40), Base: "main"})
			known := false
			for words, want := range wanted {
				if strings.Contains(text, words) {
					known = true
					delete(missing, words)
					if fault.KindOf(err) != want.kind || behind(err) != want.behind {
						t.Errorf("%s, exchange %d: %s: %v is %q", file, one.Number, text, err, fault.KindOf(err))
					}
				}
			}
			if !known {
				t.Errorf("%s, exchange %d: %s", file, one.Number, text)
			}
		}
	}
	if len(missing) > 0 {
		t.Errorf("not recorded: %v", missing)
	}
}

// In the first second after the first push, what fails is temporary.
func TestRecorded_firstPush(t *testing.T) {
	t.Parallel()
	repo := replay(t, at(t, "api/repository-first-push", 1, 2, 3, 4)...)
	_, err := repo.PullRequests().Open(t.Context())
	want(t, "open pull requests", err, fault.Temporary)
	_, err = repo.PullRequests().Closed(t.Context(), "promoter/prod/web", 5)
	want(t, "closed pull requests", err, fault.Temporary)
	_, err = repo.(scm.Ruled).Rules(t.Context(), "main")
	want(t, "rules", err, fault.Temporary)
}

// The ref of a pull request's head is in a list, and the name of its branch serves again.
func TestRecorded_closedAndItsBranchUsedAgain(t *testing.T) {
	t.Parallel()
	const file = "api/timeline-close-then-branch-deleted-then-reused"
	closed := closedOf(t, replay(t, at(t, file, 4, 9, 10)...), "five")
	if len(closed) != 1 || closed[0].Number != 6 || closed[0].Closer.Login != "bob" || closed[0].Unread != nil {
		t.Errorf("closed: %+v", closed)
	}
}

// Who may push, as accounts with different rights see it. No user who may not push is
// taken for one who may.
func TestRecorded_permissions(t *testing.T) {
	t.Parallel()
	accounts := []string{"ann", "orgowner", "admin2", "writer", "reader", "teamwriter", "teamcode", "teamreader", "teamadmin", "outsider", "gil"}
	for asker, want := range map[string]string{
		"admin-collaborator": "ann orgowner admin2 writer teamwriter? teamcode? teamreader? teamadmin",
		"team-admin":         "ann orgowner admin2 writer teamwriter? teamcode? teamreader? teamadmin",
		"team-writer":        "ann? orgowner? admin2? writer? teamwriter teamcode? teamreader? teamadmin?",
		"write-collaborator": "ann? orgowner? admin2? writer? teamwriter? teamcode? teamreader? teamadmin?",
	} {
		exchanges := slices.Clone(recorded(t)["api/permission-asked-by-"+asker])
		if asker == "team-admin" { // which did not ask for the lists that everyone gets
			exchanges = append(exchanges, at(t, "api/permission-asked-by-admin-collaborator", 16, 19)...)
		}
		if asker == "team-writer" { // it is in the team of teamwriter, whose number is 2
			for _, login := range []string{"bot", "teamwriter"} {
				member := at(t, "api/teams", 6)[0]
				member.Path = "/api/v1/teams/2/members/" + login
				member.Response = bytes.ReplaceAll(member.Response, []byte(`"bob"`), []byte(`"`+login+`"`))
				exchanges = append(exchanges, member)
			}
		}
		repo := replay(t, exchanges...)
		var got []string
		for _, who := range accounts {
			switch may, err := repo.Signals().MayWrite(t.Context(), identity.User{Host: repo.Info().Self.Host, Login: who}); {
			case fault.KindOf(err) == fault.Unauthorized:
				got = append(got, who+"?")
			case err != nil:
				t.Fatal(err)
			case may:
				got = append(got, who)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("asked by %s: %s, want %s", asker, strings.Join(got, " "), want)
		}
	}
	repo := replay(t, recorded(t)["api/permission-personal-repository"]...)
	for who, want := range map[string]bool{"bob": true, "cid": true, "eve": false} {
		if may, err := repo.Signals().MayWrite(t.Context(), identity.User{Host: repo.Info().Self.Host, Login: who}); may != want || err != nil {
			t.Errorf("in a repository of a user, %s may write: %t, %v", who, may, err)
		}
	}
}
