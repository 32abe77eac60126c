package updater

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"promoter/internal/edit"
	"promoter/internal/image"
)

// shapeReference is a scalar that is a whole reference: image: quay.io/acme/web:1.4.2.
const shapeReference edit.Shape = "reference"

// findReference looks whether a scalar is a whole reference, alone, after a
// scheme, or after the equals sign of an argument. A reference without tag and
// digest says no version and is a name.
func findReference(f *finder, n *yaml.Node) bool {
	value := f.scalar(n).value()
	if !strings.ContainsAny(value, ":@") {
		return false
	}
	before, name := cutReferencePrefix(value)
	reference, err := image.Parse(name)
	if err != nil {
		return refuseVariable(f, n, name)
	}
	if reference.Tag == "" && reference.Digest == "" {
		return false
	}
	followed, found := f.follower.Follow(f.path, reference.Repository)
	if !found {
		return false
	}
	f.add(newReference(shapeReference, f.scalar(n), followed, reference, before, ""))
	return true
}

// referenceSchemes are the transports that tools put before a reference. A web
// address that looks like one, such as https://quay.io/acme/web:v1, is none.
var referenceSchemes = []string{"oci://", "docker://"}

// cutReferencePrefix cuts what may stand before a reference: the name of an
// option or variable with its equals sign, and a scheme.
func cutReferencePrefix(value string) (before, name string) {
	at := strings.LastIndexByte(value, '=') + 1
	for _, scheme := range referenceSchemes {
		if strings.HasPrefix(value[at:], scheme) {
			at += len(scheme)
			break
		}
	}
	return value[:at], value[at:]
}

// refuseVariable refuses a reference to a followed repository whose version
// something else fills in.
func refuseVariable(f *finder, n *yaml.Node, name string) bool {
	if !isVariable(name) || strings.ContainsAny(name, " \n") {
		return false
	}
	repository := strings.TrimRight(name[:variableStart(name)], ":@")
	if at := strings.LastIndexByte(repository, ':'); at > strings.LastIndexByte(repository, '/') {
		repository = repository[:at]
	}
	followed, found := f.follow(repository)
	if !found {
		return false
	}
	f.refuse(n, followed.Component, "the version is a variable (%s); change it where the variable is set", name)
	return true
}
