package github

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
)

const (
	pullsPath     = repoPath + "/pulls"
	reviewersPath = repoPath + "/pulls/7/requested_reviewers"
	labelsPath    = repoPath + "/issues/7/labels"
	assigneesPath = repoPath + "/issues/7/assignees"
)

func TestCreate_decorated(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	pulls := w.open().PullRequests()
	w.on("POST "+pullsPath, says(201, pullJSON(7, "")))
	w.on("POST "+labelsPath, says(200, `[{"name":"prod"},{"name":"by a rule"}]`))
	w.on("POST "+assigneesPath, says(201, `{}`))
	w.on("POST "+reviewersPath, says(201, `{}`))
	wanted := draft()
	wanted.Labels, wanted.Assignees = []string{"prod"}, []string{"ann"}
	wanted.Reviewers = []string{"ann", "team:acme/sre", "team:others/sre", "Promoter"}
	got, err := pulls.Create(t.Context(), wanted)
	if err != nil || !cmp.Equal(got.Labels, []string{"prod", "by a rule"}) {
		t.Errorf("got %v, %v", got.Labels, err)
	}
	asked, bodies := w.requests()
	want := []string{"POST " + pullsPath, "POST " + labelsPath, "POST " + assigneesPath, "POST " + reviewersPath}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
	reviewers := map[string]any{"reviewers": []any{"ann"}, "team_reviewers": []any{"sre"}}
	if diff := cmp.Diff(reviewers, decode(t, bodies[3])); diff != "" {
		t.Error(diff)
	}
}

// GitHub rejects all reviewers because of one.
func TestCreate_unknownPeopleAreLeftOut(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	pulls := w.open().PullRequests()
	refuse := says(422, `{"message":"Reviews may only be requested from collaborators."}`)
	w.on("POST "+pullsPath, says(201, pullJSON(7, "")))
	w.on("POST "+assigneesPath, says(422, `{"message":"Validation Failed"}`))
	w.on("POST "+reviewersPath, refuse, refuse, says(201, `{}`))
	wanted := draft()
	wanted.Assignees, wanted.Reviewers = []string{"nobody"}, []string{"nobody", "ann"}
	if _, err := pulls.Create(t.Context(), wanted); err != nil {
		t.Error(err)
	}
	_, bodies := w.requests()
	if want := []string{`{"reviewers":["nobody","ann"]}`, `{"reviewers":["nobody"]}`, `{"reviewers":["ann"]}`}; len(bodies) != 5 || cmp.Diff(want, trimmed(bodies[2:])) != "" {
		t.Errorf("sent %q", bodies)
	}
	wanted.Assignees, wanted.Reviewers = nil, []string{"nobody"}
	w.on("POST "+reviewersPath, refuse)
	if _, err := pulls.Create(t.Context(), wanted); err != nil {
		t.Error(err)
	}
	w.expect("POST "+pullsPath, "POST "+reviewersPath)
}

func trimmed(texts []string) []string {
	cut := make([]string, len(texts))
	for i, text := range texts {
		cut[i] = strings.TrimSpace(text)
	}
	return cut
}

// A failure after the pull request is open is returned along with it.
func TestCreate_openedAllTheSame(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	pulls := w.open().PullRequests()
	w.on("POST "+pullsPath, says(201, pullJSON(7, "")))
	for path, noun := range map[string]string{labelsPath: "labels of", assigneesPath: "assignees of", reviewersPath: "reviewers of"} {
		for _, other := range []string{labelsPath, assigneesPath, reviewersPath} {
			w.on("POST "+other, says(200, map[bool]string{true: `[]`, false: `{}`}[other == labelsPath]))
		}
		w.on("POST "+path, says(403, `{"message":"Resource not accessible"}`))
		wanted := draft()
		wanted.Labels, wanted.Assignees, wanted.Reviewers = []string{"a"}, []string{"ann"}, []string{"ann", "bob"}
		got, err := pulls.Create(t.Context(), wanted)
		checkFault(t, err, fault.Unauthorized, noun+" pull request 7 of acme/deploy")
		if got.Number != 7 {
			t.Errorf("got %+v", got)
		}
	}
}

// The response was lost. The pull request is looked up, and never requested twice.
func TestCreate_lostAnswer(t *testing.T) {
	t.Parallel()
	older := strings.Replace(pullJSON(5, ""), `"title":"T"`, `"title":"Older"`, 1)
	theirs := strings.Replace(pullJSON(6, ""), `"login":"promoter"`, `"login":"ann"`, 1)
	fork := strings.Replace(pullJSON(4, ""), `"repo":{"id":42}},"base"`, `"repo":{"id":43}},"base"`, 1)
	for _, test := range []struct {
		name  string
		found string
		want  int
	}{
		{"opened", "[" + older + "," + theirs + "," + fork + "," + pullJSON(7, "") + "]", 7},
		{"not opened", "[]", 0},
		{"others", "[" + older + "," + theirs + "," + fork + "]", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWire(t)
			pulls := w.open().PullRequests()
			w.on("POST "+pullsPath, breaks)
			w.on("GET "+pullsPath, says(200, test.found))
			got, err := pulls.Create(t.Context(), draft())
			if test.want == 0 {
				checkFault(t, err, fault.Temporary)
			} else if err != nil {
				t.Error(err)
			}
			if got.Number != test.want {
				t.Errorf("got %d, want %d", got.Number, test.want)
			}
			w.expect("POST "+pullsPath, "GET "+pullsPath)
		})
	}
}

func TestCreate_lengths(t *testing.T) {
	t.Parallel()
	for _, sign := range []string{"x", "ä", "🎉"} {
		w := newWire(t)
		pulls := w.open().PullRequests()
		w.on("POST "+pullsPath, says(201, pullJSON(7, "")))
		w.on("POST "+labelsPath, says(200, `[]`))
		wanted := draft()
		wanted.Title, wanted.Body, wanted.Labels = strings.Repeat(sign, 251), strings.Repeat(sign, 65537), []string{strings.Repeat(sign, 51), "a, b: \"c\"/ü"}
		if _, err := pulls.Create(t.Context(), wanted); err != nil {
			t.Fatal(err)
		}
		_, bodies := w.requests()
		sent := decode(t, bodies[0])
		title, body := sent["title"].(string), sent["body"].(string)
		if want := strings.Repeat(sign, 249) + "…"; title != want {
			t.Errorf("the title is %q", title)
		}
		if utf8.RuneCountInString(body) != 65536 || !strings.HasSuffix(body, sign+cutWords) {
			t.Errorf("the body has %d characters and ends with %q", utf8.RuneCountInString(body), body[len(body)-60:])
		}
		if want := fmt.Sprintf(`[%q,"a, b: \"c\"/ü"]`, strings.Repeat(sign, 50)); strings.TrimSpace(bodies[1]) != want {
			t.Errorf("the labels are %s", bodies[1])
		}
	}
	for text, want := range map[string]string{strings.Repeat("ä", 250): strings.Repeat("ä", 250), "": "", "a\xffb": "a\xffb"} {
		if got := cutTitle(text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}
