package rendered_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chartutil"
)

// Charts see the API versions of Kubernetes that Helm itself knows. `make helm-client` runs this with the
// modules of Kubernetes from which Helm takes them, and make test with those that replace these.
func TestHelm_knowsTheAPIVersionsOfKubernetes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/api-versions.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Fields(string(text)), slices.Sorted(slices.Values(chartutil.DefaultVersionSet))); diff != "" {
		t.Errorf("API versions (-want +got):\n%s", diff)
	}
}

// A chart that asks for a cluster is rendered as "helm template" does without one: lookup finds nothing, and the
// API versions are the default ones.
func TestHelm_hasNoCluster(t *testing.T) {
	t.Parallel()
	asks := func(tag string) tree {
		return chart(tag).with(tree{"charts/shop/templates/ask.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: asked}
data:
  one: "{{ .Values.image.tag }} {{ (lookup "v1" "Secret" "default" "token").data | default "nothing" }}"
  all: "{{ .Values.image.tag }} {{ len (lookup "apps/v1" "Deployment" "" "") }}"
  cronjobs: "{{ .Values.image.tag }} {{ .Capabilities.APIVersions.Has "batch/v1" }}"
  definitions: "{{ .Values.image.tag }} {{ .Capabilities.APIVersions.Has "apiextensions.k8s.io/v1" }}"
  others: "{{ .Values.image.tag }} {{ .Capabilities.APIVersions.Has "example.com/v1" }}"
  kubernetes: "{{ .Values.image.tag }} {{ .Capabilities.KubeVersion.Version }}"
`})
	}
	found := differences(t, asks("1.4.1"), asks("1.4.2"))
	if len(found) != 1 || found[0].Problem != "" {
		t.Fatalf("%+v", found)
	}
	for _, want := range []string{
		`one: "1.4.2 nothing"`, `all: "1.4.2 0"`, `cronjobs: "1.4.2 true"`, `definitions: "1.4.2 true"`, `others: "1.4.2 false"`,
		`kubernetes: "1.4.2 v1.20.0"`,
	} {
		if !strings.Contains(found[0].Diff, want) {
			t.Errorf("%q is wanted in\n%s", want, found[0].Diff)
		}
	}
}
