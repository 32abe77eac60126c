package config_test

import (
	"fmt"

	"promoter/internal/config"
)

// A config is loaded as a whole: either it is valid for every application, or all of
// its problems are reported, each with its position and a hint.
func ExampleLoad() {
	const text = `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
environments:
  dev:
    paths: ["apps/{application}/dev"]
    land: push
  prod:
    paths: ["apps/{application}/prod"]
    after: {dev: {soak: 24h}}
applications:
  payments:
    environments:
      prod: {propose: manual}
`
	c, problems := config.Load(".promoter.yaml", []byte(text))
	fmt.Println(problems)
	fmt.Println(c.Order())
	prod, _ := c.Environment("prod")
	application, _ := prod.Match("apps/payments/prod/deployment.yaml")
	fmt.Println(application, c.Settings("prod", application).Propose)

	_, problems = config.Load(".promoter.yaml", []byte("version: 1\nenvironments: {dev: {land: pushed}}\n"))
	fmt.Println(problems)
	// Output:
	// .promoter.yaml:10:25: warning: each newer snapshot in dev restarts the 1d soak of prod: if they arrive more often, none reaches prod (write newer: drain in dev)
	// [dev prod]
	// payments manual
	// .promoter.yaml:1:1: there are no components (see docs/reference/config.md#components)
	// .promoter.yaml:2:28: "pushed" is not a value of land (known here: automerge, pr, push)
}
