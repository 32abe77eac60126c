package shapes

import (
	"path"
	"regexp"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/lex"
	"promoter/internal/updater/node"
	"promoter/internal/updater/site"
)

// shapeComposeEnv is a variable in .env that is the version of an image in a Compose file of the same
// folder.
// https://docs.docker.com/compose/how-tos/environment-variables/variable-interpolation/#env-file
const shapeComposeEnv edit.Shape = "compose-env"

// envFile is the file from which Compose reads variables.
const envFile = ".env"

// Kinds of declarations: variables that .env sets, and repositories of which a variable is the version.
// Their namespace is the folder.
const (
	kindEnvVariable     = "env-variable"
	kindComposeVariable = "compose-variable"
)

// versionVariable matches a name whose version is a variable. Group 1 is the name, group 2 the variable.
var versionVariable = regexp.MustCompile(`^(.+?)[:@]\$\{?([A-Za-z_][A-Za-z0-9_]*)(?::?[-=?][^{}]*)?\}?$`)

// wholeVariable matches the start of a variable with a default. Group 1 is its name.
var wholeVariable = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*):?[-=]`)

// findVariable inspects a reference whose version is a variable, in a Compose file or an env file. It
// reports whether the version is where the variable is set.
func findVariable(d *document, out *sink, n *yaml.Node, name string) bool {
	switch {
	case len(d.parents) == 0:
		return false
	case d.stream.IsText():
		return findOwnVariable(d, out, name)
	case !isCompose(d):
		return false
	}
	folder := path.Dir(d.file)
	if match := wholeVariable.FindStringSubmatch(name); match != nil && lex.ClosingBrace(name) == len(name)-1 {
		out.found.NeedsSources = true
		_, set := d.sources.url(d.file, sourceKey{kindEnvVariable, folder, match[1]})
		return set
	}
	followed, variable, found := variableOf(d, name)
	if !found {
		return false
	}
	out.found.NeedsSources = true
	out.found.Declared = append(out.found.Declared, Declaration{kindComposeVariable, folder, variable, followed.Repository.String()})
	_, set := d.sources.url(d.file, sourceKey{kindEnvVariable, folder, variable})
	_, one := d.sources.url(d.file, sourceKey{kindComposeVariable, folder, variable})
	if set && !one {
		out.refuse(d.scalar(n), followed.Component, sharedVariable, variable, envFile)
	}
	return set
}

const sharedVariable = "%s in %s is the version of several images; give each a variable of its own"

// variableOf returns the component of a reference whose version is a variable, and the variable.
func variableOf(d *document, name string) (followed site.Followed, variable string, found bool) {
	match := versionVariable.FindStringSubmatch(name)
	if match == nil {
		return site.Followed{}, "", false
	}
	repository := match[1]
	if filled, ok := lex.FillDefaults(repository); ok {
		repository = filled.Text
	}
	followed, found = d.follow(repository)
	return followed, match[2], found
}

// findOwnVariable inspects a reference of an env file whose version is another variable of the file.
func findOwnVariable(d *document, out *sink, name string) bool {
	followed, variable, found := variableOf(d, name)
	if !found {
		return false
	}
	value := node.Get(d.parents[0], variable)
	if node.IsText(value) {
		addVariable(d, out, value, followed)
	}
	return node.IsText(value)
}

// maxEnv is how many variables of a file are declared for Compose files.
const maxEnv = 1000

// findComposeEnv declares the variables of .env, and finds those that are versions.
func findComposeEnv(d *document, out *sink) {
	if path.Base(d.file) != envFile || !d.stream.IsText() {
		return
	}
	out.found.NeedsSources = true
	folder, values := path.Dir(d.file), d.stream.Documents[0].Content[0]
	for i := 0; i+1 < min(len(values.Content), 2*maxEnv); i += 2 {
		key, value := values.Content[i].Value, values.Content[i+1]
		out.found.Declared = append(out.found.Declared, Declaration{kindEnvVariable, folder, key, envFile})
		name, found := d.sources.url(d.file, sourceKey{kindComposeVariable, folder, key})
		if !found || !node.IsText(value) {
			continue
		}
		if followed, found := d.follow(name); found {
			addVariable(d, out, value, followed)
		}
	}
}

// addVariable adds the site of a variable that is a tag or a digest.
func addVariable(d *document, out *sink, value *yaml.Node, followed site.Followed) {
	s := site.Site{Shape: shapeComposeEnv, Followed: followed, Kind: image.ArtifactImage}
	if image.ValidDigest(value.Value) {
		addGroup(d, out, d.stream.Documents[0].Content[0], s, nil, value)
		return
	}
	addGroup(d, out, d.stream.Documents[0].Content[0], s, value, nil)
}
