package serverfile

import (
	"path"
	"slices"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/config/trust"
	"promoter/internal/image"
)

// Verify returns what signatures must prove about the images of a repository, by the server
// file; nil: nothing. Matches reports whether globs name the repository. A key that cannot be read is a requirement that no image meets.
func (s *Server) Verify(matches func(globs []string) bool) func(image.Repository) []trust.Requirement {
	type rule struct {
		serverconfig.Verify
		required trust.Requirement
	}
	var rules []rule
	for _, v := range s.File.Verify {
		if v.Repositories == nil || matches(v.Repositories) {
			rules = append(rules, rule{v, s.Requirement(v)})
		}
	}
	if len(rules) == 0 {
		return nil
	}
	return func(asked image.Repository) []trust.Requirement {
		var required []trust.Requirement
		for _, one := range rules {
			if one.Images == nil || slices.ContainsFunc(one.Images, func(p image.Pattern) bool { return p.Match(asked) }) {
				required = append(required, one.required)
			}
		}
		return required
	}
}

// Requirement reads the key and the trusted root that an entry names.
func (s *Server) Requirement(v serverconfig.Verify) trust.Requirement {
	required := v.Requirement
	read := func(from serverconfig.Reference, into *string) {
		if from.IsZero() {
			return
		}
		text, err := s.Secret(from)
		if err != nil {
			required.Broken = "the server file: " + err.Error()
			return
		}
		*into = text.Reveal()
	}
	read(v.Key, &required.Key)
	read(v.TrustedRoot, &required.TrustedRoot)
	if file := v.Key.File(); file != "" {
		required.KeyFile = path.Base(file)
	}
	return required
}
