package bots

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"promoter/internal/image"
)

// keelPolicy is the annotation or label that Keel reads from workloads.
const keelPolicy = "keel.sh/policy"

// keel reads the policy of a workload, which is for all its images.
// https://keel.sh/docs/#policies
func keel(file string, manifest *yaml.Node) (rules []Rule, writers []Writer) {
	policy := ""
	var images []image.Reference
	mappings(manifest, func(m *yaml.Node) {
		if value := text(m, keelPolicy); value != "" {
			policy = value
		}
		if reference, err := image.Parse(text(m, "image")); err == nil {
			images = append(images, reference)
		}
	})
	if policy == "" || policy == "never" || len(images) == 0 {
		return nil, nil
	}
	where := source("Keel", file)
	var updated []image.Repository
	for _, one := range images {
		rule := keelRule(policy, one.Tag)
		rule.Source, rule.Applies = where, only(one.Repository)
		rules, updated = append(rules, rule), append(updated, one.Repository)
	}
	return rules, []Writer{{
		Bot:     "Keel",
		File:    file,
		Updates: func(_ string, r image.Repository) bool { return slices.Contains(updated, r) },
		Off:     func([]image.Repository) string { return "remove the annotation or label " + keelPolicy + " there" },
	}}
}

// keelRule translates a policy. Its semantic versions never leave the major version that
// the files have, unless the policy is all or major.
func keelRule(policy, tag string) Rule {
	kind, pattern, _ := strings.Cut(policy, ":")
	switch kind {
	case "all", "major", "minor":
		return Rule{}
	case "patch":
		return Rule{NoMinor: true}
	case "glob":
		return Rule{Selection: image.Selection{Alphabetical: fromGlob(pattern)}}
	case "regexp":
		return Rule{Selection: image.Selection{
			Alphabetical: strings.NewReplacer("(?P<compare>", "(?P<version>", "(?<compare>", "(?P<version>").Replace(pattern),
		}}
	case "force":
		if image.ValidTag(tag) {
			return Rule{Selection: image.Selection{Tag: tag}}
		}
	}
	return Rule{Problem: "the policy " + kind}
}
