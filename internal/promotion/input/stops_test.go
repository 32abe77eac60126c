package input_test

import (
	"strings"
	"testing"

	"promoter/internal/edit"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/promotion/promotiontest"
)

// A hold in a file stops what the file references. Where the config distinguishes applications by
// their files, it stops the whole application. A key that is in none of these files stops them too,
// unless the config allows that.
func TestHeldByFiles(t *testing.T) {
	t.Parallel()
	const gate = `, gates: {hold: {key: spec.suspend, value: "true"}}`
	byApplication := promotiontest.Components + `environments: {dev: {paths: ["dev/{application}"]` + gate + `}}`
	byComponent := strings.Replace(byApplication, `["dev/{application}"]`, `[dev], applications: {by: component}`, 1)
	single := promotiontest.Components + "environments: {dev: {paths: [dev]" + gate + "}}"
	passes := func(config string) string { return strings.Replace(config, `"true"}`, `"true", absent: pass}`, 1) }
	const stays, goes, elsewhere = "web.yaml true", "web.yaml false", "settings.yaml false"
	tests := []struct {
		name, config, target, moves, has string
		want                             string
	}{
		{"another component of an application", byApplication, "dev/shop", "worker", stays, "web.yaml:2 has spec.suspend: true"},
		{"without applications, a component of the file", single, "dev", "web", stays, "web.yaml:2 has spec.suspend: true"},
		{"without applications, one that no file has", single, "dev", "moving", stays, ""},
		{"by component, a component of the file", byComponent, "dev/shop", "web", stays, "web.yaml:2 has spec.suspend: true"},

		{"another value", byApplication, "dev/shop", "web", goes, ""},
		{"without applications, another value", single, "dev", "web", goes, ""},
		{"another value in a file without references", byApplication, "dev/shop", "web", elsewhere, ""},

		{
			"no file of an application", byApplication, "dev/shop", "web", "",
			"no file of shop in dev has spec.suspend: add the key, or set gates.hold.absent to pass",
		},
		{
			"without applications, no file of the component", single, "dev", "worker", goes,
			"no file that references worker has spec.suspend: add the key, or set gates.hold.absent to pass",
		},
		{
			"by component, no file of the component", byComponent, "dev/shop", "worker", elsewhere,
			"no file that references worker has spec.suspend: add the key, or set gates.hold.absent to pass",
		},

		{"no file, which passes", passes(byApplication), "dev/shop", "web", "", ""},
		{"without applications, no file of the component, which passes", passes(single), "dev", "worker", stays, ""},
		{"the value where absent passes", passes(byApplication), "dev/shop", "worker", stays, "web.yaml:2 has spec.suspend: true"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newScenario(t, test.config)
			w.has(test.target, "web:1.4.0", "worker:1.4.0")
			current := w.Targets[target(test.target)]
			current.References[0].Position.File = "web.yaml"
			current.References[1].Position.File = "worker.yaml"
			if file, value, found := strings.Cut(test.has, " "); found {
				current.Holds = []edit.Hold{{Position: edit.Position{File: file, Line: 2}, Key: "spec.suspend", Value: value}}
			}
			w.Targets[target(test.target)] = current
			moves := []promotion.Move{{Component: test.moves, To: promotiontest.Version("1.5.0")}}
			if why, held := input.HeldByFiles(w.input(test.target), moves); why != test.want || held != (test.want != "") {
				t.Errorf("held: %t, %q", held, why)
			}
		})
	}
}
