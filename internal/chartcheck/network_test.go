package chartcheck

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// network is what the tests use of a NetworkPolicy and a Service.
type network struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		PolicyTypes []string `yaml:"policyTypes"`
		Ingress     []struct {
			Ports []struct{ Port string }
			From  []struct {
				Namespace struct {
					Labels map[string]yaml.Node `yaml:"matchLabels"`
				} `yaml:"namespaceSelector"`
			}
		}
		Egress    []any
		Type      string
		ClusterIP string `yaml:"clusterIP"`
		Ports     []struct {
			Name       string
			TargetPort string `yaml:"targetPort"`
		}
	}
}

// networks returns the objects of a kind of a release with these values.
func networks(t *testing.T, kind string, values map[string]any) []network {
	t.Helper()
	out, err := render(values)
	if err != nil {
		t.Fatal(err)
	}
	var found []network
	decoder := yaml.NewDecoder(strings.NewReader(out.text))
	for {
		var parsed network
		err := decoder.Decode(&parsed)
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if parsed.Kind == kind {
			found = append(found, parsed)
		}
	}
}

// reached returns who may reach each port: "*" for any source, or the namespaces, with the type of their names: a
// label is a text.
func reached(policy network) map[string][]string {
	ports := map[string][]string{}
	for _, rule := range policy.Spec.Ingress {
		from := []string{"*"}
		if len(rule.From) > 0 {
			from = nil
		}
		for _, peer := range rule.From {
			name := peer.Namespace.Labels["kubernetes.io/metadata.name"]
			from = append(from, name.ShortTag()+" "+name.Value)
		}
		for _, port := range rule.Ports {
			ports[port.Port] = append(ports[port.Port], from...)
		}
	}
	return ports
}

// By default, any source reaches webhooks and pages, none reaches metrics, and what promoter
// connects to is not limited.
func TestNetworkPolicy_whoReachesWhat(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		mode   string
		policy map[string]any
		want   map[string][]string
	}{
		"default": {"serve", nil, map[string][]string{"http": {"*"}}},
		"Prometheus": {
			"serve",
			map[string]any{"metricsFrom": []any{"monitoring", "2048"}},
			map[string][]string{"http": {"*"}, "metrics": {"!!str monitoring", "!!str 2048"}},
		},
		"an Ingress": {
			"serve",
			map[string]any{"from": []any{map[string]any{"namespaceSelector": map[string]any{
				"matchLabels": map[string]any{"kubernetes.io/metadata.name": "ingress"},
			}}}},
			map[string][]string{"http": {"!!str ingress"}},
		},
		"a CronJob has no port": {"cronjob", map[string]any{"metricsFrom": []any{"monitoring"}}, map[string][]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := least()
			values["mode"] = test.mode
			if test.policy != nil {
				values["networkPolicy"] = test.policy
			}
			policies := networks(t, "NetworkPolicy", values)
			if len(policies) != 1 {
				t.Fatalf("%d policies", len(policies))
			}
			if diff := cmp.Diff([]string{"Ingress"}, policies[0].Spec.PolicyTypes); diff != "" || policies[0].Spec.Egress != nil {
				t.Errorf("egress %v, types (-want +got):\n%s", policies[0].Spec.Egress, diff)
			}
			if diff := cmp.Diff(test.want, reached(policies[0])); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	values := least()
	values["networkPolicy"] = map[string]any{"enabled": false}
	if policies := networks(t, "NetworkPolicy", values); len(policies) != 0 {
		t.Errorf("it cannot be disabled: %+v", policies)
	}
}

// The Service that may have an address outside of the cluster does not have the port of
// metrics.
func TestService_metricsStayInTheCluster(t *testing.T) {
	t.Parallel()
	values := least()
	values["service"] = map[string]any{"type": "LoadBalancer"}
	ports := map[string][]string{}
	for _, service := range networks(t, "Service", values) {
		name := service.Metadata.Name + " " + service.Spec.Type + service.Spec.ClusterIP
		for _, port := range service.Spec.Ports {
			ports[name] = append(ports[name], port.Name+" "+port.TargetPort)
		}
	}
	want := map[string][]string{"promoter LoadBalancer": {"http http"}, "promoter-metrics None": {"metrics metrics"}}
	if diff := cmp.Diff(want, ports); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
