package render

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/checkout"
	"promoter/internal/outbound"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/repo"
)

// A host that cannot be reached has one line, whatever fails because of it. Other errors
// keep theirs.
func TestPrintFailures_oneLinePerUnreachableHost(t *testing.T) {
	t.Parallel()
	host, down := unreachable(t)
	broken := errors.New("tags of acme/web: 404 Not Found")
	report := outcome.Report{Errors: []repo.PartialError{{What: "component web", Err: broken}}}
	var preview checkout.Preview
	for i := range 60 {
		name := fmt.Sprintf("app-%d", i)
		report.Errors = append(report.Errors,
			repo.PartialError{What: "component " + name, Err: fmt.Errorf("tags of acme/%s: %w", name, down)},
			repo.PartialError{What: "component " + name, Err: down}) // once more in the same reconciliation
		preview.Errors = append(preview.Errors, checkout.ComponentError{Component: name, Err: down})
	}
	one := app.Result{Repository: "acme/one", Report: report}
	for _, test := range []struct {
		name    string
		results []app.Result
		want    string
	}{
		{"one repository", []app.Result{one}, "promoter: acme/one: HOST cannot be reached, which affects 60 components: CAUSE\npromoter: acme/one: component web: tags of acme/web: 404 Not Found\n"},
		{
			"several",
			[]app.Result{one, {Repository: "acme/two", Report: outcome.Report{Errors: report.Errors[1:3]}}},
			"promoter: HOST cannot be reached, which affects 61 components in 2 repositories: CAUSE\npromoter: acme/one: component web: tags of acme/web: 404 Not Found\n",
		},
		{"a forge", []app.Result{{Repository: "acme/one", Err: down}, {Repository: "acme/two", Err: down}}, "promoter: HOST cannot be reached, which affects 2 repositories: CAUSE\n"},
		{"one part", []app.Result{{Repository: "acme/one", Report: outcome.Report{Errors: report.Errors[1:2]}}}, "promoter: acme/one: component app-0: tags of acme/app-0: CAUSE\n"},
	} {
		var out bytes.Buffer
		PrintFailures(&out, test.results, "json")
		if got := masked(out.String(), host); got != test.want {
			t.Errorf("%s: printed\n%swant\n%s", test.name, got, test.want)
		}
	}
	var out bytes.Buffer
	PrintPreviewErrors(&out, &preview, "diff")
	if got, want := masked(out.String(), host), "promoter: HOST cannot be reached, which affects 60 components: CAUSE\n"; got != want {
		t.Errorf("plan printed\n%swant\n%s", got, want)
	}
	if n := len(ReportJSON([]app.Result{one}, nil).Repositories[0].Errors); n != 121 {
		t.Errorf("the JSON has %d errors", n)
	}
}

// unreachable returns a host that accepts no connection, and the error of a request.
func unreachable(t *testing.T) (host string, err error) {
	t.Helper()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	client, err := outbound.New(outbound.Options{Attempts: 1, AllowLoopback: true, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.RoundTrip(request)
	if err == nil {
		_ = response.Body.Close()
		t.Fatal("there is a response")
	}
	return request.URL.Host, err
}

func masked(text, host string) string {
	_, cause, _ := strings.Cut(text, ": dial tcp ")
	cause, _, _ = strings.Cut(cause, "\n")
	return strings.ReplaceAll(strings.ReplaceAll(text, "dial tcp "+cause, "CAUSE"), host, "HOST")
}
