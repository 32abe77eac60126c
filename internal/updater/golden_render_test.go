package updater_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/strvals"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// goldenRender defines how a tree is rendered and which images the output must
// contain. It tests the effect of the edit and not only the scalar.
type goldenRender struct {
	Kustomize   string   // folder
	Helm        string   // folder of the chart
	Values      []string // files, relative to the chart
	Release     string   // file with a HelmRelease whose values are used
	Application string   // file with an Argo CD Application whose values, parameters or images are used
	Shows       []string // images that the output must contain
	Hides       []string // images that the output must not contain
}

func (r goldenRender) name() string {
	return strings.Trim(strings.Join([]string{r.Kustomize, r.Helm, r.Release, r.Application}, " "), " ")
}

func (r goldenRender) check(t *testing.T, files tree) {
	dir := t.TempDir()
	files.write(t, dir)
	var rendered string
	if r.Kustomize != "" {
		rendered = r.kustomize(t, dir, files)
	} else {
		rendered = r.helm(t, dir, files)
	}
	images := imagesOf(rendered)
	for _, want := range r.Shows {
		if !slices.Contains(images, want) {
			t.Errorf("%s is not rendered; the images are %q", want, images)
		}
	}
	for _, old := range r.Hides {
		if slices.Contains(images, old) {
			t.Errorf("%s is still rendered; the images are %q", old, images)
		}
	}
}

var imageField = regexp.MustCompile(`\bimage: *["']?([^"'\s,}]+)`)

// imagesOf returns the values of all image fields.
func imagesOf(rendered string) []string {
	var images []string
	for _, match := range imageField.FindAllStringSubmatch(rendered, -1) {
		images = append(images, match[1])
	}
	return images
}

// kustomize builds the folder, with the images of an Argo CD Application if
// there is one: Argo CD sets them in the kustomization before it builds.
func (r goldenRender) kustomize(t *testing.T, dir string, files tree) string {
	t.Helper()
	folder := filepath.Join(dir, filepath.FromSlash(r.Kustomize))
	if r.Application != "" {
		setImages(t, files, r.Kustomize+"/kustomization.yaml", applicationSource(t, files, r.Application).Kustomize.Images).write(t, dir)
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		t.Fatalf("kustomize build: %v", err)
	}
	text, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// setImages does what "kustomize edit set image [NAME=]NEWNAME[:TAG][@DIGEST]"
// does.
func setImages(t *testing.T, files tree, path string, images []string) tree {
	t.Helper()
	form := regexp.MustCompile(`^(?:([^=]+)=)?([^@]+?)(?::([^/:@]+))?(?:@(.+))?$`)
	text := string(files[path].data) + "images:\n"
	for _, entry := range images {
		match := form.FindStringSubmatch(entry)
		if match == nil {
			t.Fatalf("not an image of kustomize: %s", entry)
		}
		name := match[1]
		if name == "" {
			name = match[2]
		}
		text += fmt.Sprintf("- {name: %q, newName: %q, newTag: %q, digest: %q}\n", name, match[2], match[3], match[4])
	}
	changed := files.clone()
	changed[path] = entry{data: []byte(text)}
	return changed
}

// helm renders the chart with the values of files, of a release or of an
// application.
func (r goldenRender) helm(t *testing.T, dir string, files tree) string {
	t.Helper()
	chart, err := loader.Load(filepath.Join(dir, filepath.FromSlash(r.Helm)))
	if err != nil {
		t.Fatalf("load the chart: %v", err)
	}
	values := r.values(t, files)
	if err := chartutil.ProcessDependencies(chart, values); err != nil {
		t.Fatalf("process the dependencies: %v", err)
	}
	all, err := chartutil.ToRenderValues(chart, values, chartutil.ReleaseOptions{Name: "golden", Namespace: "golden"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	manifests, err := engine.Render(chart, all)
	if err != nil {
		t.Fatalf("helm template: %v", err)
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(manifests)) {
		text.WriteString(manifests[name] + "\n")
	}
	return text.String()
}

func (r goldenRender) values(t *testing.T, files tree) map[string]any {
	t.Helper()
	values := map[string]any{}
	for _, file := range r.Values {
		values = chartutil.CoalesceTables(parseValues(t, files[filepath.ToSlash(filepath.Join(r.Helm, file))].data), values)
	}
	if r.Release != "" {
		var release struct {
			Spec struct{ Values map[string]any }
		}
		parseObject(t, files, r.Release, &release)
		values = chartutil.CoalesceTables(release.Spec.Values, values)
	}
	if r.Application != "" {
		helm := applicationSource(t, files, r.Application).Helm
		values = chartutil.CoalesceTables(parseValues(t, []byte(helm.Values)), values)
		values = chartutil.CoalesceTables(helm.ValuesObject, values)
		for _, parameter := range helm.Parameters {
			if err := strvals.ParseInto(parameter.Name+"="+parameter.Value, values); err != nil {
				t.Fatal(err)
			}
		}
	}
	return values
}

// argoSpec is the part of an Argo CD Application that controls rendering.
type argoSpec struct {
	Helm struct {
		Values       string
		ValuesObject map[string]any `yaml:"valuesObject"`
		Parameters   []struct{ Name, Value string }
	}
	Kustomize struct{ Images []string }
}

func applicationSource(t *testing.T, files tree, path string) argoSpec {
	t.Helper()
	var application struct{ Spec struct{ Source argoSpec } }
	parseObject(t, files, path, &application)
	return application.Spec.Source
}

// parseObject decodes the first document of a file.
func parseObject(t *testing.T, files tree, path string, into any) {
	t.Helper()
	file, found := files[path]
	if !found {
		t.Fatalf("no file %s", path)
	}
	if err := yaml.Unmarshal(file.data, into); err != nil {
		t.Fatalf("load %s: %v", path, err)
	}
}

func parseValues(t *testing.T, data []byte) map[string]any {
	t.Helper()
	values, err := chartutil.ReadValues(data)
	if err != nil {
		t.Fatal(err)
	}
	return values
}
