package view_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/access"
	"promoter/internal/fault"
	"promoter/internal/store"
	"promoter/internal/view"
)

func release(tag, hex, revision string) store.EventVersion {
	return store.EventVersion{Component: "cart", Repository: "quay.io/acme/cart", Tag: tag, Digest: "sha256:" + strings.Repeat(hex, 64), Revision: strings.Repeat(revision, 40)}
}

// onItsWay has 1.6 in dev, open in staging, and waiting for it in prod, where 1.5 replaced 1.4.
func onItsWay(t *testing.T) *view.View {
	t.Helper()
	first, second, third := release("1.4", "a", "1"), release("1.5", "b", "2"), release("1.6", "c", "3")
	opened, proposed := second, third
	opened.SourcePullRequests = []string{"github.com/Acme/web#12", "github.com/acme/web#13"}
	proposed.SourcePullRequests = []string{"gitlab.com/acme/shop/web#12"}
	landed := func(environment, commit string, hours int, version store.EventVersion) store.Event {
		return store.Event{
			At: noon.Add(time.Duration(hours) * time.Hour), Environment: environment, Application: "cart", Action: store.EventLanded,
			Commit: strings.Repeat(commit, 40), Versions: []store.EventVersion{version},
		}
	}
	return filled(t, map[string]repository{"github.com/acme/shop": {
		targets: []store.Target{
			{Environment: "dev", Application: "cart", State: "same", Current: []store.EventVersion{third}, Wanted: []store.EventVersion{third}},
			{Environment: "staging", Application: "cart", State: "proposed", Number: 8, URL: "https://x/8", Current: []store.EventVersion{second}, Wanted: []store.EventVersion{proposed}},
			{
				Environment: "prod", Application: "cart", State: "waiting", Rule: "condition", Message: "staging soak", Until: noon,
				Current: []store.EventVersion{second}, Wanted: []store.EventVersion{third},
			},
		},
		events: []store.Event{
			landed("dev", "d", 9, third), landed("staging", "e", 5, second), landed("prod", "f", 1, first), landed("prod", "9", 7, second),
			{At: noon.Add(6 * time.Hour), Environment: "prod", Application: "cart", Action: store.EventOpened, Number: 4, Snapshot: "other", Versions: []store.EventVersion{opened}},
		},
	}})
}

func whereLines(found view.Where) string {
	var b strings.Builder
	for _, version := range found.Versions {
		fmt.Fprintf(&b, "%s %s %.1s:", version.Component, version.Version, version.Revision)
		for _, place := range version.Places {
			fmt.Fprintf(&b, " | %s %s", place.Environment, place.State)
			if !place.Since.IsZero() {
				fmt.Fprintf(&b, " +%s", place.Since.Sub(noon))
			}
			if !place.Until.IsZero() {
				fmt.Fprintf(&b, " -%s", place.Until.Sub(noon))
			}
			if place.Has != "" {
				b.WriteString(" has " + place.Has)
			}
			if place.PullRequest != nil {
				fmt.Fprintf(&b, " #%d", place.PullRequest.Number)
			}
			if place.Reason != nil {
				b.WriteString(" " + place.Reason.Message)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestWhere(t *testing.T) {
	t.Parallel()
	v := onItsWay(t)
	const (
		old   = "cart 1.4 1: | dev not there has 1.6 | staging not there has 1.5 | prod was there +1h0m0s -7h0m0s has 1.5\n"
		now   = "cart 1.5 2: | dev not there has 1.6 | staging there +5h0m0s | prod there +7h0m0s\n"
		newer = "cart 1.6 3: | dev there +9h0m0s | staging open has 1.5 #8 | prod waiting has 1.5 staging soak\n"
	)
	for text, want := range map[string]string{
		"1.4": old, "1.5": now, "V1.6": "", "v1.6": "", " 1.6 ": newer,
		"quay.io/acme/cart:1.6": newer, "quay.io/acme/other:1.6": "",
		"sha256:" + strings.Repeat("c", 64): newer, "quay.io/acme/cart:1.6@sha256:" + strings.Repeat("c", 64): newer,
		strings.Repeat("c", 7): newer, strings.Repeat("c", 6): "", strings.Repeat("3", 12): newer, strings.Repeat("2", 40): now,
		strings.Repeat("f", 8): old, strings.Repeat("9", 7): now,
		"#12": newer + now, "#13": now, "#1": "", "acme/web#12": now, "ACME/shop/web#12": newer, "acme/shop/web!12": newer, "eb#12": "",
		"github.com/acme/web#13": now, "https://github.com/acme/web/pull/13": now, "https://github.com/Acme/web/pull/12/files": now,
		"https://gitlab.com/acme/shop/web/-/merge_requests/12#note_1": newer, "https://gitlab.com/acme/web/-/merge_requests/12": "",
		"https://github.com/acme/web/issues/13": "",
		"1.":                                    "", "%%": "", "cart": "", `"tag"`: "",
	} {
		found, err := v.Where(t.Context(), all, text)
		if diff := cmp.Diff(want, whereLines(found)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", text, err, diff)
		}
	}
}

func TestWhere_withinAScope(t *testing.T) {
	t.Parallel()
	v := onItsWay(t)
	dev := access.Principal{Roles: all.Roles, Scope: access.Scope{Environments: []string{"dev"}}}
	if found, err := v.Where(t.Context(), dev, "1.6"); err != nil || whereLines(found) != "cart 1.6 3: | dev there +9h0m0s\n" {
		t.Errorf("%v, %v", found, err)
	}
	if found, err := v.Where(t.Context(), dev, "1.5"); err != nil || len(found.Versions) > 0 {
		t.Errorf("a version of other environments: %v, %v", found, err)
	}
	other := access.Principal{Roles: all.Roles, Scope: access.Scope{Repositories: []string{"github.com/other/*"}}}
	if found, err := v.Where(t.Context(), other, "1.6"); err != nil || len(found.Versions) > 0 {
		t.Errorf("another repository: %v, %v", found, err)
	}
	for _, text := range []string{"", "x", strings.Repeat("x", 301)} {
		if _, err := v.Where(t.Context(), all, text); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v", text, err)
		}
	}
}
