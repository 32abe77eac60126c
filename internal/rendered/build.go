package rendered

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"promoter/internal/fault"
)

// build renders everything in memory. It runs in the child process.
func build(r request) []Difference {
	after := maps.Clone(r.Before)
	for file, content := range r.After {
		after[file] = content
	}
	var found []Difference
	left := maxDiff
	for _, root := range r.Roots {
		d := difference(root, r.Before, after, left)
		left -= len(d.Diff)
		found = append(found, d)
	}
	return found
}

// manifests renders one root from the files.
func manifests(root Root, files map[string][]byte) (text []byte, err error) {
	if root.Kind == Kustomize {
		text, err = kustomization(root.Folder, files)
	} else {
		text, err = helmChart(root, files)
	}
	if len(text) > maxManifests {
		return nil, fault.New(fault.Invalid, "the manifests are larger than %d MiB", maxManifests>>20)
	}
	return text, err
}

// kustomization builds a kustomization. Plugins and Helm are off by default.
func kustomization(folder string, files map[string][]byte) ([]byte, error) {
	disk := filesys.MakeFsInMemory()
	for file, content := range files {
		if err := disk.WriteFile("/"+file, content); err != nil {
			return nil, fmt.Errorf("write %s: %w", file, err)
		}
	}
	if !disk.IsDir("/" + folder) {
		return nil, nil // it did not exist before
	}
	options := krusty.MakeDefaultOptions()
	built, err := krusty.MakeKustomizer(options).Run(disk, "/"+folder)
	if err != nil {
		return nil, refusal("kustomize build", err, files)
	}
	text, err := built.AsYaml()
	if err != nil {
		return nil, fmt.Errorf("write the manifests: %w", err)
	}
	return text, nil
}

// helmChart renders a chart as "helm template" does: with its values and those of the changed
// file, the release name "release", and the namespace "default".
func helmChart(root Root, files map[string][]byte) ([]byte, error) {
	var parts []*loader.BufferedFile
	prefix := strings.TrimPrefix(root.Folder+"/", "/")
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if name, inside := strings.CutPrefix(file, prefix); inside {
			parts = append(parts, &loader.BufferedFile{Name: name, Data: files[file]})
		}
	}
	if len(parts) == 0 {
		return nil, nil // it did not exist before
	}
	loaded, err := loader.LoadFiles(parts)
	if err != nil {
		return nil, refusal("load the chart", err, files)
	}
	if missing := missingDependencies(loaded); len(missing) > 0 {
		return nil, fault.New(fault.Invalid, "the chart needs %s, which are not in its folder charts", strings.Join(missing, ", "))
	}
	values := map[string]any{}
	for _, file := range root.Values {
		more, err := chartutil.ReadValues(files[file])
		if err != nil {
			return nil, refusal(path.Base(file), err, files)
		}
		maps.Copy(values, more)
	}
	if err := chartutil.ProcessDependenciesWithMerge(loaded, values); err != nil {
		return nil, refusal("dependencies of the chart", err, files)
	}
	release := chartutil.ReleaseOptions{Name: "release", Namespace: "default", Revision: 1, IsInstall: true}
	merged, err := chartutil.ToRenderValues(loaded, values, release, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, refusal("values of the chart", err, files)
	}
	texts, err := engine.Render(loaded, merged)
	if err != nil {
		return nil, refusal("helm template", err, files)
	}
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if base := path.Base(name); strings.HasPrefix(base, "_") || base == "NOTES.txt" || strings.TrimSpace(texts[name]) == "" {
			continue
		}
		all.WriteString("---\n" + texts[name] + "\n")
	}
	return []byte(all.String()), nil
}

// position is a file in an error of kustomize or Helm, with the line if it is known.
var position = regexp.MustCompile(`[^\s:()'"]+\.(?:ya?ml|json|tpl|env|txt)(?::\d+)*`)

// refusal returns the error of a root that cannot be rendered. The messages of kustomize and Helm
// contain what they could not process, so that of files with a Secret only has the position.
func refusal(what string, err error, files map[string][]byte) error {
	secret := false
	names := map[string]bool{}
	for file, content := range files {
		secret = secret || isSecretText(string(content))
		names[path.Base(file)] = true
	}
	if !secret {
		return fault.New(fault.Invalid, "%s: %v", what, err)
	}
	const why = "the message is not shown, because files contain a Secret"
	for _, found := range position.FindAllString(err.Error(), -1) {
		if file, _, _ := strings.Cut(found, ":"); names[path.Base(file)] {
			return fault.New(fault.Invalid, "%s: %s: %s", what, found, why)
		}
	}
	return fault.New(fault.Invalid, "%s: %s", what, why)
}

// missingDependencies returns the dependencies that are not below the folder charts.
func missingDependencies(c *chart.Chart) []string {
	var missing []string
	for _, dependency := range c.Metadata.Dependencies {
		if !slices.ContainsFunc(c.Dependencies(), func(d *chart.Chart) bool { return d.Name() == dependency.Name }) {
			missing = append(missing, dependency.Name)
		}
	}
	return missing
}
