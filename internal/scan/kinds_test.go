package scan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/config"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/scan"
	"promoter/internal/updater"
)

// tree scans files for all environments of a config.
func tree(t *testing.T, text string, files map[string]string) *scan.Tree {
	t.Helper()
	loaded, problems := config.Load(config.FileName, []byte(text))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	all := func(yield func(updater.File, error) bool) {
		for path, content := range files {
			file := updater.File{Path: path, Size: int64(len(content)), Read: func() ([]byte, error) { return []byte(content), nil }}
			if !yield(file, nil) {
				return
			}
		}
	}
	found, err := scan.Files(t.Context(), scan.Request{Config: loaded, Environments: loaded.Order()}, all)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// at is the target of an environment whose config distinguishes no applications.
func at(environment string) promotion.Target {
	return promotion.Target{Environment: environment, Application: config.DefaultApplication}
}

// references lists what a target has, as component=tag.
func references(found *scan.Tree, target promotion.Target) []string {
	list := []string{}
	for _, r := range found.Targets[target].References {
		list = append(list, r.Component+"="+r.Tag)
	}
	slices.Sort(list)
	return list
}

// move writes a tag of a component, and returns the changed files.
func move(t *testing.T, found *scan.Tree, target promotion.Target, component, tag string) map[string]string {
	t.Helper()
	moves := []promotion.Move{{Component: component, To: image.Version{Tag: tag, Digest: "sha256:" + strings.Repeat("c", 64)}}}
	results, err := scan.Rewrite(t.Context(), scan.Edit{Tree: found, Target: target, Moves: moves})
	if err != nil {
		t.Fatal(err)
	}
	changed := map[string]string{}
	for _, result := range results {
		for _, refusal := range result.Refusals {
			t.Errorf("refused: %s", refusal)
		}
		for _, file := range result.Files {
			changed[file.Path] = string(file.After)
		}
	}
	return changed
}

// The forms in which files have a chart, and an image, of one repository.
var kinds = map[string]struct {
	text   string
	chart  bool
	source string // another file
}{
	"argocd":     {chart: true, text: "kind: Application\nspec:\n  source: {repoURL: quay.io/acme, chart: shop, targetRevision: 1.2.0}\n"},
	"argocd-oci": {chart: true, text: "kind: Application\nspec:\n  source: {repoURL: 'oci://quay.io/acme/shop', targetRevision: 1.2.0}\n"},
	"dependency": {chart: true, text: "dependencies:\n  - {name: shop, repository: 'oci://quay.io/acme', version: 1.2.0}\n"},
	"flux-source": {
		chart: true,
		text:  "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nspec: {url: 'oci://quay.io/acme/shop', ref: {tag: 1.2.0}}\n",
	},
	"flux-release": {
		chart: true,
		text: "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: shop, namespace: shop}\n" +
			"spec: {chart: {spec: {chart: shop, version: 1.2.0, sourceRef: {kind: HelmRepository, name: acme}}}}\n",
		source: "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: acme, namespace: shop}\n" +
			"spec: {type: oci, url: 'oci://quay.io/acme'}\n",
	},
	"kustomize": {text: "images:\n  - {name: quay.io/acme/shop, newTag: 1.2.0}\n"},
	"pod":       {text: "containers:\n  - image: quay.io/acme/shop:1.2.0\n"},
	"values":    {text: "image: {repository: quay.io/acme/shop, tag: 1.2.0}\n"},
	"sidecar":   {text: "proxy: {registry: quay.io, repository: acme/shop, tag: 1.2.0}\n"},
}

// An image component never moves a chart, and a chart component never moves an image, whatever
// form the file has.
func TestFiles_neverMovesAnotherKind(t *testing.T) {
	t.Parallel()
	for name, kind := range kinds {
		for component, isChart := range map[string]bool{"image: quay.io/acme/shop": false, "chart: oci://quay.io/acme/shop": true} {
			t.Run(name+" "+component, func(t *testing.T) {
				t.Parallel()
				files := map[string]string{"app.yaml": kind.text}
				if kind.source != "" {
					files["source.yaml"] = kind.source
				}
				const format = "version: 1\ncomponents:\n  shop: {%s, select: {semver: '>=1'}}\nenvironments: {dev: {}}\n"
				found := tree(t, fmt.Sprintf(format, component), files)
				want := []string{}
				if kind.chart == isChart {
					want = append(want, "shop=1.2.0")
				}
				if diff := cmp.Diff(want, references(found, at("dev"))); diff != "" {
					t.Errorf("references (-want +got):\n%s", diff)
				}
				if notes := found.Notes[at("dev")]; len(want) == 0 && (len(notes) != 1 || !strings.Contains(notes[0].Text, "left unchanged")) {
					t.Errorf("notes: %v", notes)
				}
				changed := move(t, found, at("dev"), "shop", "1.3.0")
				if moved := strings.Contains(changed["app.yaml"], "1.3.0"); moved != (len(want) > 0) {
					t.Errorf("moved: %v, want %v", moved, len(want) > 0)
				}
			})
		}
	}
}

// Without a config, a user names a version of any kind.
func TestFiles_explicitVersionsAreOfAnyKind(t *testing.T) {
	t.Parallel()
	given, err := image.ParseExplicitVersions([]string{"quay.io/acme/shop:1.3.0"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, kind := range kinds {
		files := func(yield func(updater.File, error) bool) {
			for path, content := range map[string]string{"app.yaml": kind.text, "source.yaml": kind.source} {
				if !yield(updater.File{Path: path, Read: func() ([]byte, error) { return []byte(content), nil }}, nil) {
					return
				}
			}
		}
		folder, err := config.Folder(given.Repositories())
		if err != nil {
			t.Fatal(err)
		}
		request := scan.Request{Config: folder, Environments: folder.Order(), Explicit: given}
		found, err := scan.Files(t.Context(), request, files)
		if err != nil {
			t.Fatal(err)
		}
		if total := len(found.Targets[at(request.Environments[0])].References); total != 1 {
			t.Errorf("%s: %d references", name, total)
		}
	}
}

// An image and a chart may be in one repository, each with its component.
func TestFiles_imageAndChartOfOneRepository(t *testing.T) {
	t.Parallel()
	for name, components := range map[string]string{
		"both by name": "  shop: {image: quay.io/acme/shop, select: {semver: '>=1'}}\n" +
			"  shop-chart: {chart: 'oci://quay.io/acme/shop', select: {semver: '>=1'}}\n",
		"the chart first": "  shop-chart: {chart: 'oci://quay.io/acme/shop', select: {semver: '>=1'}}\n" +
			"  shop: {image: quay.io/acme/shop, select: {semver: '>=1'}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{
				"chart.yaml": kinds["argocd"].text, "pod.yaml": kinds["pod"].text, "kustomization.yaml": kinds["kustomize"].text,
			}
			found := tree(t, "version: 1\ncomponents:\n"+components+"environments: {dev: {}}\n", files)
			if diff := cmp.Diff([]string{"shop-chart=1.2.0", "shop=1.2.0", "shop=1.2.0"}, references(found, at("dev"))); diff != "" {
				t.Errorf("references (-want +got):\n%s", diff)
			}
			changed := move(t, found, at("dev"), "shop-chart", "1.3.0")
			want := map[string]string{"chart.yaml": strings.Replace(files["chart.yaml"], "1.2.0", "1.3.0", 1)}
			if diff := cmp.Diff(want, changed); diff != "" {
				t.Errorf("moving the chart (-want +got):\n%s", diff)
			}
			changed = move(t, found, at("dev"), "shop", "1.3.0")
			if _, moved := changed["chart.yaml"]; moved || len(changed) != 2 {
				t.Errorf("moving the image changed %v", changed)
			}
		})
	}
}

// Without a config, users name the repository of a chart as that of an image.
func TestFiles_explicitVersionsHaveNoKind(t *testing.T) {
	t.Parallel()
	const chart = "kind: OCIRepository\nspec:\n  url: oci://quay.io/acme/charts/web\n  ref: {tag: 1.4.0}\n"
	explicit, err := image.ParseExplicitVersions([]string{"quay.io/acme/charts/web:1.5.0"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := config.Folder(explicit.Repositories())
	if err != nil {
		t.Fatal(err)
	}
	file := updater.File{Path: "web.yaml", Size: int64(len(chart)), Read: func() ([]byte, error) { return []byte(chart), nil }}
	found, err := scan.Files(t.Context(), scan.Request{Config: folder, Environments: folder.Order(), Explicit: explicit},
		func(yield func(updater.File, error) bool) { yield(file, nil) })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"web=1.4.0"}, references(found, at(config.FolderEnvironment))); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
}
