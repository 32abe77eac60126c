package chartcheck

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

const rulesFolder = "../../config/prometheus"

// alert is a rule of Prometheus.
type alert struct {
	Alert, Expr         string
	Labels, Annotations map[string]string
}

func alerts(t *testing.T) []alert {
	t.Helper()
	var all []alert
	for _, name := range []string{"promoter.yaml", "promoter-cronjob.yaml"} {
		text, err := os.ReadFile(filepath.Join(rulesFolder, name))
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ Groups []struct{ Rules []alert } }
		if err := yaml.Unmarshal(text, &file); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, group := range file.Groups {
			all = append(all, group.Rules...)
		}
	}
	return all
}

// Every alert has a runbook, a severity that the page explains, and a case in which it fires.
func TestAlerts_haveRunbooks(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operate/alerts.md")
	if err != nil {
		t.Fatal(err)
	}
	test, err := os.ReadFile(rulesFolder + "/promoter_test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var names, sections []string
	for _, one := range alerts(t) {
		names = append(names, one.Alert)
		if want := "docs/operate/alerts.md#" + strings.ToLower(one.Alert); one.Annotations["runbook_url"] != want {
			t.Errorf("%s: runbook_url is %s, want %s", one.Alert, one.Annotations["runbook_url"], want)
		}
		if severity := one.Labels["severity"]; !strings.Contains(string(page), fmt.Sprintf("`%s` means", severity)) {
			t.Errorf("%s: the page does not explain the severity %q", one.Alert, severity)
		}
		if !regexp.MustCompile(`alertname: ` + one.Alert + `\n.*\n +exp_alerts:`).Match(test) {
			t.Errorf("%s: promoter_test.yaml has no case in which it fires", one.Alert)
		}
	}
	for _, heading := range regexp.MustCompile(`(?m)^### (Promoter\w+)$`).FindAllStringSubmatch(string(page), -1) {
		sections = append(sections, heading[1])
	}
	slices.Sort(names)
	slices.Sort(sections)
	if diff := cmp.Diff(names, sections); diff != "" {
		t.Errorf("docs/operate/alerts.md (-rules +sections):\n%s", diff)
	}
}

// Prometheus accepts the rules, and its own test runner evaluates each alert on series for
// which it fires, and on others.
func TestAlerts_fire(t *testing.T) {
	t.Parallel()
	promtool := promtool(t)
	for _, arguments := range [][]string{{"check", "rules", "promoter.yaml", "promoter-cronjob.yaml"}, {"test", "rules", "promoter_test.yaml"}} {
		command := exec.CommandContext(t.Context(), promtool, arguments...)
		command.Dir = rulesFolder
		if output, err := command.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(arguments, " "), err, output)
		}
	}
}

func promtool(t *testing.T) string {
	t.Helper()
	if prometheus := os.Getenv("PROMOTER_PROMETHEUS"); prometheus != "" {
		return filepath.Join(filepath.Dir(prometheus), "promtool")
	}
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not on PATH and PROMOTER_PROMETHEUS is not set")
	}
	return path
}

// The chart contains copies of the files of config, because Helm packages only its folder.
func TestFiles_areCopies(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(folder + "/files")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) == 0 {
		t.Error("the chart has no files")
	}
	for _, entry := range entries {
		original, err := filepath.Glob("../../config/*/" + entry.Name())
		if err != nil || len(original) != 1 {
			t.Errorf("%s: the originals are %q, %v", entry.Name(), original, err)
			continue
		}
		text, err := os.ReadFile(original[0])
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "../files/"+entry.Name(), string(text))
	}
}

// The rules of a release select its own job or CronJob, and link to the documents.
func TestPrometheusRule_isAboutTheRelease(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"serve-sqlite-full": `{job="images", namespace="gitops"`,
		"cronjob":           `{cronjob="promoter", namespace="gitops"`,
	} {
		text := mustRender(t, cases(t)[name]).text
		_, text, _ = strings.Cut(text, "kind: PrometheusRule")
		text, _, _ = strings.Cut(text, "\n---")
		var rule struct {
			Spec struct{ Groups []struct{ Rules []alert } }
		}
		if err := yaml.Unmarshal([]byte("kind: PrometheusRule"+text), &rule); err != nil {
			t.Fatal(err)
		}
		if len(rule.Spec.Groups) != 1 || len(rule.Spec.Groups[0].Rules) == 0 {
			t.Fatalf("%s: no rules in\n%s", name, text)
		}
		for _, one := range rule.Spec.Groups[0].Rules {
			if !strings.Contains(one.Expr, want) || strings.Contains(one.Expr, `job="promoter"}`) {
				t.Errorf("%s: %s is about %s, want %s", name, one.Alert, one.Expr, want)
			}
			if link := one.Annotations["runbook_url"]; name == "serve-sqlite-full" && !strings.HasPrefix(link, "https://git.example.com/mirrors/promoter/blob/v0.1.0/docs/operate/") {
				t.Errorf("%s: the runbook is %s", one.Alert, link)
			}
		}
	}
}
