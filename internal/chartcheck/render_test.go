package chartcheck

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
)

const folder = "../../charts/promoter"

// load reads the chart once.
var load = sync.OnceValues(func() (*chart.Chart, error) { return loader.Load(folder) })

// rendered is the rendered chart of a release.
type rendered struct {
	text  string // as printed by `helm template`
	notes string
}

// render does what `helm template promoter charts/promoter --namespace gitops` does.
func render(values map[string]any) (rendered, error) {
	promoter, err := load()
	if err != nil {
		return rendered{}, err
	}
	options := chartutil.ReleaseOptions{Name: "promoter", Namespace: "gitops", Revision: 1, IsInstall: true}
	all, err := chartutil.ToRenderValues(promoter, values, options, chartutil.DefaultCapabilities)
	if err != nil {
		return rendered{}, err
	}
	files, err := engine.Render(promoter, all)
	if err != nil {
		return rendered{}, err
	}
	const notes = "promoter/templates/NOTES.txt"
	out := rendered{notes: files[notes]}
	delete(files, notes)
	_, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return rendered{}, err
	}
	var text strings.Builder
	for _, one := range manifests {
		fmt.Fprintf(&text, "---\n# Source: %s\n%s\n", one.Name, one.Content)
	}
	out.text = strings.TrimSpace(text.String()) + "\n"
	return out, nil
}

// valuesOf reads a values file.
func valuesOf(t *testing.T, file string) map[string]any {
	t.Helper()
	values, err := chartutil.ReadValuesFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// cases returns the value files by test case.
func cases(t *testing.T) map[string]string {
	t.Helper()
	const suffix = "-values.yaml"
	files, err := filepath.Glob(folder + "/ci/*" + suffix)
	if err != nil || len(files) == 0 {
		t.Fatalf("no value files: %v", err)
	}
	named := map[string]string{}
	for _, file := range files {
		named[strings.TrimSuffix(filepath.Base(file), suffix)] = file
	}
	return named
}

// object is a Kubernetes object with the fields that the tests use.
type object struct {
	Kind     string
	Metadata struct {
		Name        string
		Namespace   string
		Labels      map[string]string
		Annotations map[string]string
	}
	Data map[string]string
	Spec struct {
		Replicas    int
		Strategy    struct{ Type string }
		Selector    yaml.Node
		Template    template
		JobTemplate struct{ Spec struct{ Template template } } `yaml:"jobTemplate"`
	}
}

type template struct {
	Metadata struct {
		Labels      map[string]string
		Annotations map[string]string
	}
	Spec pod
}

type pod struct {
	AutomountServiceAccountToken  *bool          `yaml:"automountServiceAccountToken"`
	TerminationGracePeriodSeconds int            `yaml:"terminationGracePeriodSeconds"`
	SecurityContext               map[string]any `yaml:"securityContext"`
	Containers                    []container
	Volumes                       []map[string]any
}

type container struct {
	Image           string
	Args            []string
	Env             []map[string]any
	SecurityContext map[string]any `yaml:"securityContext"`
	Resources       struct{ Limits struct{ Memory string } }
	VolumeMounts    []struct {
		Name      string
		MountPath string `yaml:"mountPath"`
	} `yaml:"volumeMounts"`
	Lifecycle struct {
		PreStop struct{ Sleep struct{ Seconds int } } `yaml:"preStop"`
	}
}

// objects parses the rendered text.
func objects(t *testing.T, text string) []object {
	t.Helper()
	var all []object
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var one object
		err := decoder.Decode(&one)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("what was rendered is no YAML: %v\n%s", err, text)
		}
		all = append(all, one)
	}
}

// pod returns the pod template of a Deployment or a CronJob.
func (o object) pod() (pod, bool) {
	switch o.Kind {
	case "Deployment":
		return o.Spec.Template.Spec, true
	case "CronJob":
		return o.Spec.JobTemplate.Spec.Template.Spec, true
	}
	return pod{}, false
}

// mustRender renders a case.
func mustRender(t *testing.T, file string) rendered {
	t.Helper()
	out, err := render(valuesOf(t, file))
	if err != nil {
		t.Fatal(err)
	}
	return out
}
