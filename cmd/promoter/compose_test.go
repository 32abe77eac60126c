package main

import (
	"bytes"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"promoter/internal/database/databasetest"
	"promoter/internal/scm/github/githubtest"
)

const composeFolder = "config/deploy/compose"

// composeFile is compose.yaml as far as the tests interpret it.
type composeFile struct {
	Services map[string]composeService
	Volumes  map[string]any
	Networks map[string]struct{ Internal bool }
	Secrets  map[string]struct{ File string }
}

type composeService struct {
	Image, User     string
	Command         []string
	Environment     map[string]string
	Volumes         []string
	Tmpfs           []string
	Secrets         []string
	Networks        []string
	Ports           []string
	Healthcheck     struct{ Test []string }
	StopGracePeriod string   `yaml:"stop_grace_period"`
	ReadOnly        bool     `yaml:"read_only"`
	CapDrop         []string `yaml:"cap_drop"`
	SecurityOpt     []string `yaml:"security_opt"`
}

func TestCompose_conformsToTheSpecification(t *testing.T) {
	t.Parallel()
	file := os.Getenv("PROMOTER_COMPOSE_SCHEMA")
	if file == "" {
		t.Skip("PROMOTER_COMPOSE_SCHEMA is not set: compose.yaml was not validated; hack/tools compose-schema prints its value")
	}
	schema, err := jsonschema.NewCompiler().Compile(file)
	if err != nil {
		t.Fatal(err)
	}
	var document any
	readYAML(t, composeFolder+"/compose.yaml", &document)
	if err := schema.Validate(document); err != nil {
		t.Error(err)
	}
}

// Each service runs as non-root, with a read-only root file system, and without privileges.
// It has its secrets in files, and only webhooks and pages of promoter are published, on loopback.
func TestCompose_rights(t *testing.T) {
	t.Parallel()
	var file composeFile
	readYAML(t, composeFolder+"/compose.yaml", &file)
	for name, service := range file.Services {
		if service.User == "" || strings.HasPrefix(service.User, "0") || service.User == "root" {
			t.Errorf("%s runs as %q", name, service.User)
		}
		if !service.ReadOnly || !slices.Equal(service.CapDrop, []string{"ALL"}) || !slices.Equal(service.SecurityOpt, []string{"no-new-privileges:true"}) {
			t.Errorf("%s has more rights than it needs: %+v", name, service)
		}
		for _, port := range service.Ports {
			if name != "promoter" || port != "127.0.0.1:8080:8080" {
				t.Errorf("%s publishes %s", name, port)
			}
		}
		for _, secret := range service.Secrets {
			if file.Secrets[secret].File != "./secrets/"+secret {
				t.Errorf("%s has the secret %s, which is %+v", name, secret, file.Secrets[secret])
			}
		}
		for _, volume := range service.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			if _, named := file.Volumes[source]; !named && source != "./promoter-server.yaml" {
				t.Errorf("%s mounts %s, which is no volume", name, source)
			}
		}
	}
	if networks := file.Services["database"].Networks; !slices.Equal(networks, []string{"database"}) || !file.Networks["database"].Internal {
		t.Errorf("the networks of the database are %q", networks)
	}
	promoter := file.Services["promoter"]
	if !slices.Contains(promoter.Volumes, "data:"+promoter.Environment["PROMOTER_DATA"]) {
		t.Errorf("%s is no volume", promoter.Environment["PROMOTER_DATA"])
	}
	if grace, err := time.ParseDuration(promoter.StopGracePeriod); err != nil || grace < 30*time.Second {
		t.Errorf("promoter has %s to stop, and needs up to 28s, %v", promoter.StopGracePeriod, err)
	}
}

// The command of the service starts with the server file and the secrets, the command of the
// health check succeeds, and the service ends on the signal of compose.
func TestCompose_servesAndIsHealthy(t *testing.T) {
	t.Parallel()
	var file composeFile
	readYAML(t, composeFolder+"/compose.yaml", &file)
	service := file.Services["promoter"]
	hub := githubtest.New(t, githubtest.Options{})
	hub.AddUser("promoter-bot")
	hub.NewRepository("acme/gitops", map[string]string{"README.md": "nothing yet\n"}).Settings.Permit("promoter-bot", "write")
	databasetest.Start(t)

	dir := t.TempDir()
	places := strings.NewReplacer("/etc/promoter", dir, "/run/secrets", filepath.Join(dir, "secrets"), "/var/lib/promoter", filepath.Join(dir, "data"))
	for name, secret := range map[string]string{
		"token": hub.Token("promoter-bot", "repo", "read:org"), "hook": "the secret of the webhooks", "api-token": "the-token-of-the-api-of-the-operators",
		"database-url": databasetest.Kinds()[1].New(t).URL.Reveal(),
	} {
		if !slices.Contains(service.Secrets, name) {
			t.Errorf("promoter does not have the secret %s", name)
		}
		write(t, filepath.Join(dir, "secrets", name), secret)
	}
	text, err := os.ReadFile(filepath.Join(root, composeFolder, "promoter-server.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	forge := fmt.Sprintf("kind: github, url: %q, insecure: true, token", hub.URL())
	write(t, filepath.Join(dir, "promoter-server.yaml"), strings.Replace(places.Replace(string(text)), "kind: github, token", forge, 1)+"networks: [127.0.0.0/8]\n")

	environment := os.Environ()
	for _, name := range slices.Sorted(maps.Keys(service.Environment)) {
		value := places.Replace(service.Environment[name])
		if name == "PROMOTER_LISTEN" || name == "PROMOTER_METRICS_LISTEN" {
			value = freeAddress(t)
		}
		environment = append(environment, name+"="+value)
	}
	var log bytes.Buffer
	serve := exec.CommandContext(t.Context(), "promoter", service.Command...)
	serve.Env, serve.Stderr = environment, &log
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"CMD", "/ko-app/promoter"}, service.Healthcheck.Test[:2]); diff != "" {
		t.Errorf("the health check does not run the program of the image (-want +got):\n%s", diff)
	}
	var health []byte
	for late := time.Now().Add(time.Minute); ; <-time.After(100 * time.Millisecond) {
		check := exec.CommandContext(t.Context(), "promoter", service.Healthcheck.Test[2:]...)
		check.Env = environment
		if health, err = check.CombinedOutput(); err == nil || time.Now().After(late) {
			break
		}
	}
	if signaled := serve.Process.Signal(syscall.SIGTERM); signaled != nil {
		t.Error(signaled)
	}
	ended := serve.Wait()
	if err != nil || ended != nil {
		t.Errorf("the health check: %v\n%s\nthe service: %v\n%s", err, health, ended, &log)
	}
}

// freeAddress returns an address on loopback at which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed at once
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // it accepted nothing
	return listener.Addr().String()
}
