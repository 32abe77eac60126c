package shapes

import (
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/image"
	"promoter/internal/updater/lex"
	"promoter/internal/updater/node"
	"promoter/internal/updater/site"
)

// findDefaulted inspects a reference with variables that have defaults, as in
// ${REGISTRY:-quay.io}/acme/web:${TAG:-1.4.2}. before and after surround it in the value.
//
// A version that is the default of a variable is a version only in Compose, where the file is
// deployed as it is. Elsewhere, another file usually sets the variable.
// https://docs.docker.com/reference/compose-file/interpolation/
func findDefaulted(d *document, out *sink, n *yaml.Node, before, name, after string) bool {
	filled, found := lex.FillDefaults(name)
	if !found {
		return false
	}
	reference, err := image.Parse(filled.Text)
	if err != nil || reference.Tag == "" && reference.Digest == "" {
		return false
	}
	followed, found := d.follower.Follow(d.file, reference.Repository)
	if !found || !isReference(followed, reference, d.key()+before) {
		return false
	}
	part, fallback, found := partOfDefaulted(filled, reference, name)
	if !found || fallback && !isCompose(d) {
		return false
	}
	part.Scalar = d.scalar(n)
	part.Before, part.After = before+part.Before, part.After+after
	s := site.Site{Shape: shapeReference, Followed: followed}
	if part.IsDigest() {
		s.Digest = part
	} else {
		s.Tag = part
	}
	out.add(s, d.key())
	return true
}

// partOfDefaulted returns the part of a text that contains the version, without its scalar:
// the whole reference, or only its version, or only its tag or digest. fallback reports that
// it is in the default of a variable.
func partOfDefaulted(filled lex.Filled, r image.Reference, name string) (p *site.Part, fallback, found bool) {
	end, version := len(filled.Text), len(r.Name)
	if from, to, fallback, found := filled.Original(0, end); found {
		return &site.Part{Format: site.FormatReference, Before: name[:from], Name: r.Name, After: name[to:]}, fallback, true
	}
	if from, to, fallback, found := filled.Original(version, end); found {
		return &site.Part{Format: site.FormatReference, Name: name[:from], After: name[to:]}, fallback, true
	}
	from, to, fallback, found := filled.Original(version+1, end)
	if !found || r.Tag != "" && r.Digest != "" {
		return nil, false, false
	}
	p = &site.Part{Format: site.FormatTag, Before: name[:from], After: name[to:]}
	if r.Digest != "" {
		p.Format = site.DigestFormat(r.Digest, "")
	}
	return p, fallback, true
}

// isCompose reports whether the document is a file of Compose.
func isCompose(d *document) bool {
	if len(d.parents) == 0 {
		return false
	}
	services := node.Get(d.parents[0], "services")
	return services != nil && services.Kind == yaml.MappingNode
}
