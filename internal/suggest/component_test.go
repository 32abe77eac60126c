package suggest_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/suggest"
)

// named returns the components as NAME=REPOSITORY, those that are off in
// brackets.
func named(s *suggest.Suggestion) []string {
	var out []string
	for _, c := range s.Components {
		text := c.Name + "=" + c.Repository.String()
		if c.Off != "" {
			text = "(" + text + ")"
		}
		out = append(out, text)
	}
	return out
}

func TestConfig_componentNames(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, references string
		want             []string
	}{
		{"by the last segment", "a.io/x/web:1.0.0 a.io/y/api:1.0.0", []string{"api=a.io/y/api", "web=a.io/x/web"}},
		{
			"longer where two are called alike", "a.io/x/web:1.0.0 a.io/y/web:1.0.0 b.io/x/api:1.0.0",
			[]string{"api=b.io/x/api", "x-web=a.io/x/web", "y-web=a.io/y/web"},
		},
		{
			"with the host where the paths are alike", "a.io/x/web:1.0.0 b.io/x/web:1.0.0",
			[]string{"a-web=a.io/x/web", "b-web=b.io/x/web"},
		},
		{"as a valid name", "a.io/x/my_app.v2:1.0.0", []string{"my-app-v2=a.io/x/my_app.v2"}},
		{
			"with what tells them apart", "gcr.io/acme/a/web:1.0.0 quay.io/acme/a/web:1.0.0",
			[]string{"gcr-web=gcr.io/acme/a/web", "quay-web=quay.io/acme/a/web"},
		},
		{
			"cut where they are too long", "a.io/x/" + strings.Repeat("a", 41) + ":1.0.0 b.io/x/" + strings.Repeat("a", 41) + ":1.0.0",
			[]string{strings.Repeat("a", 33) + "=a.io/x/" + strings.Repeat("a", 41), strings.Repeat("a", 33) + "-2=b.io/x/" + strings.Repeat("a", 41)},
		},
		{
			"common images are off beside your own", "a.io/x/web:1.0.0 redis:7 registry.k8s.io/pause:3.9",
			[]string{"(pause=registry.k8s.io/pause)", "(redis=docker.io/library/redis)", "web=a.io/x/web"},
		},
		{"common images alone are on", "redis:7.2.1", []string{"redis=docker.io/library/redis"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := suggestion(t, found(t, "dev/d.yaml "+test.references))
			if diff := gocmp.Diff(test.want, named(s)); diff != "" {
				t.Errorf("components (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConfig_chartBesideItsImage(t *testing.T) {
	t.Parallel()
	tree := found(t, "dev/a.yaml quay.io/acme/web:1.0.0", "dev/b.yaml quay.io/charts/web:6.1.0")
	tree.References[1].Shape = "oci-repository"
	s := suggestion(t, tree)
	if diff := gocmp.Diff([]string{"web=quay.io/acme/web", "web-chart=quay.io/charts/web"}, named(s)); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
	if !strings.Contains(s.Text, "chart: oci://quay.io/charts/web\n") {
		t.Errorf("the chart is not written as one:\n%s", s.Text)
	}
}

func TestConfig_pins(t *testing.T) {
	t.Parallel()
	const digest = "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	tests := []struct {
		name, reference string
		want            image.Pin
		offered, warned bool
	}{
		{"a tag only: both are offered", "a.io/x/web:1.0.0", "", true, true},
		{"tag and digest: as it is", "a.io/x/web:1.0.0" + digest, "", false, false},
		{"a digest only stays one", "a.io/x/web" + digest, image.PinDigest, false, false},
		{"a moving tag needs the digest", "a.io/x/web:latest", image.PinTagDigest, false, false},
		{"a moving tag that has it", "a.io/x/web:latest" + digest, "", false, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := suggestion(t, found(t, "dev/d.yaml "+test.reference))
			if s.Components[0].Pin != test.want || strings.Contains(s.Text, "#pin: tag+digest") != test.offered {
				t.Errorf("pin %q\n%s", s.Components[0].Pin, s.Text)
			}
			warned := slices.ContainsFunc(s.Guesses, func(g suggest.Guess) bool { return g.Kind == suggest.GuessTagOnly })
			if warned != test.warned {
				t.Errorf("guesses: %v", s.Guesses)
			}
		})
	}
}

func TestConfig_guesses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		tree []string
		want []string // beginnings, with the files
	}{
		{
			"an image in a base that one environment does not set",
			[]string{
				"apps/web/base/d.yaml a.io/x/web:1.0.0 a.io/x/side:1.0.0", "apps/web/overlays/dev/k.yaml a.io/x/web:latest a.io/x/side:latest",
				"apps/web/overlays/prod/k.yaml a.io/x/web:latest",
			},
			[]string{"1 image is in a base: apps/web/base/d.yaml:2:8"},
		},
		{
			"a base of another application is no excuse",
			[]string{
				"apps/web/base/d.yaml a.io/x/web:1.0.0", "apps/web/overlays/dev/kustomization.yaml", "apps/api/overlays/dev/k.yaml a.io/x/web:latest",
			},
			[]string{"1 image is in a base: apps/web/base/d.yaml:1:8"},
		},
		{
			"values that all environments share",
			[]string{"charts/web/values.yaml a.io/x/web:latest", "charts/web/values-dev.yaml a.io/x/api:latest", "charts/web/values-prod.yaml a.io/x/api:latest"},
			[]string{"1 image is in a base: charts/web/values.yaml:1:8"},
		},
		{
			"elsewhere",
			[]string{"dev/d.yaml a.io/x/web:latest", "prod/d.yaml a.io/x/web:latest", "tools/job.yaml a.io/x/job:latest"},
			[]string{"1 image reference is outside all environments: tools/job.yaml:1:8"},
		},
		{"no environment", []string{"d.yaml a.io/x/web:latest"}, []string{"No folder or file is named after an environment:"}},
		{"tags only", []string{"dev/d.yaml a.io/x/web:1.0.0"}, []string{"1 component is pinned by tag only:"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := suggestion(t, found(t, test.tree...))
			if !slices.IsSortedFunc(s.Guesses, func(a, b suggest.Guess) int { return cmp.Compare(a.Kind, b.Kind) }) {
				t.Errorf("not the worst first: %+v", s.Guesses)
			}
			for _, want := range test.want {
				beginning, where, _ := strings.Cut(want, ":")
				if !slices.ContainsFunc(s.Guesses, func(g suggest.Guess) bool {
					text, positions, advice := g.Lines()
					return strings.HasPrefix(text, beginning) && strings.Join(positions, " ") == strings.TrimSpace(where) && advice != ""
				}) {
					t.Errorf("no guess %q in %+v", want, s.Guesses)
				}
			}
		})
	}
}

// Guesses that differ only in what they are about are one, and no list has more than
// three of a kind.
func TestConfig_manyGuesses(t *testing.T) {
	t.Parallel()
	var same []string
	for i := range 60 {
		same = append(same, fmt.Sprintf("dev/%d.yaml a.io/x/web-%d:1.0.0", i, i))
	}
	text := "web-0, web-1, web-10, web-11, and 56 more: From the lowest version in the files up to the next major version."
	if got := guessesOf(suggestion(t, found(t, same...)), suggest.GuessRange); len(got) != 1 || got[0] != text {
		t.Errorf("the same: %q", got)
	}
	different := suggestion(t, found(t, "dev/d.yaml a.io/x/a:main a.io/x/b:1717000000 a.io/x/c:main-0a1b2c3 a.io/x/d:12 a.io/x/e:2024-05-01 a.io/x/f:13"))
	if got := guessesOf(different, suggest.GuessScheme); len(got) != 3 {
		t.Errorf("different: %q", got)
	}
	if i := slices.IndexFunc(different.Guesses, func(g suggest.Guess) bool { return g.More > 0 }); i < 0 || different.Guesses[i].More != 3 {
		t.Errorf("those left out are not counted: %+v", different.Guesses)
	}
}

// guessesOf returns the texts of the listed guesses of a kind.
func guessesOf(s *suggest.Suggestion, kind suggest.GuessKind) (texts []string) {
	for _, g := range s.Guesses {
		if text, _, _ := g.Lines(); g.Kind == kind {
			texts = append(texts, text)
		}
	}
	return texts
}

func TestConfig_outsideIsData(t *testing.T) {
	t.Parallel()
	s := suggestion(t, found(t, "dev/d.yaml a.io/x/web:1.0.0", "prod/d.yaml a.io/x/web:1.0.0", "base/d.yaml a.io/x/web:1.0.0", "base/e.yaml a.io/x/b:1.0.0"))
	if len(s.Outside) != 2 || s.Outside[0].Position.File != "base/d.yaml" {
		t.Errorf("outside: %v", s.Outside)
	}
}

func TestConfig_oneEnvironmentMustHoldMost(t *testing.T) {
	t.Parallel()
	s := suggestion(t, found(t, "charts/web/values-prod.yaml a.io/x/web:1.0.0", "deploy/d.yaml a.io/x/web:1.0.0", "deploy/e.yaml a.io/x/b:1.0.0", ".circleci/config.yml a.io/x/ci:1.0.0"))
	if diff := gocmp.Diff([]string{"main deploy/{application}.yaml charts/{application}"}, environments(s)); diff != "" {
		t.Errorf("environments (-want +got):\n%s", diff)
	}
}

func TestConfig_toolsAreExcludedFromTheWholeTree(t *testing.T) {
	t.Parallel()
	s := suggestion(t, found(t, "deploy/deployment.yaml a.io/x/web:1.0.0 a.io/x/b:1.0.0", ".circleci/config.yml a.io/x/ci:1.0.0"))
	if !strings.Contains(s.Text, "    exclude: ['.circleci/**']\n") || len(s.Outside) != 0 || len(s.Components) != 2 {
		t.Errorf("the folder of a tool is not excluded:\n%s", s.Text)
	}
}

func TestConfig_moreThanAFileHolds(t *testing.T) {
	t.Parallel()
	var line strings.Builder
	line.WriteString("dev/d.yaml")
	for i := range 3500 {
		fmt.Fprintf(&line, " registry.example.com/%s/service-%d:1.0.0", strings.Repeat("a", 200), i)
	}
	if _, err := suggest.Config(found(t, line.String())); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "patterns") {
		t.Errorf("got %v", err)
	}
}
