package github

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

const (
	statusesPath = repoPath + "/commits/" + head + "/statuses"
	runsPath     = repoPath + "/commits/" + head + "/check-runs"
)

func statusJSON(context, state, by string) string {
	return fmt.Sprintf(`{"context":%q,"state":%q,"target_url":"https://ci.example.com/%s","description":"d","creator":{"login":%q},"created_at":"2026-06-01T10:00:00Z"}`, context, state, context, by)
}

func runJSON(id, app int, name, status, conclusion string) string {
	return fmt.Sprintf(`{"id":%d,"app":{"id":%d},"name":%q,"status":%q,"conclusion":%q,"html_url":"https://github.com/r/%d","started_at":"2026-06-01T10:00:00Z"}`, id, app, name, status, conclusion, id)
}

func runsJSON(runs ...string) string {
	return fmt.Sprintf(`{"total_count":%d,"check_runs":[%s]}`, len(runs), strings.Join(runs, ","))
}

func TestChecks_mapStates(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	signals := w.open().Signals()
	w.on("GET "+statusesPath, says(200, "["+strings.Join([]string{
		statusJSON("ci", "success", "robot"), statusJSON("ci", "pending", "robot"), // newest first
		statusJSON("slow", "pending", "robot"), statusJSON("bad", "failure", "robot"), statusJSON("broken", "error", "robot"),
		statusJSON("promoter", "failure", "Promoter"),
	}, ",")+"]"))
	var runs []string
	for i, word := range strings.Fields("success neutral skipped failure cancelled timed_out action_required stale startup_failure one_of_tomorrow") {
		runs = append(runs, runJSON(i+1, 1, word, "completed", word))
	}
	for i, word := range strings.Fields("queued in_progress waiting requested pending") {
		runs = append(runs, runJSON(i+100, 1, word, word, ""))
	}
	w.on("GET "+runsPath, func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("filter") != "latest" || r.URL.Query().Get("per_page") != "100" {
			t.Errorf("asked for %s", r.URL)
		}
		says(200, runsJSON(runs...))(out, r)
	})
	got, err := signals.Checks(t.Context(), head)
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]scm.CheckState{}
	for _, check := range got {
		states[check.Name] = check.State
		if without := slices.Contains(strings.Fields("neutral skipped cancelled stale"), check.Name); check.NoResult != without {
			t.Errorf("%s: no result is %v", check.Name, check.NoResult)
		}
		if own := check.Name == "promoter"; check.Own != own {
			t.Errorf("%s: own is %v", check.Name, check.Own)
		}
	}
	want := map[string]scm.CheckState{"ci": scm.CheckPassed, "slow": scm.CheckPending, "bad": scm.CheckFailed, "broken": scm.CheckFailed, "promoter": scm.CheckFailed}
	for state, words := range map[scm.CheckState]string{
		scm.CheckPassed:  "success neutral skipped",
		scm.CheckFailed:  "failure cancelled timed_out action_required stale startup_failure one_of_tomorrow",
		scm.CheckPending: "queued in_progress waiting requested pending",
	} {
		for word := range strings.FieldsSeq(words) {
			want[word] = state
		}
	}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Error(diff)
	}
	if first := got[0]; first.URL != "https://ci.example.com/ci" || first.Description != "d" || !first.At.Equal(time.Date(2026, 6, 1, 10, 0, 0, 0, time.UTC)) {
		t.Errorf("got %+v", first)
	}
}

func TestChecks_oneNameFromSeveralSources(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	signals := w.open().Signals()
	w.on("GET "+statusesPath, says(200, "["+statusJSON("build", "success", "robot")+","+statusJSON("lint", "failure", "robot")+"]"))
	w.on("GET "+runsPath, says(200, runsJSON(
		runJSON(1, 1, "build", "completed", "failure"), runJSON(2, 1, "build", "completed", "success"), // run again
		runJSON(3, 2, "build", "in_progress", ""), // of another app
		runJSON(5, 1, "test", "completed", "success"), runJSON(4, 1, "test", "completed", "failure"),
		runJSON(6, 1, "lint", "completed", "success"),
	)))
	got, err := signals.Checks(t.Context(), head)
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]scm.CheckState{}
	for _, check := range got {
		states[check.Name] = check.State
	}
	want := map[string]scm.CheckState{"build": scm.CheckPending, "lint": scm.CheckFailed, "test": scm.CheckPassed}
	if diff := cmp.Diff(want, states); diff != "" || len(got) != len(want) {
		t.Error(len(got), diff)
	}
}

// numbered sends the pages of a list of n items.
func numbered(w *wire, path string, n int, thing func(int) string, wrap func([]string) string) http.HandlerFunc {
	return func(out http.ResponseWriter, r *http.Request) {
		page := 1
		_, _ = fmt.Sscan(r.URL.Query().Get("page"), &page)
		var list []string
		for i := (page - 1) * rest.PerPage; i < min(n, page*rest.PerPage); i++ {
			list = append(list, thing(i))
		}
		var headers []string
		if page*rest.PerPage < n {
			headers = append(headers, fmt.Sprintf("Link: <%s%s?page=%d>; rel=\"next\"", w.server.URL, path, page+1))
		}
		says(200, wrap(list), headers...)(out, r)
	}
}

func inList(list []string) string { return "[" + strings.Join(list, ",") + "]" }

func TestSetStatus_onlyWhatChanged(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	path := "POST " + repoPath + "/statuses/" + head
	w.on("GET "+statusesPath, says(200, "["+statusJSON("promoter", "pending", "promoter")+","+statusJSON("other", "pending", "ann")+"]"))
	w.on("GET "+runsPath, says(200, runsJSON()))
	w.on(path, says(201, `{}`))
	same := scm.Status{Context: "promoter", State: scm.CheckPending, Description: "d", URL: "https://ci.example.com/promoter"}
	long := same
	long.Description = strings.Repeat("ä", 200)
	theirs := scm.Status{Context: "other", State: scm.CheckPending, Description: "d", URL: "https://ci.example.com/other"}
	signals := w.open().Signals()
	for _, test := range []struct {
		status scm.Status
		want   []string
	}{
		{same, []string{"GET " + statusesPath}},
		{same, nil},
		{long, []string{path}},
		{long, nil},
		{same, []string{path}},
		{theirs, []string{path}}, // another user set the same status
	} {
		if err := signals.SetStatus(t.Context(), head, test.status); err != nil {
			t.Error(err)
		}
		asked, bodies := w.requests()
		if !slices.Equal(test.want, asked) {
			t.Errorf("%+v: asked %v, want %v", test.status, asked, test.want)
		}
		if test.status == long && len(asked) == 1 {
			sent := decode(t, bodies[0])
			if text := sent["description"].(string); len([]rune(text)) != 140 || !strings.HasSuffix(text, "ä…") || sent["state"] != "pending" {
				t.Errorf("sent %s", bodies[0])
			}
		}
	}
	// What Checks has read is not requested again.
	signals = w.open().Signals()
	if _, err := signals.Checks(t.Context(), head); err != nil {
		t.Fatal(err)
	}
	w.requests()
	if err := signals.SetStatus(t.Context(), head, same); err != nil {
		t.Error(err)
	}
	w.expect()
	checkFault(t, signals.SetStatus(t.Context(), "main", same), fault.Invalid, "hex")
	_, err := signals.Checks(t.Context(), "main/../../user")
	checkFault(t, err, fault.Invalid, "hex")
}
