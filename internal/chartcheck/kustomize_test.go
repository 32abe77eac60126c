package chartcheck

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v3/pkg/chartutil"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	serverconfig "promoter/internal/config/server"
)

const kustomizeFolder = "../../config/deploy/kustomize"

// bases are the values of the kustomize bases. The user adds the ConfigMap, the Secret, and the
// image.
func bases() map[string]map[string]any {
	shared := func(more map[string]any) map[string]any {
		return chartutil.CoalesceTables(more, map[string]any{
			"image": map[string]any{"repository": "promoter"}, "existingConfigMap": "promoter", "secrets": map[string]any{"promoter": "promoter"},
		})
	}
	return map[string]map[string]any{
		"sqlite":     shared(map[string]any{}),
		"postgresql": shared(map[string]any{"replicas": 2, "database": map[string]any{"kind": "postgresql", "existingSecret": "promoter", "key": "database"}}),
		"cronjob":    shared(map[string]any{"mode": "cronjob"}),
	}
}

// The bases are what the chart renders. -update writes them.
func TestKustomize_basesAreTheChart(t *testing.T) {
	t.Parallel()
	for name, values := range bases() {
		out, err := render(values)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join("../../../config/deploy/kustomize", name, "promoter.yaml"),
			"# Rendered from charts/promoter by go test ./internal/chartcheck -update.\n"+withoutHelm(t, out.text))
	}
}

// withoutHelm removes what only Helm, or only a certain version of the chart, needs.
func withoutHelm(t *testing.T, text string) string {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(regexp.MustCompile(`(?m)^# Source: .*\n`).ReplaceAllString(text, "")))
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		prune(&document)
		if err := encoder.Encode(&document); err != nil {
			t.Fatal(err)
		}
	}
	if err := encoder.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var ofHelm = []string{"helm.sh/chart", "helm.sh/resource-policy", "app.kubernetes.io/managed-by", "app.kubernetes.io/version"}

// prune removes keys of Helm, and maps that are empty without them.
func prune(node *yaml.Node) {
	for i := 0; i < len(node.Content); {
		child := node.Content[i]
		full := len(child.Content) > 0
		if prune(child); node.Kind == yaml.MappingNode && i%2 == 1 &&
			(slices.Contains(ofHelm, node.Content[i-1].Value) || full && len(child.Content) == 0) {
			node.Content = slices.Delete(node.Content, i-1, i+1)
			i--
			continue
		}
		i++
	}
}

// The overlays of the documents build, with each base, pods that have the config file, the
// Secret, and the image that they name, and the same rights as those of the chart.
func TestKustomize_overlaysOfTheDocumentsBuild(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operate/install.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```yaml\n(# kustomization\\.yaml\n.*?)```").FindSubmatch(page)
	if found == nil {
		t.Fatal("docs/operate/install.md has no kustomization.yaml")
	}
	for name := range bases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			overlay := regexp.MustCompile(`(?m)^resources: .*$`).ReplaceAllString(string(found[1]), "resources: [base]")
			all := objects(t, build(t, filepath.Join(kustomizeFolder, name), overlay))
			configs, pods := map[string]string{}, 0
			for _, one := range all {
				if text := one.Data["promoter-server.yaml"]; text != "" {
					configs[one.Metadata.Name] = text
				}
			}
			for _, one := range all {
				if one.Metadata.Namespace != "gitops" {
					t.Errorf("%s %s is in the namespace %q", one.Kind, one.Metadata.Name, one.Metadata.Namespace)
				}
				made, found := one.pod()
				if !found {
					continue
				}
				pods++
				checkRights(t, made)
				checkOverlay(t, made, configs)
			}
			if pods != 1 {
				t.Errorf("%d objects make pods, want 1", pods)
			}
		})
	}
}

// build builds an overlay of a base, beside a server file.
func build(t *testing.T, base, overlay string) string {
	t.Helper()
	files := filesys.MakeFsInMemory()
	write := func(name string, content []byte) {
		if err := files.WriteFile(name, content); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"kustomization.yaml", "promoter.yaml"} {
		content, err := os.ReadFile(filepath.Join(base, name))
		if err != nil {
			t.Fatal(err)
		}
		write("/overlay/base/"+name, content)
	}
	write("/overlay/kustomization.yaml", []byte(overlay))
	write("/overlay/promoter-server.yaml", []byte("version: 1\nforges: {github: {kind: github, token: \"file:/run/secrets/promoter/token\"}}\n"))
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, "/overlay")
	if err != nil {
		t.Fatal(err)
	}
	text, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checkOverlay checks a pod. The configs are the server files by the names of their ConfigMaps.
func checkOverlay(t *testing.T, made pod, configs map[string]string) {
	t.Helper()
	if image := made.Containers[0].Image; image != "registry.example.com/promoter:0.1.0" {
		t.Errorf("the image is %s", image)
	}
	mounted := map[string]bool{}
	for _, volume := range made.Volumes {
		if config, ok := volume["configMap"].(map[string]any); ok {
			name, _ := config["name"].(string)
			text, found := configs[name]
			if !found || name == "promoter" {
				t.Errorf("the pod mounts the ConfigMap %s, there are %q", name, slices.Collect(maps.Keys(configs)))
			}
			server, problems := serverconfig.Load("promoter-server.yaml", []byte(text), func(string) (string, bool) { return "", false })
			if server == nil {
				t.Error(problems)
			}
		}
		if secret, ok := volume["secret"].(map[string]any); ok {
			mounted[secret["secretName"].(string)] = true
		}
	}
	if !mounted["promoter"] {
		t.Error("the pod does not mount the Secret promoter")
	}
}
