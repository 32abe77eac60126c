package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"promoter/internal/git/gittest"
)

// container is a step of Tekton or a container of Argo Workflows, with the security that the
// files set for each.
type container struct {
	Name, Image, WorkingDir string
	Command, Args           []string
	SecurityContext         struct {
		AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
		RunAsNonRoot             bool  `yaml:"runAsNonRoot"`
		Capabilities             struct{ Drop []string }
		SeccompProfile           struct{ Type string } `yaml:"seccompProfile"`
	} `yaml:"securityContext"`
	Env    []any
	Script string
}

// object is a Task of Tekton, or a WorkflowTemplate or CronWorkflow of Argo Workflows, as far as
// the tests interpret it.
type object struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct{ Name string }
	Spec       struct {
		Description string // Tekton
		Params      []struct {
			Name, Type, Description string
			Default                 any
		}
		Workspaces []struct {
			Name, Description  string
			ReadOnly, Optional bool
		}
		StepTemplate container `yaml:"stepTemplate"`
		Steps        []container
		Volumes      []any

		Templates    []template                     // Argo Workflows
		WorkflowSpec struct{ Templates []template } `yaml:"workflowSpec"`
	}
}

type template struct {
	Name   string
	Inputs struct {
		Parameters []struct{ Name, Value string }
	}
	Container container
}

func readObjects(t *testing.T, name string) map[string]object {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	decoder, all := yaml.NewDecoder(bytes.NewReader(text)), map[string]object{}
	for {
		var one object
		err := decoder.Decode(&one)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[one.Metadata.Name] = one
	}
}

// newClone returns a folder with a clone whose config file differs from that of origin/main.
func newClone(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range pipelineFiles("quay.io") {
		write(t, filepath.Join(dir, name), text)
	}
	gittest.Exec(t, dir, "init", "-q")
	gittest.Exec(t, dir, "add", ".")
	gittest.Exec(t, dir, "commit", "-q", "-m", "Begin")
	gittest.Exec(t, dir, "update-ref", "refs/remotes/origin/main", "HEAD")
	return dir
}

// start runs a container as the system would: without a shell.
func (c container) start(t *testing.T, dir string, parameters map[string]string, list ...string) (string, error) {
	t.Helper()
	if len(c.Command) != 1 || c.Command[0] != "/ko-app/promoter" || c.Script != "" {
		t.Fatalf("%s starts %v %s", c.Name, c.Command, c.Script)
	}
	var args []string
	for _, arg := range c.Args {
		if arg == "$(params.args[*])" {
			args = append(args, list...)
			continue
		}
		for name, value := range parameters {
			arg = strings.NewReplacer("$("+name+")", value, "{{"+name+"}}", value).Replace(arg)
		}
		if strings.Contains(arg, "$(") || strings.Contains(arg, "{{") {
			t.Fatalf("%s: the test gives no %s", c.Name, arg)
		}
		args = append(args, arg)
	}
	command := exec.CommandContext(t.Context(), "promoter", args...)
	command.Dir, command.Env = dir, append(gittest.Environ(), "DOCKER_CONFIG="+t.TempDir())
	out, err := command.CombinedOutput()
	return string(out), err
}

// hardened fails if a container has more rights than it needs, or a credential in its environment.
func (c container) hardened(t *testing.T) {
	t.Helper()
	s := c.SecurityContext
	if s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || !s.RunAsNonRoot || s.SeccompProfile.Type != "RuntimeDefault" ||
		len(s.Capabilities.Drop) != 1 || s.Capabilities.Drop[0] != "ALL" || len(c.Env) > 0 {
		t.Errorf("%s: %+v", c.Name, c)
	}
}

func TestCI_tektonTasks(t *testing.T) {
	t.Parallel()
	needs(t, "git")
	tasks := readObjects(t, "config/ci/tekton/promoter.yaml")
	for name, task := range tasks {
		if task.APIVersion != "tekton.dev/v1" || task.Kind != "Task" || len(task.Spec.Steps) == 0 {
			t.Errorf("%s: %s %s", name, task.APIVersion, task.Kind)
		}
		for _, one := range task.Spec.Steps {
			if name == "promoter-plan" {
				one.SecurityContext = task.Spec.StepTemplate.SecurityContext
			}
			one.hardened(t)
		}
	}
	dir := newClone(t)
	for _, one := range tasks["promoter-plan"].Spec.Steps {
		one.Command = tasks["promoter-plan"].Spec.StepTemplate.Command
		if one.Name == "plan" {
			one.Args = append(one.Args, "--with", "quay.io/acme/web:1.5.0") // there is no registry
			write(t, filepath.Join(dir, ".promoter.yaml"), "version: 2\n")
		}
		out, err := one.start(t, dir, map[string]string{"params.dir": ".", "params.base": "origin/main"})
		if err != nil || one.Name == "plan" && !strings.Contains(out, "dev/shop  proposed  requested: web 1.4.0 -> 1.5.0") {
			t.Errorf("%s: %v\n%s", one.Name, err, out)
		}
	}
	dir = newClone(t)
	with := map[string]string{"params.dir": ".", "params.with": "quay.io/acme/web:1.5.0"}
	if out, err := tasks["promoter-apply"].Spec.Steps[0].start(t, dir, with, "--env", "dev"); err != nil || !strings.Contains(out, "wrote 1 file") {
		t.Errorf("%v\n%s", err, out)
	}
	runs(t, tasks["promoter-run"].Spec.Steps[0], func(folder string) map[string]string {
		return map[string]string{"workspaces.config.path": folder, "workspaces.cache.path": ""}
	})
}

// runs runs a container with an invalid server file, and expects that it is read.
func runs(t *testing.T, c container, parameters func(folder string) map[string]string) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "promoter-server.yaml"), "version: 1\nforges: {}\n")
	out, err := c.start(t, dir, parameters(dir))
	if err == nil || !strings.Contains(out, filepath.Join(dir, "promoter-server.yaml")) {
		t.Errorf("run does not read the server file: %v\n%s", err, out)
	}
}

func TestCI_argoWorkflows(t *testing.T) {
	t.Parallel()
	needs(t, "git")
	objects := readObjects(t, "config/ci/argo/promoter.yaml")
	templates := map[string]template{}
	for _, one := range objects {
		if one.APIVersion != "argoproj.io/v1alpha1" {
			t.Errorf("%s: %s", one.Metadata.Name, one.APIVersion)
		}
		for _, each := range append(one.Spec.Templates, one.Spec.WorkflowSpec.Templates...) {
			each.Container.Name = each.Name
			each.Container.hardened(t)
			templates[each.Name] = each
		}
	}
	if objects["promoter"].Kind != "WorkflowTemplate" || objects["promoter-run"].Kind != "CronWorkflow" || len(templates) != 4 {
		t.Fatalf("objects: %v", objects)
	}
	dir := newClone(t)
	given := map[string]string{
		"inputs.parameters.with": "quay.io/acme/web:1.5.0", "inputs.parameters.environment": "dev", "inputs.parameters.base": "origin/main",
		"inputs.parameters.dir": ".",
	}
	plan := templates["plan"].Container
	plan.Args = append(plan.Args, "--with", "quay.io/acme/web:1.5.0") // there is no registry
	for _, one := range []struct {
		container
		want string
	}{
		{templates["validate"].Container, "the config is valid"},
		{plan, "dev/shop  proposed  requested: web 1.4.0 -> 1.5.0"},
		{templates["apply"].Container, "wrote 1 file"},
	} {
		if out, err := one.start(t, dir, given); err != nil || !strings.Contains(out, one.want) {
			t.Errorf("%s: %v\n%s", one.Name, err, out)
		}
	}
	run := templates["run"].Container
	for i, arg := range run.Args {
		run.Args[i] = strings.Replace(arg, "/etc/promoter/", "{{folder}}/", 1)
	}
	runs(t, run, func(folder string) map[string]string { return map[string]string{"folder": folder} })
}
