package doctor

import (
	"promoter/internal/config"
	"promoter/internal/config/trust"
	"promoter/internal/serverfile"
	"promoter/internal/signature"
)

const signatureFix = "name a public key in PEM, or the trusted_root.json of the instance: see docs/guides/signatures.md"

// checkVerify parses the keys and trusted roots that verify names in the server file. Without
// them, no image passes.
func checkVerify(s *serverfile.Server, f *findings) {
	for i, v := range s.File.Verify {
		if _, err := signature.New([]trust.Requirement{s.Requirement(v)}); err != nil {
			f.fail("verify", signatureFix, "entry %d: %v", i+1, err)
		}
	}
	if len(s.File.Verify) > 0 && !f.failed("verify") {
		f.ok("verify", "the keys and trusted roots can be used: %d", len(s.File.Verify))
	}
}

// checkSignatures parses those of a config file, which are files of its repository.
func checkSignatures(loaded *config.Config, subject string, f *findings) {
	seen := map[trust.Requirement]bool{}
	for _, component := range loaded.Components {
		if component.Verify == nil || seen[*component.Verify] {
			continue
		}
		seen[*component.Verify] = true
		if _, err := signature.New([]trust.Requirement{*component.Verify}); err != nil {
			f.fail(subject, signatureFix, "component %s: %v", component.Name, err)
		}
	}
}
