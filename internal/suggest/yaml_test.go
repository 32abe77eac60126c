package suggest

import (
	"testing"

	"go.yaml.in/yaml/v3"

	"promoter/internal/image"
)

func TestQuote(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"web":                    "web",
		"quay.io/acme/web":       "quay.io/acme/web",
		"localhost:5000/web":     "localhost:5000/web",
		"oci://quay.io/acme/web": "oci://quay.io/acme/web",
		"no":                     "'no'",
		"null":                   "'null'",
		"7":                      "'7'",
		"1e3":                    "'1e3'",
		"123/web":                "'123/web'",
		"[::1]:5000/web":         "'[::1]:5000/web'",
		"it's":                   "'it''s'",
		"a: b":                   "'a: b'",
		"a #b":                   "'a #b'",
		"a:":                     "'a:'",
		"":                       "''",
	} {
		if got := quote(text); got != want {
			t.Errorf("quote(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestFormatSelection_canBeRead(t *testing.T) {
	t.Parallel()
	for _, want := range []image.Selection{
		{Semver: ">=1.2.0-0 <2-0"},
		{Semver: ">=1.2 <2", Filter: `^web-v?(?P<version>[0-9]+(\.[0-9]+){1,2})$`},
		{Tag: "1.10"},
		{Tag: "latest"},
		{Newest: `^it's-[0-9a-f]{7,}$`},
		{Numeric: `^[0-9]+$`},
		{Alphabetical: `^[0-9]{4}-[0-9]{2}-[0-9]{2}$`},
	} {
		var got struct{ Semver, Tag, Newest, Numeric, Alphabetical, Filter string }
		if err := yaml.Unmarshal([]byte(formatSelection(want)), &got); err != nil {
			t.Errorf("%+v: %v", want, err)
		}
		back := image.Selection{
			Semver: got.Semver, Tag: got.Tag, Newest: got.Newest, Numeric: got.Numeric, Alphabetical: got.Alphabetical, Filter: got.Filter,
		}
		if !equalSelections(back, want) {
			t.Errorf("%s is read as %+v", formatSelection(want), back)
		}
	}
}

// FuzzQuote: what can be printed is read back as the same text, alone and in a
// list.
func FuzzQuote(f *testing.F) {
	for _, seed := range []string{"web", "no", "1e3", "it's", "a: b", "- a", "&a", "{a}", "a,b", "0x1F", "2024-01-01", "é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !isPrintable(text) {
			return
		}
		var got struct {
			One  any
			List []any
		}
		if err := yaml.Unmarshal([]byte("one: "+quote(text)+"\nlist: "+quoteList([]string{text, text})), &got); err != nil {
			t.Fatalf("%q is written as %s: %v", text, quote(text), err)
		}
		if got.One != any(text) || len(got.List) != 2 || got.List[1] != any(text) {
			t.Errorf("%q is read as %v and %v", text, got.One, got.List)
		}
	})
}
