package registry

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"promoter/internal/budget"
	"promoter/internal/image"
)

// The requests, bytes, tags, and expressions of a repository are charged to its budget,
// and the error names the host or the image.
func TestBudget_stopsARepositoryThatUsesTooMuch(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		limits budget.Limits
		want   string
	}{
		"requests":    {budget.Limits{budget.Requests: {Each: 3}}, "more than 3 requests to registries for HOST"},
		"bytes":       {budget.Limits{budget.Received: {Total: 500}}, "more than 500 bytes from registries; most: HOST ("},
		"tags":        {budget.Limits{budget.Tags: {Each: 100}}, "more than 100 bytes of tags for HOST/acme/web"},
		"expressions": {budget.Limits{budget.Matching: {Total: 1000}}, "more than 1000 steps of regular expressions; most: HOST/acme/web ("},
		"nothing":     {budget.Defaults(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			for i := range 60 {
				f.push(t, "acme/web", built{created: day(1)}, fmt.Sprintf("1.0.%d", i))
			}
			c := newClient(t, Options{Limits: Limits{PageSize: 10}})
			policy := mustPolicy(t, image.Selection{Semver: ">=1", Exclude: []string{"rc[0-9]{1,50}$"}})
			ctx := budget.With(t.Context(), budget.New(test.limits))
			selected, err := c.For("a/1").Select(ctx, Request{Repository: f.repository(t, "acme/web"), Policy: policy})
			want := strings.ReplaceAll(test.want, "HOST", f.host)
			if want == "" && (err != nil || selected.Version.Tag != "1.0.59") {
				t.Errorf("%+v, %v", selected, err)
			}
			if want != "" && (!errors.Is(err, budget.ErrExceeded) || !strings.Contains(err.Error(), want)) {
				t.Errorf("error %v, want %s", err, want)
			}
		})
	}
}

// One repository over its budget must not fail another one that needs the same image in
// the same batch. What was read of a long list is not read again.
func TestBudget_isNotSharedWithOtherRepositories(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for i := range 60 {
		f.push(t, "acme/web", built{created: day(1)}, fmt.Sprintf("1.0.%d", i))
	}
	batch := newClient(t, Options{Limits: Limits{PageSize: 10}}).Batch()
	request := Request{Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Semver: ">=1"})}
	ctx := budget.With(t.Context(), budget.New(budget.Limits{budget.Requests: {Each: 4}}))
	if _, err := batch.For("a/1").Select(ctx, request); !errors.Is(err, budget.ErrExceeded) {
		t.Fatalf("the first: %v", err)
	}
	f.reset()
	selected, err := batch.For("a/2").Select(t.Context(), request)
	if err != nil || selected.Version.Tag != "1.0.59" {
		t.Errorf("the second: %+v, %v", selected, err)
	}
	if pages := f.count("tags/list"); pages >= 6 {
		t.Errorf("%d pages were read again", pages)
	}
}
