package doctor

import (
	"slices"

	"promoter/internal/config"
	"promoter/internal/config/trust"
	"promoter/internal/connect"
	"promoter/internal/git/signing"
	"promoter/internal/serverfile"
	"promoter/internal/signature"
	"promoter/internal/state"
	"promoter/internal/workspace"
)

// checkSeals checks the keys by which promoter recognizes its own commits on the state
// branch. It reports whether they can be used.
func checkSeals(s *serverfile.Server, f *findings) bool {
	derived, err := s.SealKeys()
	if err != nil {
		f.fail("seals", "", "%v", err)
		return false
	}
	switch keys := derived.Value(); {
	case len(keys) > 0 && len(s.File.Seal.Keys) > 0:
		f.ok("seals", "the keys can be used: %d", len(keys))
	case len(keys) > 0:
		f.ok("seals", "serve made a key in the data folder: back it up, or set seal.keys")
	case !s.File.Database.URL.IsZero():
		f.ok("seals", "serve keeps a key in the database; commands that release a hold need seal.keys")
	default:
		f.warn("seals", "set seal.keys, or PROMOTER_SEAL_KEY; serve makes a key when it starts",
			"no key: every user who may push %s can request promotions and end holds", state.Branch)
	}
	return true
}

// checkSigning checks the key that signs commits. It reports whether the key can be used.
func checkSigning(s *serverfile.Server, f *findings) bool {
	derived, err := s.SigningKey()
	if err != nil {
		f.fail("signing", "see docs/guides/signed-commits.md", "%v", err)
		return false
	}
	if key := derived.Value(); !key.IsZero() {
		f.ok("signing", "commits are signed with the %s", key)
	}
	if s.File.Signing.GitHubApp {
		f.ok("signing", "GitHub makes and signs the commits in repositories of a GitHub App")
	}
	return true
}

// checkSigner checks that the key is that of the committer. A signature by another one does
// not verify.
func checkSigner(session *connect.Session, f *findings) {
	key := session.SigningKey()
	if key.IsZero() {
		return
	}
	var seen []string
	for _, r := range session.Repositories {
		if r.Err != nil || session.Server.SignsAsApp(r.Forge.Config) {
			continue
		}
		by := workspace.Author(session.Server, r)
		if key.Covers(by.Email) || slices.Contains(seen, by.Email) {
			continue
		}
		seen = append(seen, by.Email)
		const problem = "the committer of %s is <%s>, which is no user ID of the %s key: forges do not show its commits as verified"
		f.warn("signing", "set committer to NAME <EMAIL> of the key, or add the address to the key", problem,
			r.Name, by.Email, signing.GPG)
	}
}

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
