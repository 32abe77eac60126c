package imports

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"promoter/internal/image"
)

// appStudioGroup is the API group of AppStudio and Konflux.
const appStudioGroup = "appstudio.redhat.com"

// appStudioComponent is the spec of a Component.
// https://konflux-ci.dev/docs/reference/kube-apis/application-api/
type appStudioComponent struct {
	_              without `without:"source secret build-nudges-ref skipGitOpsResourceGeneration"`
	ComponentName  string  `yaml:"componentName"`
	Application    string  `yaml:"application"`
	ContainerImage string  `yaml:"containerImage"`
}

// appStudioEnvironment is the spec of an Environment.
type appStudioEnvironment struct {
	_                  without   `without:"type tags unstableConfigurationFields clusterCredentials"`
	DisplayName        string    `yaml:"displayName"`
	DeploymentStrategy string    `yaml:"deploymentStrategy"`
	ParentEnvironment  string    `yaml:"parentEnvironment"`
	Configuration      yaml.Node `yaml:"configuration"`
}

// releasePlan is the spec of a ReleasePlan.
type releasePlan struct {
	_           without `without:"data"`
	Application string  `yaml:"application"`
	Target      string  `yaml:"target"`
}

// autoRelease is the label of a release plan that releases by itself.
const autoRelease = "release.appstudio.openshift.io/auto-release"

// revisionTag matches the tags of builds of a pushed commit. Those of pull requests have a prefix.
const revisionTag = `^[0-9a-f]{40}$`

// appStudio imports components and environments.
func appStudio(d *draft, all objects) {
	names := map[string]bool{} // of components
	for _, o := range all.of(appStudioGroup, "Component") {
		spec, ok := decode[appStudioComponent](d, o)
		if !ok {
			continue
		}
		repository := spec.ContainerImage
		if i := strings.IndexByte(repository, '@'); i >= 0 {
			repository = repository[:i]
		}
		if i := strings.LastIndexByte(repository, ':'); i > strings.LastIndexByte(repository, '/') {
			repository = repository[:i]
		}
		if repository == "" {
			d.note(o.at(nil), o.title()+" has no containerImage, so it is not imported")
			continue
		}
		d.addComponent(component{
			artifact: image.ArtifactImage, repository: repository, selection: image.Selection{Newest: revisionTag},
			comments: []string{"From " + o.title() + " (" + o.file + "). Builds of pushed commits have the commit as tag."},
		})
		names[o.name], names[spec.ComponentName] = true, true
	}
	scenarios := all.of(appStudioGroup, "IntegrationTestScenario")
	for _, o := range scenarios {
		d.note(o.at(nil),
			o.title()+": integration tests of snapshots have no match. Let their pipeline post the snapshot when it "+
				"passed: see docs/guides/pipeline-snapshots.md")
	}
	environments := all.of(appStudioGroup, "Environment")
	known := func(name string) bool {
		return slices.ContainsFunc(environments, func(o object) bool { return o.name == name })
	}
	for i, o := range environments {
		if slices.ContainsFunc(environments[:i], func(other object) bool { return other.name == o.name }) {
			d.note(o.at(nil), o.title()+" is defined twice, so this one is not imported")
			continue
		}
		if spec, ok := decode[appStudioEnvironment](d, o); ok {
			d.environments = append(d.environments, appStudioEnvironmentOf(d, o, spec, known, len(scenarios) > 0))
		}
	}
	for _, o := range all.of(appStudioGroup, "ReleasePlan") {
		spec, ok := decode[releasePlan](d, o)
		if !ok {
			continue
		}
		text := o.title() + ": a release to " + cmp.Or(spec.Target, "the pipeline of the tenant") + " has no match"
		if o.labels[autoRelease] == "false" {
			text += "; its releases were manual"
		}
		d.note(o.at(nil), text+". An environment with after can carry the same images")
	}
	for _, o := range all.of(appStudioGroup, "SnapshotEnvironmentBinding") {
		d.note(o.at(nil), o.title()+": what is in the environment is read from its files")
	}
}

func appStudioEnvironmentOf(d *draft, o object, spec appStudioEnvironment, known func(string) bool, tested bool) environment {
	free := func(string) bool { return false }
	e := environment{name: nameOf(o.name, free), Land: "push", comments: []string{"From " + o.title() + " (" + o.file + ")."}}
	above := spec.ParentEnvironment
	switch {
	case above == o.name:
		d.note(o.at(nil), o.title()+" is its own parentEnvironment, so it has none here")
		e.Propose = "never"
		e.comments = append(e.comments, "It is its own parent. Write after if it has another one, and remove propose.")
	case known(above):
		e.After = []parent{{name: nameOf(above, func(string) bool { return false })}}
	case above != "":
		d.note(o.at(nil), o.title()+": its parent "+above+" is in no file here")
		e.Propose = "never"
		e.comments = append(e.comments, "Its parent "+above+" is in no file here. Add the environment to after, and remove propose.")
	}
	switch {
	case e.Propose != "":
	case spec.DeploymentStrategy != "AppStudioAutomated":
		e.Propose = "manual"
		e.comments = append(e.comments, "Its deploymentStrategy is "+cmp.Or(spec.DeploymentStrategy, "not set")+
			", so a user requests each promotion.")
	case tested && len(e.After) == 0:
		e.Propose = "manual"
		e.comments = append(e.comments, "Only snapshots that passed their integration tests were deployed, so a user or a "+
			"posted snapshot requests each promotion.")
	}
	if !spec.Configuration.IsZero() {
		d.note(o.at(&spec.Configuration), o.title()+": configuration has no match: set variables in the files of the environment")
	}
	e.Paths = overlays(d.found.Files, o.name)
	if len(e.Paths) == 0 {
		e.Propose, e.Paths = "never", []string{"name-the-files-of-" + e.name}
		e.comments = append(e.comments, "The folder has no files overlays/"+o.name+". Name its files in paths, and remove propose.")
		d.note(o.at(nil), o.title()+": its files are unknown: name them in paths of "+e.name)
	}
	return e
}

// overlays returns globs of the folders of an environment, as AppStudio generates them:
// components/NAME/overlays/ENVIRONMENT.
func overlays(files []string, environment string) []string {
	var globs []string
	for _, file := range files {
		parts := strings.Split(path.Dir(file), "/")
		for i := 2; i < len(parts); i++ {
			if parts[i] == environment && parts[i-1] == "overlays" {
				globs = union(globs, path.Join(append(append([]string{}, parts[:i-2]...), "*", "overlays", environment)...))
			}
		}
	}
	slices.Sort(globs)
	return globs
}
