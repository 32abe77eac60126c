package doctor

import (
	"slices"

	"promoter/internal/connect"
	"promoter/internal/git/signing"
	"promoter/internal/serverfile"
	"promoter/internal/workspace"
)

// checkSigning checks the key that signs commits. It reports whether the key can be used.
func checkSigning(s *serverfile.Server, f *findings) bool {
	key, err := s.SigningKey()
	switch {
	case err != nil:
		f.fail("signing", "see docs/guides/signed-commits.md", "%v", err)
		return false
	case !key.IsZero():
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
		f.warn("signing", "set committer to NAME <EMAIL> of the key, or add the address to the key",
			"the committer of %s is <%s>, which is no user ID of the %s key: forges do not show its commits as verified",
			r.Name, by.Email, signing.GPG)
	}
}
