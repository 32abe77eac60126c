package imports_test

import (
	"strings"
	"testing"

	"promoter/internal/config"
	"promoter/internal/imports"
)

// A file with a tag and no repository has no reference: the config writes its value, and the other
// tool too.
func TestOtherWriters_ofValuesWithoutReferences(t *testing.T) {
	t.Parallel()
	const stage = `apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: dev, namespace: shop}
spec:
  promotionTemplate: {spec: {steps: [{uses: yaml-update, config: {path: env/dev/values.yaml}}]}}
`
	found := imports.Found{Settings: map[string][]byte{"stage.yaml": []byte(stage)}}
	for file, want := range map[string]string{
		"env/dev/values.yaml":  "also updates registry.example.com/team/web, such as in env/dev/values.yaml",
		"env/prod/values.yaml": "",
	} {
		loaded, problems := config.Load(config.FileName, []byte(`version: 1
components: {web: {image: registry.example.com/team/web, select: {semver: ^1}}}
environments: {dev: {paths: [env], write: [{file: `+file+`, path: image.tag, component: web}]}}
`))
		if problems.Err() != nil {
			t.Fatal(problems.Err())
		}
		warnings := imports.OtherWriters(loaded, found)
		if len(warnings) != min(len(want), 1) || want != "" && !strings.Contains(warnings[0].Message, want) {
			t.Errorf("%s: %v, want %q", file, warnings, want)
		}
	}
}
