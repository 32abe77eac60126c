package chartcheck

import (
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/strvals"
)

// Inconsistent values are rejected at render time, with advice.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ set, says string }{
		"several with SQLite":        {"replicas=2", "replicas is 2 and database.kind is sqlite: one process uses the file; set database.kind to postgresql"},
		"PostgreSQL without URL":     {"database.kind=postgresql", "name the Secret that holds the URL in database.existingSecret"},
		"SQLite with URL":            {"database.existingSecret=db", "set database.kind to postgresql"},
		"PostgreSQL with a claim":    {"database.kind=postgresql,database.existingSecret=db,persistence.existingClaim=old", "leave persistence.existingClaim empty"},
		"a pass with PostgreSQL":     {"mode=cronjob,database.kind=postgresql", "mode cronjob has no database"},
		"several passes":             {"mode=cronjob,replicas=2", "mode cronjob runs one pass at a time"},
		"a pass with an Ingress":     {"mode=cronjob,ingress.enabled=true", "mode cronjob takes no webhooks"},
		"a pass with metrics":        {"mode=cronjob,serviceMonitor.enabled=true", "mode cronjob has no port"},
		"an Ingress without hosts":   {"ingress.enabled=true", "name the hosts in ingress.hosts"},
		"a pass with dashboards":     {"mode=cronjob,dashboards.enabled=true", "mode cronjob has no metrics"},
		"a pass with a route":        {"mode=cronjob,httpRoute.enabled=true", "leave httpRoute.enabled at false"},
		"a route without a Gateway":  {"httpRoute.enabled=true", "name the Gateways in httpRoute.parentRefs"},
		"a field of the chart":       {"extraPodSpec.volumes=", "extraPodSpec.volumes is set by the chart"},
		"alerts without metrics":     {"prometheusRule.enabled=true", "set serviceMonitor.enabled to true"},
		"metrics of no namespace":    {"serviceMonitor.enabled=true", "name the namespace of Prometheus in networkPolicy.metricsFrom"},
		"a namespace that is none":   {"networkPolicy.metricsFrom={Monitoring}", "metricsFrom"},
		"metrics in the file":        {"config.metrics.listen=:9", "config.metrics is set by the chart"},
		"no forges":                  {"config=null", "config names no forges"},
		"two files":                  {"config.poll=1m,existingConfigMap=mine", "config and existingConfigMap are both set"},
		"listen in the file":         {"config.listen=:9", "config.listen is set by the chart"},
		"data in the file":           {"config.data=/d", "config.data is set by the chart"},
		"the database in the file":   {"config.database.path=/d", "see the value database"},
		"TLS in the file":            {"config.tls.key=/k", "name the Secret with the certificate in tls.existingSecret"},
		"a pass with TLS":            {"mode=cronjob,tls.existingSecret=t", "mode cronjob has no port: leave tls.existingSecret empty"},
		"a certificate in a folder":  {"tls.certificate=a/b", "certificate"},
		"no image":                   {"image.repository=", "image.repository is empty: push the image that `make image` builds"},
		"unknown value":              {"replica=2", "replica"},
		"unknown value below":        {"image.registry=quay.io", "registry"},
		"unknown mode":               {"mode=daemon", "mode"},
		"a tag in the repository":    {"image.repository=quay.io/promoter@sha256:1", "repository"},
		"a digest that is none":      {"image.digest=sha256:12", "digest"},
		"a folder with a slash":      {"secrets.a/b=s", "a/b"},
		"a variable without its key": {"secretEnv.TOKEN.secret=s", "key"},
		"a password as a value":      {"secretEnv.TOKEN=hunter2", "TOKEN"},
		"a size without a unit name": {"persistence.size=10GB", "size"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := least()
			if err := strvals.ParseInto(test.set, values); err != nil {
				t.Fatal(err)
			}
			_, err := render(values)
			if err == nil {
				t.Fatal("it is rendered")
			}
			if !strings.Contains(err.Error(), test.says) {
				t.Errorf("it says %q, want %q", err, test.says)
			}
		})
	}
}

// least returns the required values.
func least() map[string]any {
	return map[string]any{
		"image":  map[string]any{"repository": "registry.example.com/promoter"},
		"config": map[string]any{"forges": map[string]any{"github": map[string]any{"kind": "github", "token": "env:TOKEN"}}},
	}
}

// Only the image and a forge are required, and no Secret is created.
func TestLeast(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"serve", "cronjob"} {
		values := least()
		values["mode"] = mode
		out, err := render(values)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range objects(t, out.text) {
			if one.Kind == "Secret" {
				t.Errorf("mode %s makes the Secret %s", mode, one.Metadata.Name)
			}
		}
	}
}
