package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"promoter/internal/config"
	"promoter/internal/strictyaml/strictyamltest"
)

// The resolved file is a file that means the same, for every feature.
func TestConfig_resolvedMeansTheSame(t *testing.T) {
	t.Parallel()
	for _, file := range append(examples(t), strictyamltest.Files(t, "testdata/valid/*.yaml")...) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			original, problems := config.Load(config.FileName, data)
			if problems.Err() != nil {
				t.Fatal(problems)
			}
			text, err := original.Resolved()
			if err != nil {
				t.Fatal(err)
			}
			resolved, problems := config.Load(config.FileName, text)
			if problems.Err() != nil {
				t.Fatalf("%v\n%s", problems, text)
			}
			same := cmp.Options{
				cmpopts.IgnoreTypes(config.Position{}), cmpopts.EquateEmpty(),
				cmp.FilterPath(func(p cmp.Path) bool { return strings.HasPrefix(p.Last().String(), ".") && lower(p.Last().String()) }, cmp.Ignore()),
			}
			for _, environment := range original.Environments {
				for _, application := range append(applicationsOf(original), "another") {
					if diff := cmp.Diff(original.Settings(environment.Name, application), resolved.Settings(environment.Name, application), same); diff != "" {
						t.Errorf("%s %s: %s\n%s", environment.Name, application, diff, text)
					}
					if diff := cmp.Diff(original.Application(application), resolved.Application(application), same); diff != "" {
						t.Errorf("%s: %s\n%s", application, diff, text)
					}
				}
			}
			if diff := cmp.Diff(original.Components, resolved.Components, same); diff != "" {
				t.Error(diff)
			}
			if again, err := resolved.Resolved(); err != nil || string(again) != string(text) {
				t.Errorf("resolved again: %v\n%s", err, cmp.Diff(string(text), string(again)))
			}
		})
	}
}

// lower reports whether a step of a path, such as .name, is to a field that is not exported.
func lower(step string) bool { return len(step) > 1 && step[1] >= 'a' && step[1] <= 'z' }

func applicationsOf(c *config.Config) []string {
	var names []string
	for _, application := range c.Applications {
		names = append(names, application.Name, strings.ReplaceAll(application.Name, "*", "x"))
	}
	return names
}

func TestConfig_resolvedHasDefaultsAndNoAnchors(t *testing.T) {
	t.Parallel()
	c, problems := config.Load(config.FileName, []byte(`# of the team
version: 1
x-select: &select {semver: ">=1"}
components:
  web:
    image: quay.io/acme/web # the shop
    select: *select
environments:
  dev: {paths: [dev/**], land: push}
  prod:
    paths: ["prod/**"]
    after: [dev]
    pullRequest: {labels: [release]}
    health: {deployment: prod}
`))
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	text, err := c.Resolved()
	if err != nil {
		t.Fatal(err)
	}
	want := `version: 1
components:
  web:
    image: quay.io/acme/web
    select:
      semver: ">=1"
    pin: keep
environments:
  dev:
    paths:
      - dev/**
    land: push
    mentions: list
    propose: automatic
    newer: refresh
  prod:
    paths:
      - "prod/**"
    after:
      - dev
    pullRequest:
      labels:
        - release
      draft: false
      group: application
      limit: 20
      rendered: false
      waitForChecks: 30m
    health:
      deployment: prod
      timeout: 15m
      onFailure: stop
    mentions: list
    propose: automatic
    land: pr
    newer: refresh
`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Error(diff)
	}
}

// A text that aliases repeat is not repeated without a limit.
func TestConfig_resolvedIsLimited(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 10_000)
	text := "version: 1\nx-long: &long {body: " + long + "}\ncomponents:\n  web: {image: quay.io/acme/web, select: {semver: '*'}}\nenvironments:\n"
	for i := range 200 {
		name := "e" + strings.Repeat("a", i)
		text += "  " + name[:min(len(name), 20)] + string(rune('a'+i/26)) + string(rune('a'+i%26)) + ": {paths: [" + strings.Repeat("d", i+1) + "/**], pullRequest: *long}\n"
	}
	c, problems := config.Load(config.FileName, []byte(text))
	if problems.Err() != nil {
		t.Fatal(problems.Err())
	}
	if _, err := c.Resolved(); err == nil || !strings.Contains(err.Error(), "expands to more than") {
		t.Errorf("got %v", err)
	}
}
