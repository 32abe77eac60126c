package shapes

import (
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/lex"
	"promoter/internal/updater/node"
	"promoter/internal/updater/site"
)

// shapeOpenShift is a parameter of an OpenShift template that is the tag or digest of a
// reference in its objects, as in ${IMAGE}:${IMAGE_TAG}.
const shapeOpenShift edit.Shape = "openshift-template"

// findOpenShiftTemplate fills the parameters into the objects of a template. Where the result
// is a reference, the parameter of its version is what to change.
// https://docs.redhat.com/en/documentation/openshift_container_platform/4.19/html/images/using-templates
func findOpenShiftTemplate(d *document, out *sink, m *yaml.Node) {
	list, objects := node.Get(m, "parameters"), node.Get(m, "objects")
	if node.Text(m, "kind") != "Template" || list == nil || objects == nil {
		return
	}
	t := openShiftTemplate{values: map[string]*yaml.Node{}, users: map[*yaml.Node][]image.Repository{}}
	for name, value := range namedValues(list) {
		if node.IsText(value) {
			t.values[name.Value] = value
		}
	}
	t.collect(objects)
	for _, use := range t.uses {
		followed, found := d.follower.Follow(d.file, use.repository)
		if !found {
			continue
		}
		out.claim(use.scalar)
		if other := t.shared(d, use); other != "" {
			out.refuse(d.scalar(use.first()), followed.Component, "the parameter is also the version of %s, which is not followed; "+
				"give each image a parameter of its own", other)
			continue
		}
		addGroup(d, out, list, site.Site{Shape: shapeOpenShift, Followed: followed}, use.tag, use.digest)
	}
}

// openShiftTemplate is what is known of a template.
type openShiftTemplate struct {
	values map[string]*yaml.Node // of parameters, by name
	uses   []parameterUse        // each combination once
	users  map[*yaml.Node][]image.Repository
}

// parameterUse is a reference in the objects whose version comes from parameters.
type parameterUse struct {
	repository  image.Repository
	scalar      *yaml.Node
	tag, digest *yaml.Node // the values of the parameters; one may be nil
}

func (u parameterUse) first() *yaml.Node {
	if u.tag != nil {
		return u.tag
	}
	return u.digest
}

// parameterName matches a parameter in a text: ${NAME}.
var parameterName = regexp.MustCompile(`\$\{([A-Za-z0-9_]+)\}`)

// collect finds the references in the objects.
func (t *openShiftTemplate) collect(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		if use, found := t.use(n); found {
			t.uses = append(t.uses, use)
			t.users[use.first()] = append(t.users[use.first()], use.repository)
		}
	}
	for _, child := range n.Content {
		t.collect(child)
	}
}

// use resolves a scalar. Its parameters must be the whole tag, the whole digest, or its hex
// digits: parts of a version cannot be set.
func (t *openShiftTemplate) use(n *yaml.Node) (parameterUse, bool) {
	var text strings.Builder
	valueAt := map[[2]int]*yaml.Node{} // by the offsets in the text
	last := 0
	for _, match := range parameterName.FindAllStringSubmatchIndex(n.Value, -1) {
		value := t.values[n.Value[match[2]:match[3]]]
		if value == nil {
			return parameterUse{}, false
		}
		text.WriteString(n.Value[last:match[0]])
		start := text.Len()
		text.WriteString(value.Value)
		valueAt[[2]int{start, text.Len()}] = value
		last = match[1]
	}
	text.WriteString(n.Value[last:])
	reference, err := image.Parse(text.String())
	if err != nil || len(valueAt) == 0 || lex.IsVariable(text.String()) {
		return parameterUse{}, false
	}
	use := parameterUse{repository: reference.Repository, scalar: n}
	end := text.Len()
	if reference.Digest != "" {
		hex := end - len(reference.Digest) + strings.IndexByte(reference.Digest, ':') + 1
		use.digest = valueAt[[2]int{end - len(reference.Digest), end}]
		if use.digest == nil {
			use.digest = valueAt[[2]int{hex, end}]
		}
		end -= len(reference.Digest) + 1
	}
	if reference.Tag != "" {
		use.tag = valueAt[[2]int{end - len(reference.Tag), end}]
	}
	complete := (reference.Tag == "") == (use.tag == nil) && (reference.Digest == "") == (use.digest == nil)
	return use, complete && use.first() != nil
}

// shared returns the repositories that are not followed and have the version of a use; empty: there are none.
func (t *openShiftTemplate) shared(d *document, use parameterUse) string {
	var others []string
	for _, repository := range t.users[use.first()] {
		if _, found := d.follower.Follow(d.file, repository); !found {
			others = append(others, repository.Familiar())
		}
	}
	return strings.Join(others, " and of ")
}
