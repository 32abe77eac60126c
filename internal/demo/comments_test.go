package demo

import (
	"net/http"
	"testing"
)

func TestCommentsArePutTogetherOnlyWhereTheyAreNotListed(t *testing.T) {
	t.Parallel()
	const list, reactions = "/repos/ann/r/issues/comments", "/repos/ann/r/issues/comments/2/reactions"
	for _, lacking := range []bool{true, false} {
		forge := canned{
			"GET /pulls":             `[{"number":1},{"number":2}]`,
			"GET /issues/1/comments": `[{"id":1,"updated_at":"2026-06-01T10:00:00.5Z"},{"id":3,"updated_at":"2026-06-01T12:00:00Z"}]`,
			"GET /issues/2/comments": `[{"id":2,"updated_at":"2026-06-01T11:00:00Z","html_url":"elsewhere"}]`,
		}
		if !lacking {
			forge["GET /issues/comments"] = `[]`
		}
		ann := annAt(t, forge)
		g := &github{promoter: ann, path: "/repos/ann/r", comments: &comments{forge: ann, reactions: map[string][]string{}}}
		if err := g.lookForComments(t.Context()); err != nil || g.comments.needed.Load() != lacking {
			t.Fatalf("lacking %t: %t, %v", lacking, g.comments.needed.Load(), err)
		}
		handed := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
		seen := annAt(t, g.comments.before(handed))
		if err := seen.ask(t.Context(), "PATCH", list+"/2", body{}, nil); err == nil {
			t.Error("edits are not handed on")
		}
		var said []struct {
			ID    int
			Issue string `json:"issue_url"`
			Page  string `json:"html_url"`
		}
		err := seen.ask(t.Context(), "GET", list+"?since=2026-06-01T11:00:00Z&page=1", nil, &said)
		if !lacking {
			wantError(t, "handed on", err, "with 418")
			continue
		}
		if err != nil || len(said) != 2 || said[0].ID != 2 || said[1].ID != 3 ||
			said[0].Issue != ann.api+"/repos/ann/r/issues/2" || said[0].Page != ann.api+"/ann/r/pull/2" {
			t.Errorf("said %+v, %v", said, err)
		}
		if err := seen.ask(t.Context(), "GET", list+"?page=2", nil, &said); err != nil || len(said) != 0 {
			t.Errorf("a second page: %+v, %v", said, err)
		}
		for range 2 {
			if err := seen.ask(t.Context(), "POST", reactions, body{"content": "+1"}, nil); err != nil {
				t.Error(err)
			}
		}
		if got := g.comments.reactions["2"]; len(got) != 1 || got[0] != "+1" {
			t.Errorf("reactions %v", got)
		}
		forge["GET /issues/2/comments"] = `[{"id":2}]`
		wantError(t, "no time", seen.ask(t.Context(), "GET", list, nil, nil), "with 502")
	}
}
