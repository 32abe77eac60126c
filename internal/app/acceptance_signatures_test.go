package app_test

import (
	"slices"
	"strings"
	"testing"

	"promoter/internal/promotion"
	"promoter/internal/signature/signaturetest"
)

// A pull request shows who signed the image. An unsigned one is reported, and never proposed.
func TestRun_showsWhoSigned_github(t *testing.T) {
	t.Parallel()
	config := strings.Replace(chain, "components:\n", "verify: {cosign: {key: keys/cosign.pub}}\ncomponents:\n", 1)
	config = strings.Replace(config, "worker: {image: $R/acme/worker,", "worker: {image: $R/acme/worker, verify: {skip: true},", 1)
	onGitHub(t, chain, func(s *story) {
		key, err := signaturetest.NewKey()
		if err != nil {
			s.t.Fatal(err)
		}
		s.repo.Git.Commit("ada", "main", "Require signatures", map[string]string{".promoter.yaml": s.expand(config), "keys/cosign.pub": key.Public})
		sign := func(version string) {
			s.t.Helper()
			if err := key.Sign(s.host + "/acme/" + version); err != nil {
				s.t.Fatal(err)
			}
		}
		sign("web:1.0.0")

		report := s.releaseAndRun("web", "1.1.0")
		reported := slices.ContainsFunc(decisionIn(report, "dev").Conditions, func(c promotion.Condition) bool {
			return c.Name == "web 1.1.0" && c.State == promotion.Pending && strings.HasPrefix(c.Reason, "unsigned")
		})
		if !reported {
			s.t.Errorf("dev does not report the unsigned version: %+v", decisionIn(report, "dev").Conditions)
		}
		s.holds("dev", "1.0.0 1.0.0")
		s.pulls()
		s.calm()

		sign("web:1.1.0")
		s.run()
		s.holds("dev", "1.1.0 1.0.0")
		s.pulls(stagingHead + " open")
		if body := s.repo.Pulls.Get(1).Body; !strings.Contains(body, "keys/cosign.pub") || !strings.Contains(body, "signature") {
			s.t.Errorf("the pull request does not show who signed:\n%s", body)
		}

		// A newer version, which a user wrote to dev, is not signed: staging keeps the open one.
		s.release("web", "1.2.0")
		s.repo.Git.Commit("ada", "main", "By hand", map[string]string{"dev/shop.yaml": s.manifest("web:1.2.0", "worker:1.0.0")})
		s.run()
		s.holdsOn(stagingHead, "staging", "1.1.0 1.0.0")
		sign("web:1.2.0")
		s.run()
		s.holdsOn(stagingHead, "staging", "1.2.0 1.0.0")
	})
}

// With signedAs and minVersion, neither a signed image of another repository is promoted nor an old
// one under a newer tag. Without them, the signature of the digest suffices.
func TestRun_refusesSignedImagesOfElsewhere_github(t *testing.T) {
	t.Parallel()
	bound := strings.Replace(chain, "components:\n", "verify: {cosign: {key: keys/cosign.pub}, signedAs: [\"{image}\"]}\ncomponents:\n", 1)
	bound = strings.Replace(bound, "web: {image: $R/acme/web,", "web: {image: $R/acme/web, verify: {minVersion: 1.1.0},", 1)
	free := strings.Replace(chain, "components:\n", "verify: {cosign: {key: keys/cosign.pub}}\ncomponents:\n", 1)
	onGitHub(t, chain, func(s *story) {
		key, err := signaturetest.NewKey()
		if err != nil {
			s.t.Fatal(err)
		}
		s.repo.Git.Commit("ada", "main", "Bind signatures", map[string]string{".promoter.yaml": s.expand(bound), "keys/cosign.pub": key.Public})
		sign := func(image, name, version string) {
			s.t.Helper()
			if err := key.SignAs(s.host+"/acme/"+image, s.host+"/acme/"+name, map[string]string{"version": version}); err != nil {
				s.t.Fatal(err)
			}
		}
		blocked := func(component, version, reason string) {
			s.t.Helper()
			report := s.run()
			if !slices.ContainsFunc(decisionIn(report, "dev").Conditions, func(c promotion.Condition) bool {
				return c.Name == component+" "+version && c.State == promotion.Blocked && strings.Contains(c.Reason, reason)
			}) {
				s.t.Errorf("dev does not refuse %s %s: %+v", component, version, decisionIn(report, "dev").Conditions)
			}
			s.holds("dev", "1.0.0 1.0.0")
		}
		sign("web:1.0.0", "web", "1.1.0")
		sign("worker:1.0.0", "worker", "1.0.0")

		s.release("worker", "1.1.0") // as one who can push the signed image of another team
		sign("worker:1.1.0", "web", "1.1.0")
		blocked("worker", "1.1.0", "wrongly signed: the signature by key keys/cosign.pub is for "+s.host+"/acme/web, not for "+s.host+"/acme/worker")

		s.release("web", "1.9.0") // as one who can push an old image under a newer tag
		sign("web:1.9.0", "web", "1.0.3")
		blocked("web", "1.9.0", "has the version 1.0.3, which is older than minVersion 1.1.0")

		s.repo.Git.Commit("ada", "main", "Let signatures be of any image", map[string]string{".promoter.yaml": s.expand(free)})
		s.run()
		s.holds("dev", "1.9.0 1.1.0")
	})
}
