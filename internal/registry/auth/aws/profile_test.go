package aws

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseProfiles(t *testing.T) {
	t.Parallel()
	all := map[string]profile{}
	parseProfiles(all, "; c\n[profile  a b ]\r\nX = 1\n\tx = 2\ns3 =\n  y = 3\n[sso-session z]\nx = 9\n[default] # mine\nx=a=b ; c\n[profile \"q\"]\nx=1\n[a b]\nx=8\nno key\n", true)
	parseProfiles(all, "[a b]\nx=4\n[profile c]\nx=5\n[open\nx=6\n", false)
	want := map[string]profile{
		"a b":     {"name": "a b", "x": "4", "s3": ""},
		"default": {"name": "default", "x": "a=b"},
		"q":       {"name": "q", "x": "1"},
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Error(diff)
	}
}

func FuzzParseProfiles(f *testing.F) {
	f.Add("[profile a]\nrole_arn = x # y\n  nested = 1\n", true)
	f.Add("[a]\nk=v\n[", false)
	f.Fuzz(func(t *testing.T, text string, config bool) {
		all := map[string]profile{}
		parseProfiles(all, text, config)
		again := map[string]profile{}
		parseProfiles(again, text, config)
		if diff := cmp.Diff(all, again); diff != "" {
			t.Errorf("read twice: %s", diff)
		}
		for name, p := range all {
			if p["name"] == "" && name != "" && !strings.Contains(text, "name") {
				t.Errorf("the profile %q has no name", name)
			}
			for key, value := range p {
				if strings.ContainsAny(key+value, "\n") || key != strings.ToLower(key) || value != strings.TrimSpace(value) {
					t.Errorf("%q = %q", key, value)
				}
			}
		}
	})
}
