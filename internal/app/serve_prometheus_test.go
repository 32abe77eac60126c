package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// observed has health that Argo CD reports, an environment that waits for it, and one with
// pull requests.
const observed = `version: 1
components:
  web: {image: $R/acme/web, select: {semver: ">=1"}}
  worker: {image: $R/acme/worker, select: {semver: ">=1"}}
environments:
  staging: {paths: ["staging/{application}.yaml"], land: push, health: {argocd: ["{application}-staging"], from: reports}}
  prod: {paths: ["prod/{application}.yaml"], land: push, after: {staging: {healthy: true, soak: 1h}}}
  dev: {paths: ["dev/{application}.yaml"]}
`

// Prometheus scrapes a service that has promoted, failed, recovered, and received reports. It
// loads the alert rules, and every expression of the rules and of the Grafana dashboards selects
// series that the service exports, with the labels that the expression uses.
func TestServe_prometheus(t *testing.T) {
	t.Parallel()
	program := registryProgram(t, "PROMOTER_PROMETHEUS", "prometheus")
	s := newStory(t, "github", observed)
	e := newEngines(t, s.forge.URL()+"/acme/gitops.git")
	w := serveAs(t, s, serving{quiet: -1, poll: "1h", receivers: `  reports: {kind: argocd, secret: "env:HOOK", header: X-Argo}
` + e.destinations(s.forge.Host()+"/acme/*", "refresh")})
	staging := func() string { return strings.TrimSpace(s.repo.Git.Run("rev-parse", "main")) }
	w.publish("web", "1.1.0")
	w.reports("reports", "Healthy", staging())
	s.wait(2 * time.Hour)
	w.notify("web:1.1.0") // after the soak
	w.reconciles()
	s.holds("prod", "1.1.0 1.0.0")
	w.publish("web", "1.2.0")
	w.reports("reports", "Degraded", staging())
	s.wait(time.Hour)
	w.notify("web:1.2.0")
	w.reconciles()
	w.publish("web", "1.3.0")
	w.reports("reports", "Healthy", staging())
	w.post("images", "{}", "X-Signature", "sha256=00")
	s.registry.Replace(func(response http.ResponseWriter, _ *http.Request) {
		response.Header().Set("Retry-After", "1800")
		response.WriteHeader(http.StatusTooManyRequests)
	})
	w.notify("web:1.4.0")
	w.ever("reconcile error")
	w.rests()

	p := startPrometheus(t, program, w.scraped)
	p.waitFor(`count_over_time(promoter_work_waiting[1m]) >= 3`)
	for _, file := range []string{"delivery.json", "operation.json"} {
		checkDashboard(t, p, filepath.Join("../../config/grafana", file))
	}
	checkRules(t, p)
	w.stop()
}

const rulesOfServe = "../../config/prometheus/promoter.yaml"

// checkRules checks the expressions of the alert rules, and that Prometheus evaluates them.
func checkRules(t *testing.T, p *prometheus) {
	t.Helper()
	text, err := os.ReadFile(rulesOfServe)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			names = append(names, rule.Alert)
			p.serves(rule.Alert, rule.Expr)
		}
	}
	p.waitFor(`count_over_time(ALERTS{alertname="PromoterHostBackoff", alertstate="pending"}[1m]) >= 2`)
	var loaded struct {
		Groups []struct {
			Rules []struct{ Name, Health, LastError string }
		}
	}
	p.get("/api/v1/rules", nil, &loaded)
	for _, group := range loaded.Groups {
		for _, rule := range group.Rules {
			if rule.Health != "ok" {
				t.Errorf("%s is %s: %s", rule.Name, rule.Health, rule.LastError)
			}
			names = slices.DeleteFunc(names, func(name string) bool { return name == rule.Name })
		}
	}
	if len(names) != 0 {
		t.Errorf("Prometheus did not load %q", names)
	}
}

// dashboard is the part of a Grafana dashboard that the tests use.
type dashboard struct {
	UID, Title string
	Templating struct {
		List []struct {
			Name, Type string
			Definition string
		}
	}
	Panels []struct {
		ID          int
		Type, Title string
		Datasource  struct{ UID string }
		GridPos     struct{ X, Y, W, H int }
		Targets     []struct{ RefID, Expr, LegendFormat string }
	}
}

// checkDashboard checks the expressions, legends, and variables of a dashboard, and its layout.
func checkDashboard(t *testing.T, p *prometheus, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(path)
	defined := map[string]bool{"__rate_interval": true, "__range": true}
	for _, variable := range d.Templating.List {
		defined[variable.Name] = true
		if found := regexp.MustCompile(`^label_values\((\w+), (\w+)\)$`).FindStringSubmatch(variable.Definition); found != nil {
			p.serves(name+": variable "+variable.Name, fmt.Sprintf(`%s{%s="$%s"}`, found[1], found[2], variable.Name))
		} else if variable.Type == "query" {
			t.Errorf("%s: the variable %s is %s", name, variable.Name, variable.Definition)
		}
	}
	for _, used := range regexp.MustCompile(`\$\{?(\w+)`).FindAllStringSubmatch(string(text), -1) {
		if !defined[used[1]] {
			t.Errorf("%s: there is no variable %s", name, used[1])
		}
	}
	cells, ids := map[[2]int]string{}, map[int]bool{}
	for _, panel := range d.Panels {
		what := name + ": " + panel.Title
		if ids[panel.ID] {
			t.Errorf("%s has the id of another panel", what)
		}
		ids[panel.ID] = true
		for x := range panel.GridPos.W {
			for y := range panel.GridPos.H {
				cell := [2]int{panel.GridPos.X + x, panel.GridPos.Y + y}
				if cells[cell] != "" || cell[0] >= 24 {
					t.Fatalf("%s overlaps %s, or the edge", what, cells[cell])
				}
				cells[cell] = panel.Title
			}
		}
		if panel.Type != "row" && (len(panel.Targets) == 0 || panel.Datasource.UID != "${datasource}") {
			t.Errorf("%s queries nothing, or another data source", what)
		}
		for _, target := range panel.Targets {
			var labels []string
			for _, label := range regexp.MustCompile(`\{\{(\w+)\}\}`).FindAllStringSubmatch(target.LegendFormat, -1) {
				labels = append(labels, label[1])
			}
			p.serves(what, target.Expr, labels...)
		}
	}
}

// prometheus is a running Prometheus server.
type prometheus struct {
	t   *testing.T
	url string
}

var prometheusListens = regexp.MustCompile(`msg="?Listening on"? address=(127\.0\.0\.1:\d+)`)

// startPrometheus starts a server that scrapes target as the job promoter, and evaluates the
// alert rules.
func startPrometheus(t *testing.T, program, target string) *prometheus {
	t.Helper()
	rules, err := filepath.Abs(rulesOfServe)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	file := writeFile(t, filepath.Join(folder, "prometheus.yml"), fmt.Sprintf(`global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [%q]
scrape_configs:
  - {job_name: promoter, static_configs: [{targets: [%q]}]}
`, rules, target))
	command := exec.CommandContext(t.Context(), program, "--config.file="+file, "--web.listen-address=127.0.0.1:0", "--storage.tsdb.path="+filepath.Join(folder, "data"))
	address, ready := "", false
	startCounterpart(t, command, func(line string) bool { // two goroutines log these, in any order
		if found := prometheusListens.FindStringSubmatch(line); found != nil {
			address = found[1]
		}
		ready = ready || strings.Contains(line, "ready to receive web requests")
		return address != "" && ready
	})
	return &prometheus{t: t, url: "http://" + address}
}

// get reads an answer of the HTTP API into a value.
func (p *prometheus) get(path string, query url.Values, into any) {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.url+path+"?"+query.Encode(), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	var answer struct {
		Error string
		Data  json.RawMessage
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		p.t.Fatalf("%s %s: %v", path, query, err)
	}
	if answer.Error != "" {
		p.t.Errorf("%s: %s", query, answer.Error)
		return
	}
	if err := json.Unmarshal(answer.Data, into); err != nil {
		p.t.Fatalf("%s %s: %v", path, query, err)
	}
}

// query evaluates an expression, and returns the labels of each series.
func (p *prometheus) query(expression string) (series []map[string]string) {
	p.t.Helper()
	var data struct {
		Result []struct{ Metric map[string]string }
	}
	p.get("/api/v1/query", url.Values{"query": {expression}}, &data)
	for _, one := range data.Result {
		series = append(series, one.Metric)
	}
	return series
}

// waitFor waits until an expression has a result.
func (p *prometheus) waitFor(expression string) {
	p.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(patience); len(p.query(expression)) == 0; {
		select {
		case <-tick.C:
		case <-deadline:
			p.t.Fatalf("%s has no result", expression)
		}
	}
}

// What makes an expression select all series with its names and labels.
var (
	matcher    = regexp.MustCompile(`(\w+)\s*(=~|!~|!=|=)\s*"[^"]*"`)
	comparison = regexp.MustCompile(`\s*(==|>=|<=|>|<)\s*[\d.]+`)
	absent     = regexp.MustCompile(`\babsent\(`)
	unless     = regexp.MustCompile(`\bunless\b`)
	otherwise  = regexp.MustCompile(`\s+or vector\(0\)$`)
	grouping   = regexp.MustCompile(`\b\w+ by \(([\w, ]+)\) \(`)
)

// serves reports an error unless an expression has a result when its thresholds and the values
// in its matchers do not count: then every metric and label in it is exported. The result has
// each label of a legend, and each aggregation in it the labels that it groups by.
func (p *prometheus) serves(what, expression string, legend ...string) {
	p.t.Helper()
	ranges := strings.NewReplacer("$__rate_interval", "1m", "$__range", "1h")
	p.query(ranges.Replace(expression)) // as it is, without an error
	relaxed := matcher.ReplaceAllString(otherwise.ReplaceAllString(expression, ""), `$1=~".+"`)
	relaxed = comparison.ReplaceAllString(relaxed, "")
	relaxed = ranges.Replace(unless.ReplaceAllString(absent.ReplaceAllString(relaxed, "("), "or"))
	p.labeled(what, relaxed, legend)
	for _, at := range grouping.FindAllStringSubmatchIndex(relaxed, -1) {
		labels := strings.Split(strings.ReplaceAll(relaxed[at[2]:at[3]], " ", ""), ",")
		p.labeled(what, relaxed[at[0]:at[1]]+inParentheses(relaxed[at[1]:]), labels)
	}
}

// labeled reports an error unless an expression has a result, and a series of it each label.
func (p *prometheus) labeled(what, expression string, labels []string) {
	p.t.Helper()
	series := p.query(expression)
	if len(series) == 0 {
		p.t.Errorf("%s: no series for %s", what, expression)
		return
	}
	for _, label := range labels {
		if !slices.ContainsFunc(series, func(labels map[string]string) bool { return labels[label] != "" }) {
			p.t.Errorf("%s: no label %s in the result of %s", what, label, expression)
		}
	}
}

// inParentheses returns what comes after an opening parenthesis, up to the closing one.
func inParentheses(text string) string {
	open := 1
	for i, r := range text {
		switch r {
		case '(':
			open++
		case ')':
			open--
		}
		if open == 0 {
			return text[:i+1]
		}
	}
	return text
}
