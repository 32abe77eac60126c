package gitea

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/fault"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status int
		words  string
		kind   fault.Kind
		want   string
	}{
		{401, "invalid username, password or token", fault.Unauthorized, "revoked"},
		{403, "token does not have at least one of required scope(s): [write:repository]", fault.Unauthorized, "scopes of docs/gitea.md"},
		{403, "", fault.Unauthorized, "Forbidden: the account may not do this here"},
		{403, "cannot lock ref 'refs/heads/x'", fault.Conflict, "cannot lock ref"},
		{404, "The target couldn't be found.", fault.NotFound, "couldn't be found"},
		{405, "x", fault.Unauthorized, "x"},
		{409, "x", fault.Conflict, "x"},
		{412, "it was already merged", fault.Conflict, "merged"},
		{413, "x", fault.Invalid, "x"},
		{422, "x", fault.Invalid, "x"},
		{423, "<Repository 1:a/b> is archived", fault.Unauthorized, "archived repository is read-only"},
		{408, "x", fault.Temporary, "x"},
		{500, "unknown API error: 500\nRequest: '/x' with 'GET' method and '<html>' body", fault.Temporary, "Internal Server Error"},
		{502, "", fault.Temporary, "Bad Gateway"},
	} {
		resp := &sdk.Response{Response: &http.Response{StatusCode: test.status}}
		err := explain("thing", answered(resp, errors.New(test.words)))
		if got := fault.KindOf(err); got != test.kind || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "thing: Gitea answered") {
			t.Errorf("%d %q: %q: %v", test.status, test.words, got, err)
		}
		if statusOf(err) != test.status {
			t.Errorf("%d became %d", test.status, statusOf(err))
		}
	}
	if answered(nil, nil) != nil || answered(&sdk.Response{}, nil) != nil {
		t.Error("nothing became an error")
	}
	cause := errors.New("cause")
	if got := answered(&sdk.Response{Response: &http.Response{StatusCode: http.StatusOK}}, cause); !errors.Is(got, cause) {
		t.Errorf("a broken answer became %v", got)
	}
}

func FuzzWordsIn(f *testing.F) {
	for _, body := range []string{`{"message":"no"}`, `{"Style":"merge"}`, "", "<html>", `{"message":"a\nb"}`, `[]`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		words := wordsIn(http.StatusConflict, body)
		if strings.ContainsAny(words, "\r\n") || len(words) > 8192 || utf8.Valid(body) && !utf8.ValidString(words) {
			t.Fatalf("%q became %q", body, words)
		}
	})
}

func TestMore(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		total, link     string
		next, seen, got int
		want            bool
	}{
		{"", "", 0, 0, 0, false},
		{"60", "", 0, 50, 50, true},
		{"60", "", 0, 60, 10, false},
		{"60", "", 0, 20, 20, true}, // a server with small pages
		{"", `<x>; rel="next"`, 2, 20, 20, true},
		{"", `<x>; rel="prev"`, 0, 40, 20, false},
		{"", "", 0, 50, 50, true},    // a proxy removes the headers
		{"", "", 0, 105, 105, false}, // no pagination
		{"", "", 0, 7, 7, false},
	} {
		resp := &sdk.Response{Response: &http.Response{Header: http.Header{}}, NextPage: test.next}
		if test.total != "" {
			resp.Header.Set("X-Total-Count", test.total)
		}
		if test.link != "" {
			resp.Header.Set("Link", test.link)
		}
		if got := more(resp, test.seen, test.got); got != test.want {
			t.Errorf("%s: more: %t", fmt.Sprint(test), got)
		}
	}
}
