package snapshot_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/snapshot"
)

const resource = `{"apiVersion":"appstudio.redhat.com/v1alpha1","kind":"Snapshot","metadata":{"name":"shop-x7k2p","uid":"u-1"},` +
	`"spec":{"application":"shop","displayName":"Shop","displayDescription":"build 7",` +
	`"components":[{"name":"web","containerImage":"quay.io/acme/web:1"},{"name":"api","containerImage":"quay.io/acme/api:2"}],` +
	`"artifacts":{"unstableFields":{"a":1}}}}`

const plain = `{"name":"shop-7","description":"build 7","repository":"github.com/acme/deploy","application":"shop",` +
	`"components":{"api":"quay.io/acme/api:2","web":"quay.io/acme/web:1"},"artifacts":[1]}`

func encoded(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What is read in a form is written in the same form, and in the other one.
func TestParse(t *testing.T) {
	t.Parallel()
	of := func(text string) snapshot.Snapshot {
		s, err := snapshot.Parse([]byte(text))
		if err != nil || s.Check() != nil {
			t.Fatalf("%v, %v", err, s.Check())
		}
		return s
	}
	if diff := cmp.Diff(resource, encoded(t, of(resource).Resource())); diff != "" {
		t.Errorf("resource (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(plain, encoded(t, of(plain).Plain())); diff != "" {
		t.Errorf("plain (-want +got):\n%s", diff)
	}
	if got := encoded(t, of(plain).Resource()); !strings.Contains(got, `"artifacts":{"unstableFields":[1]}`) {
		t.Errorf("plain as a resource: %s", got)
	}
	if !of(plain).Same(of(resource)) {
		t.Error("the order of components makes a difference")
	}
}

func TestParse_refused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{}`:                                  "no kind",
		`[1]`:                                 "all of it must not be of the type array",
		`{`:                                   "is not JSON",
		`{"kind":"Release"}`:                  "it is no Snapshot",
		`{"kind":"Snapshot"}`:                 `its apiVersion is "" instead of "appstudio.redhat.com/v1alpha1"`,
		`{"components":["quay.io/acme/web"]}`: "components must not be of the type array",
	} {
		if _, err := snapshot.Parse([]byte(text)); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	one := []snapshot.Component{{Name: "web", Image: "quay.io/acme/web:1"}}
	long := strings.Repeat("x", 70_000)
	for want, s := range map[string]snapshot.Snapshot{
		"is not valid":              {Name: "../a", Components: one},
		"no components":             {Name: "a"},
		"more than 100":             {Name: "a", Components: make([]snapshot.Component, 101)},
		"larger than 64 KiB":        {Name: "a", Components: one, Artifacts: json.RawMessage(`"` + long + `"`)},
		"its description is longer": {Name: "a", Components: one, Description: long},
		"not UTF-8":                 {Name: "a", Components: one, UID: "\xff"},
		"too long":                  {Name: "a", Components: []snapshot.Component{{Name: "web", Image: long}}},
		"its application is longer": {Name: "a", Components: one, Application: long},
	} {
		if err := s.Check(); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A snapshot without a name has one by its images.
func TestNamed(t *testing.T) {
	t.Parallel()
	a := snapshot.Snapshot{Components: []snapshot.Component{{Name: "web", Image: "quay.io/acme/web:1"}}}.Named()
	b := snapshot.Snapshot{Components: []snapshot.Component{{Name: "web", Image: "quay.io/acme/web:2"}}}.Named()
	if a.Name == b.Name || a.Check() != nil || a.Named().Name != a.Name {
		t.Errorf("%q and %q, %v", a.Name, b.Name, a.Check())
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(resource))
	f.Add([]byte(plain))
	f.Fuzz(func(t *testing.T, body []byte) {
		s, err := snapshot.Parse(body)
		if err != nil {
			return
		}
		if s = s.Named(); s.Check() == nil {
			for _, form := range []any{s.Plain(), s.Resource()} {
				if _, err := json.Marshal(form); err != nil {
					t.Errorf("%q: %v", body, err)
				}
			}
		}
	})
}
