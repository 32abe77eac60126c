package chartcheck

import (
	"testing"
	"time"

	serverconfig "promoter/internal/config/server"
)

// promoter can read the rendered config file with the variables of the pod.
func TestConfigMap_loads(t *testing.T) {
	t.Parallel()
	for name, file := range cases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var text string
			variables := map[string]string{}
			for _, one := range objects(t, mustRender(t, file).text) {
				text += one.Data["promoter-server.yaml"]
				if made, found := one.pod(); found {
					variables = environment(made.Containers[0])
				}
			}
			if existing := valuesOf(t, file)["existingConfigMap"]; existing != nil {
				if text != "" {
					t.Error("there is a ConfigMap beside the one that exists")
				}
				return
			}
			server, problems := serverconfig.Load("promoter-server.yaml", []byte(text), func(name string) (string, bool) {
				value, found := variables[name]
				return value, found
			})
			if server == nil || problems.String() != "" {
				t.Fatalf("%s\n%s", problems, text)
			}
			checkServer(t, server, variables)
		})
	}
}

func checkServer(t *testing.T, server *serverconfig.Config, variables map[string]string) {
	t.Helper()
	if len(server.Forges) == 0 {
		t.Error("the forges are lost")
	}
	if _, serves := variables["PROMOTER_LISTEN"]; !serves {
		return
	}
	if server.Listen != ":8080" || server.Metrics.Listen != ":9090" || server.Data != "/var/lib/promoter" {
		t.Errorf("listen %q, metrics %q, data %q", server.Listen, server.Metrics.Listen, server.Data)
	}
	_, postgresql := variables["PROMOTER_DATABASE_URL"]
	if server.Database.URL.IsZero() == postgresql || (server.Database.Path == "") != postgresql {
		t.Errorf("database %+v", server.Database)
	}
}

// environment returns the variables of a container, with a placeholder for each
// one from a Secret.
func environment(c container) map[string]string {
	variables := map[string]string{}
	for _, one := range c.Env {
		name, _ := one["name"].(string)
		value, plain := one["value"].(string)
		if !plain {
			value = "from a Secret"
		}
		variables[name] = value
	}
	return variables
}

// Numbers keep their format in Helm, which supports only floats.
func TestConfigMap_numbers(t *testing.T) {
	t.Parallel()
	out := mustRender(t, cases(t)["serve-sqlite-full"])
	for _, one := range objects(t, out.text) {
		text, found := one.Data["promoter-server.yaml"]
		if !found {
			continue
		}
		server, problems := serverconfig.Load("promoter-server.yaml", []byte(text), func(string) (string, bool) { return "", false })
		if server == nil {
			t.Fatal(problems)
		}
		for _, forge := range server.Forges {
			if forge.App != nil && forge.App.ID != 12345678 {
				t.Errorf("the App is %d", forge.App.ID)
			}
		}
		if server.Poll != 10*time.Minute {
			t.Errorf("poll is %s", server.Poll)
		}
	}
}
