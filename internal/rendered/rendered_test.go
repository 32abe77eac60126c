package rendered_test

import (
	"context"
	"log"
	"maps"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/rendered"
)

// TestMain is the child process when the arguments name its command, as in the program.
func TestMain(m *testing.M) {
	switch {
	case slices.Contains(os.Args, rendered.Command):
		if err := rendered.Child(os.Stdin, os.Stdout); err != nil {
			log.Fatal(err)
		}
	case slices.Contains(os.Args, escape):
		tryToEscape()
	default:
		m.Run() // the process ends with its code
	}
}

// escape is the argument of a child process that limits itself and tries what it must not do.
const escape = "try-to-escape"

func tryToEscape() {
	ctx, done := context.Background(), []string{"done"}
	if err := rendered.LimitProcess(); err != nil {
		done = append(done, err.Error())
	}
	if _, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0"); err == nil {
		done = append(done, "a listener")
	}
	if _, err := new(net.Dialer).DialContext(ctx, "udp", "127.0.0.1:53"); err == nil {
		done = append(done, "a connection")
	}
	if _, err := os.Open("/etc/hosts"); err == nil {
		done = append(done, "a file")
	}
	if err := exec.CommandContext(ctx, "/bin/true").Run(); err == nil {
		done = append(done, "a program")
	}
	_, _ = os.Stdout.WriteString(strings.Join(done, ", "))
}

func TestChild_canOpenNothing(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), os.Args[0], escape).CombinedOutput()
	if err != nil || string(out) != "done" {
		t.Errorf("%v: %s", err, out)
	}
}

type tree map[string]string

func (t tree) Files() ([]string, error) { return slices.Collect(maps.Keys(t)), nil }

func (t tree) Read(path string, limit int64) ([]byte, error) {
	text, found := t[path]
	switch {
	case !found:
		return nil, fault.New(fault.NotFound, "no file %s", path)
	case int64(len(text)) > limit:
		return nil, fault.New(fault.Invalid, "%s is too large", path)
	}
	return []byte(text), nil
}

// with returns the tree with other files.
func (t tree) with(files tree) tree {
	all := maps.Clone(t)
	maps.Copy(all, files)
	return all
}

func newPool(program string, memory int64) *rendered.Pool {
	return rendered.NewPool(rendered.Options{Program: program, Children: 2, Memory: memory, Now: time.Now})
}

func differences(t *testing.T, before, after tree) []rendered.Difference {
	t.Helper()
	var changed []string
	for file, text := range after {
		if before[file] != text {
			changed = append(changed, file)
		}
	}
	slices.Sort(changed)
	found, err := newPool(os.Args[0], rendered.MaxMemory).Differences(t.Context(), rendered.Change{Before: before, After: after, Changed: changed})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: quay.io/acme/web}]}
`

func overlay(tag string) tree {
	return tree{
		"apps/web/base/kustomization.yaml":         "resources: [deployment.yaml]\n",
		"apps/web/base/deployment.yaml":            deployment,
		"apps/web/overlays/prod/kustomization.yml": "resources: [../../base]\nnamePrefix: prod-\nimages: [{name: quay.io/acme/web, newTag: \"" + tag + "\"}]\nconfigMapGenerator: [{name: settings, files: [app.ini=settings.ini]}]\n",
		"apps/web/overlays/prod/settings.ini":      "a=1\n",
		"unrelated/broken.yaml":                    "{",
	}
}

func TestDifferences_ofAnOverlayWithItsBase(t *testing.T) {
	t.Parallel()
	found := differences(t, overlay("1.4.1"), overlay("1.4.2"))
	if len(found) != 1 || found[0].Problem != "" || found[0].Objects != 1 || found[0].Name() != "kustomization apps/web/overlays/prod" {
		t.Fatalf("got %+v", found)
	}
	for _, want := range []string{"--- Deployment prod-web", "-      - image: quay.io/acme/web:1.4.1", "+      - image: quay.io/acme/web:1.4.2"} {
		if !strings.Contains(found[0].Diff, want) {
			t.Errorf("no %q in:\n%s", want, found[0].Diff)
		}
	}
	if strings.Contains(found[0].Diff, "ConfigMap") {
		t.Errorf("an object that stays is shown:\n%s", found[0].Diff)
	}
}

func chart(tag string) tree {
	return tree{
		"charts/shop/Chart.yaml":                    "apiVersion: v2\nname: shop\nversion: 0.1.0\ndependencies: [{name: cache, version: 0.1.0, condition: cache.enabled}]\n",
		"charts/shop/values.yaml":                   "image: {repository: quay.io/acme/web, tag: none}\nreplicas: 1\ncache: {enabled: true}\n",
		"charts/shop/values-prod.yaml":              "image: {tag: \"" + tag + "\"}\nreplicas: 3\n",
		"charts/shop/templates/_helpers.tpl":        "{{ define \"image\" }}{{ .Values.image.repository }}:{{ .Values.image.tag }}{{ end }}\n",
		"charts/shop/templates/web.yaml":            "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n  - name: web\n    image: {{ include \"image\" . }}\n    replicas: {{ .Values.replicas }}\n",
		"charts/shop/templates/secret.yaml":         "apiVersion: v1\nkind: Secret\nmetadata: {name: token}\nstringData: {token: \"top-secret-{{ .Values.image.tag }}\"}\n",
		"charts/shop/templates/NOTES.txt":           "hello\n",
		"charts/shop/charts/cache/Chart.yaml":       "apiVersion: v2\nname: cache\nversion: 0.1.0\n",
		"charts/shop/charts/cache/templates/a.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: cache}\n",
	}
}

func TestDifferences_ofAChartWithTheChangedValues(t *testing.T) {
	t.Parallel()
	found := differences(t, chart("1.4.1"), chart("1.4.2"))
	if len(found) != 1 || found[0].Problem != "" || found[0].Objects != 2 || found[0].Name() != "Helm chart charts/shop with values-prod.yaml" {
		t.Fatalf("got %+v", found)
	}
	if !strings.Contains(found[0].Diff, "+    image: quay.io/acme/web:1.4.2") {
		t.Errorf("the image is not in:\n%s", found[0].Diff)
	}
	if strings.Contains(found[0].Diff, "top-secret") || !strings.Contains(found[0].Diff, "(not shown: changed)") {
		t.Errorf("the secret is shown, or missing:\n%s", found[0].Diff)
	}
}

func TestDifferences_refusesWhatNeedsTheNetworkOrPrograms(t *testing.T) {
	t.Parallel()
	for name, kustomization := range map[string]string{
		"a remote base":         "resources: [\"https://github.com/acme/base?ref=v1\"]",
		"without a scheme":      "resources: [\"github.com/acme/base//deploy?ref=v1\"]",
		"over ssh":              "bases: [\"git@github.com:acme/base.git\"]",
		"a remote component":    "components: [\"gitlab.example.com/acme/base\"]",
		"a file of a generator": "configMapGenerator: [{name: a, files: [\"a=https://example.com/a\"]}]",
		"charts":                "helmCharts: [{name: redis, repo: \"oci://example.com/charts\"}]",
		"a generator":           "generators: [plugin.yaml]",
		"a transformer":         "transformers: [{kind: Exec}]",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := tree{"prod/kustomization.yaml": kustomization + "\nimages: [{name: web, newTag: \"1\"}]\n", "prod/plugin.yaml": "kind: Exec\n"}
			found := differences(t, before, before.with(tree{"prod/kustomization.yaml": kustomization + "\nimages: [{name: web, newTag: \"2\"}]\n"}))
			if len(found) != 1 || !strings.Contains(found[0].Problem, "it is not rendered") || !strings.HasPrefix(found[0].Problem, "prod/kustomization.yaml:1: ") {
				t.Errorf("got %+v", found)
			}
		})
	}
}

// A base in the repository can name what is not there.
func TestDifferences_refusesARemoteReferenceOfABase(t *testing.T) {
	t.Parallel()
	remote := tree{"apps/web/base/kustomization.yaml": "resources: [deployment.yaml, \"https://example.com/more.yaml\"]\n"}
	found := differences(t, overlay("1.4.1").with(remote), overlay("1.4.2").with(remote))
	if len(found) != 1 || !strings.HasPrefix(found[0].Problem, "apps/web/base/kustomization.yaml:1: https://example.com/more.yaml") {
		t.Errorf("got %+v", found)
	}
}

func TestDifferences_hasTheReasonOfARootThatCannotBeRendered(t *testing.T) {
	t.Parallel()
	broken := tree{"charts/shop/templates/web.yaml": "{{ fail \"no\" }}"}
	before, after := chart("1.4.1").with(broken).with(overlay("1.4.1")), chart("1.4.2").with(broken).with(overlay("1.4.2"))
	found := differences(t, before, after)
	if len(found) != 2 || !strings.Contains(found[0].Problem, "helm template: ") || found[1].Objects != 1 {
		t.Errorf("got %+v", found)
	}
	missing := tree{"charts/shop/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 0.1.0\ndependencies: [{name: redis, version: 1.0.0, repository: \"oci://example.com\"}]\n"}
	found = differences(t, chart("1.4.1").with(missing), chart("1.4.2").with(missing))
	if len(found) != 1 || found[0].Problem != "the chart needs redis, which are not in its folder charts" {
		t.Errorf("got %+v", found)
	}
}

// A template can make any amount of text.
func TestDifferences_stopsWhatUsesTooMuch(t *testing.T) {
	t.Parallel()
	for name, template := range map[string]string{
		"memory": `{{ $a := "aaaaaaaaaaaaaaaa" }}{{ range until 40 }}{{ $a = cat $a $a }}{{ end }}{{ $a }}`,
		"text":   `{{ range until 20000 }}{{ repeat 5000 "a" }}{{ end }}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hungry := tree{"charts/shop/templates/web.yaml": "a: " + template}
			before, after := chart("1.4.1").with(hungry), chart("1.4.2").with(hungry)
			change := rendered.Change{Before: before, After: after, Changed: []string{"charts/shop/values-prod.yaml"}}
			found, err := newPool(os.Args[0], rendered.MaxMemory).Differences(t.Context(), change)
			t.Logf("%+v, %v", found, err)
			if err == nil && (len(found) != 1 || found[0].Problem == "") {
				t.Errorf("got %d differences, %v", len(found), err)
			}
			if err != nil && (fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "memory") && !strings.Contains(err.Error(), "processor")) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestDifferences_outsideOfKustomizationsAndChartsAreNone(t *testing.T) {
	t.Parallel()
	if found := differences(t, tree{"prod/web.yaml": "image: a:1\n"}, tree{"prod/web.yaml": "image: a:2\n"}); len(found) != 0 {
		t.Errorf("got %+v", found)
	}
}
