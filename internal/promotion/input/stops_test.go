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
// their files, it stops the whole application.
func TestHeldFiles(t *testing.T) {
	t.Parallel()
	byComponent := strings.Replace(chain, `["dev/{application}"]`, `[dev], applications: {by: component}`, 1)
	single := promotiontest.Components + "environments: {dev: {paths: [dev]}}"
	tests := []struct {
		name, config, target, moves string
		want                        bool
	}{
		{"another component of an application", chain, "dev/shop", "worker", true},
		{"without applications, a component of the file", single, "dev", "web", true},
		{"without applications, one of another file", single, "dev", "worker", false},
		{"without applications, one that no file has", single, "dev", "moving", false},
		{"by component, a component of the file", byComponent, "dev/shop", "web", true},
		{"by component, one of another file", byComponent, "dev/shop", "worker", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newScenario(t, test.config)
			w.has(test.target, "web:1.4.0", "worker:1.4.0")
			current := w.Targets[target(test.target)]
			current.References[0].Position.File = "web.yaml"
			current.References[1].Position.File = "worker.yaml"
			current.Holds = []edit.Hold{{Position: edit.Position{File: "web.yaml"}, Key: "spec.suspend", Value: "true"}}
			w.Targets[target(test.target)] = current
			moves := []promotion.Move{{Component: test.moves, To: promotiontest.Version("1.5.0")}}
			if held := input.HeldFiles(w.input(test.target), moves); (len(held) > 0) != test.want {
				t.Errorf("held by %v", held)
			}
		})
	}
}
