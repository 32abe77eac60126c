package suggest

import (
	"testing"

	"promoter/internal/config/field"
)

func TestMatchSegment(t *testing.T) {
	t.Parallel()
	tests := []struct {
		segment            string
		isFile             bool
		name, region, app  string
		before, after, key string
	}{
		{segment: "dev", name: "dev"},
		{segment: "Production", name: "production"},
		{segment: "prod-eu", name: "prod-eu", region: "eu"},
		{segment: "eu-prod", name: "eu-prod", region: "eu"},
		{segment: "prod_us_east_1", name: "prod-us-east-1", region: "us-east-1"},
		{segment: "prod2", name: "prod2", region: "2"},
		{segment: "pre-prod", name: "pre-prod"},
		{segment: "web-dev", name: "dev", app: "web", before: "web-"},
		{segment: "dev-web", name: "dev", app: "web", after: "-web"},
		{segment: "web-eu-prod", name: "eu-prod", region: "eu", app: "web", before: "web-"},
		{segment: "service-a-dev", name: "dev", app: "service-a", before: "service-a-"},
		{segment: "integration-service-prod", name: "prod", app: "integration-service", before: "integration-service-"},
		{segment: "values-dev.yaml", isFile: true, name: "dev", before: "values-", after: ".yaml"},
		{segment: "values.prod.yaml", isFile: true, name: "prod", before: "values.", after: ".yaml"},
		{segment: "dev.sops.yaml", isFile: true, name: "dev", after: ".sops.yaml"},
		{segment: "web.dev.yml", isFile: true, name: "dev", app: "web", before: "web.", after: ".yml"},
		{segment: "prod-values.yaml", isFile: true, name: "prod", after: "-values.yaml"},
		{segment: "dev-prod"},       // two words
		{segment: "my-prod-things"}, // a name on both sides
		{segment: "developer"},
		{segment: "web"},
		{segment: ""},
		{segment: ".yaml", isFile: true},
	}
	for _, test := range tests {
		t.Run(test.segment, func(t *testing.T) {
			t.Parallel()
			got, ok := matchSegment(test.segment, test.isFile)
			if ok != (test.name != "") {
				t.Fatalf("found: %t, %+v", ok, got)
			}
			if ok && (got.name != test.name || got.region != test.region || got.app != test.app || got.before != test.before || got.after != test.after) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestIsRegion(t *testing.T) {
	t.Parallel()
	for segment, want := range map[string]bool{"eu": true, "eu-west-1": true, "us_east": true, "westeurope": true, "web": false, "1": false, "k8s": false, "": false} {
		if isRegion(segment) != want {
			t.Errorf("isRegion(%q) = %t", segment, !want)
		}
	}
}

// FuzzMatchSegment checks that the name is valid and that the segment consists of
// the parts.
func FuzzMatchSegment(f *testing.F) {
	for _, seed := range []string{"prod-eu", "web-dev.yaml", "pre_prod2", "a-b-c-dev-1", "-dev-", "dev..yaml"} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, segment string, isFile bool) {
		s, ok := matchSegment(segment, isFile)
		if !ok {
			return
		}
		if !field.ValidName(s.name) {
			t.Errorf("%q is not the name of an environment", s.name)
		}
		spelled := segment[len(s.before) : len(segment)-len(s.after)]
		if again := s.replace(spelled, s.app); again != segment {
			t.Errorf("%q is written as %q", segment, again)
		}
	})
}
