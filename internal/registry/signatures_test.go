package registry

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	inprocess "github.com/google/go-containerregistry/pkg/registry"

	"promoter/internal/config/trust"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/signature"
	"promoter/internal/signature/signaturetest"
)

func mustKey(t *testing.T) signaturetest.Key {
	t.Helper()
	key, err := signaturetest.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func mustRequire(t *testing.T, required ...trust.Requirement) signature.Policy {
	t.Helper()
	policy, err := signature.New(required)
	if err != nil {
		t.Fatal(err)
	}
	return policy
}

func signedRequest(t *testing.T, f *fake, policy signature.Policy) Request {
	t.Helper()
	return Request{Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Semver: "1"}), Signed: policy}
}

func TestSelect_unsignedIsNoCandidate(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.pushEach(t, "acme/web", map[string]built{"1.0.0": {created: day(1)}, "1.1.0": {created: day(2)}})
	key, other := mustKey(t), mustKey(t)
	request := signedRequest(t, f, mustRequire(t, trust.Requirement{Key: key.Public, KeyFile: "prod.pub"}))
	client := newClient(t, Options{})

	got := mustSelect(t, client.For(""), request)
	if got.Found || len(got.Ineligible) != 2 || !strings.Contains(got.Ineligible[0].Reason, "unsigned") {
		t.Fatalf("got %+v, want nothing: no version is signed", got)
	}
	must(t, key.Sign(f.host+"/acme/web:1.0.0"))
	got = mustSelect(t, client.For(""), request)
	if got.Version.Tag != "1.0.0" || got.Version.Signature.By != "key prod.pub" || len(got.Ineligible) != 1 {
		t.Fatalf("got %+v, want the signed version", got)
	}
	must(t, other.Sign(f.host+"/acme/web:1.1.0"))
	got = mustSelect(t, client.For(""), request)
	if got.Found || !got.Ineligible[0].WronglySigned || !strings.Contains(got.Reason, "1.1.0: wrongly signed: 1 signature, and none is by key prod.pub") {
		t.Fatalf("got %+v, want nothing: the best version is wrongly signed", got)
	}
	must(t, key.Sign(f.host+"/acme/web:1.1.0"))
	if got = mustSelect(t, client.For(""), request); got.Version.Tag != "1.1.0" {
		t.Fatalf("got %+v, want the version that has a right signature, too", got)
	}
}

// In one batch an answer is shared; what was unsigned is asked again when the batch forgets.
func TestSelect_signedLater(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.push(t, "acme/web", built{created: day(1)}, "1.0.0")
	key := mustKey(t)
	request := signedRequest(t, f, mustRequire(t, trust.Requirement{Key: key.Public}))
	batch := newClient(t, Options{}).Batch()
	if got := mustSelect(t, batch.For(""), request); got.Found {
		t.Fatalf("got %+v", got)
	}
	must(t, key.Sign(f.host+"/acme/web:1.0.0"))
	batch.Forget(func(image.Repository) bool { return false })
	if got := mustSelect(t, batch.For(""), request); !got.Found {
		t.Fatalf("got %+v, want the version that is signed by now", got)
	}
}

// Only that a digest is signed is kept, also on disk, and only for the same policy.
func TestSelect_signerIsCached(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.push(t, "acme/web", built{created: day(1)}, "1.0.0")
	key, other := mustKey(t), mustKey(t)
	must(t, key.Sign(f.host+"/acme/web:1.0.0"))
	folder := t.TempDir()
	for i, want := range []int{1, 0} {
		f.reset()
		client := newClient(t, Options{CacheDir: folder})
		if got := mustSelect(t, client.For(""), signedRequest(t, f, mustRequire(t, trust.Requirement{Key: key.Public}))); !got.Found {
			t.Fatalf("got %+v", got)
		}
		if got := f.count("GET", ".sig"); got != want {
			t.Errorf("client %d requested the signature %d times, want %d", i, got, want)
		}
		must(t, client.Flush())
	}
	client := newClient(t, Options{CacheDir: folder})
	both := mustRequire(t, trust.Requirement{Key: key.Public}, trust.Requirement{Key: other.Public})
	if got := mustSelect(t, client.For(""), signedRequest(t, f, both)); got.Found {
		t.Errorf("got %+v, want nothing: the policy has another key now", got)
	}
}

// A registry that does not answer about signatures makes no version unsigned, and selects none.
func TestSelect_signaturesNotReadable(t *testing.T) {
	t.Parallel()
	for _, broken := range []string{".sig", ".att", "/referrers/"} {
		f := newFake(t)
		f.push(t, "acme/web", built{created: day(1)}, "1.0.0")
		key := mustKey(t)
		must(t, key.Sign(f.host+"/acme/web:1.0.0"))
		f.answer = func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.Contains(r.URL.Path, broken) {
				return false
			}
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		request := signedRequest(t, f, mustRequire(t, trust.Requirement{Key: key.Public}))
		_, err := newClient(t, Options{}).For("").Select(t.Context(), request)
		if fault.KindOf(err) != fault.Temporary {
			t.Errorf("%s: error %v, want a temporary one", broken, err)
		}
	}
}

// The signature of one image proves nothing about another, whatever its tag is.
func TestSelect_signatureOfAnotherImage(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	good := f.push(t, "acme/web", built{created: day(1)}, "good")
	evil := f.push(t, "acme/web", built{created: day(2)}, "1.0.0")
	key := mustKey(t)
	must(t, key.Sign(f.host+"/acme/web:good"))
	f.answer = func(_ http.ResponseWriter, r *http.Request) bool {
		r.URL.Path = strings.Replace(r.URL.Path, strings.Replace(evil, ":", "-", 1)+".sig", strings.Replace(good, ":", "-", 1)+".sig", 1)
		return false
	}
	got := mustSelect(t, newClient(t, Options{}).For(""), signedRequest(t, f, mustRequire(t, trust.Requirement{Key: key.Public})))
	if got.Found || !strings.Contains(got.Reason, "the signature is of "+good) {
		t.Errorf("got %+v, want nothing", got)
	}
}

// cosign itself signs and attests, in every form that it has, to registries with and without
// the referrers API.
func TestSelect_cosign(t *testing.T) {
	t.Parallel()
	cosign := program(t, "PROMOTER_COSIGN", "cosign")
	for name, handler := range map[string]http.Handler{"referrers": inprocess.New(inprocess.WithReferrersSupport(true)), "tags": inprocess.New()} {
		for form, flags := range map[string][]string{
			"tag":      {"sign"},
			"bundle":   {"sign", "--new-bundle-format"},
			"referrer": {"sign", "--registry-referrers-mode=oci-1-1"},
			"attest":   {"attest", "--type=slsaprovenance"},
			"attest 1": {"attest", "--type=slsaprovenance1", "--new-bundle-format"},
		} {
			t.Run(name+" "+form, func(t *testing.T) {
				t.Parallel()
				f := before(t, handler)
				path := "acme/" + strings.ReplaceAll(form, " ", "-")
				digest := f.push(t, path, built{created: day(1)}, "1.0.0")
				folder := t.TempDir()
				run(t, cosign, folder, "generate-key-pair")
				public, err := os.ReadFile(filepath.Join(folder, "cosign.pub"))
				must(t, err)
				required := trust.Requirement{Key: string(public), KeyFile: "cosign.pub"}
				want := "key cosign.pub"
				if flags[0] == "attest" {
					must(t, os.WriteFile(filepath.Join(folder, "predicate.json"), []byte(provenances[form]), 0o600))
					flags = append(flags, "--predicate=predicate.json")
					required.Source, required.Builder = "github.com/acme/web", "https://ci.example.com"
					want += ", provenance of github.com/acme/web by https://ci.example.com"
				}
				request := Request{
					Repository: f.repository(t, path), Policy: mustPolicy(t, image.Selection{Semver: "1"}), Signed: mustRequire(t, required),
				}
				if got := mustSelect(t, newClient(t, Options{}).For(""), request); got.Found {
					t.Fatalf("got %+v before it is signed", got)
				}
				run(t, cosign, folder, append(flags, "--key=cosign.key", "--tlog-upload=false", "--yes", f.host+"/"+path+"@"+digest)...)
				got := mustSelect(t, newClient(t, Options{}).For(""), request)
				if got.Version.Signature.By != want {
					t.Errorf("got %+v, want signed by %s", got, want)
				}
				required.Key = mustKey(t).Public
				request.Signed = mustRequire(t, required)
				if got := mustSelect(t, newClient(t, Options{}).For(""), request); got.Found || !got.Ineligible[0].WronglySigned {
					t.Errorf("got %+v with another key", got)
				}
			})
		}
	}
}

// cosign itself writes what signedAs and minVersion are compared with. A copy has the signature of
// the original.
func TestSelect_cosignLimits(t *testing.T) {
	t.Parallel()
	cosign := program(t, "PROMOTER_COSIGN", "cosign")
	f := before(t, inprocess.New(inprocess.WithReferrersSupport(true)))
	folder := t.TempDir()
	run(t, cosign, folder, "generate-key-pair")
	public, err := os.ReadFile(filepath.Join(folder, "cosign.pub"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(folder, "predicate.json"), []byte(provenances["attest"]), 0o600))
	for form, c := range map[string]struct {
		flags           []string
		named, versions bool // cosign signs the name of the image, and the version
	}{
		"tag":      {[]string{"sign", "-a", "version=1.4.0"}, true, true},
		"identity": {[]string{"sign", "--sign-container-identity", f.host + "/acme/identity:1.4.0"}, true, true},
		"attest":   {[]string{"attest", "--type=slsaprovenance", "--predicate=predicate.json"}, true, false},
		"bundle":   {[]string{"sign", "--new-bundle-format", "-a", "version=1.4.0"}, false, false}, // cosign 3 signs annotations there
	} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			path := "acme/" + form
			digest := f.push(t, path, built{created: day(1)}, "1.9.0")
			run(t, cosign, folder, append(slices.Clone(c.flags), "--key=cosign.key", "--tlog-upload=false", "--yes", f.host+"/"+path+"@"+digest)...)
			selected := func(path string, limits trust.Limits) string {
				t.Helper()
				required := trust.Requirement{Key: string(public), KeyFile: "cosign.pub", Limits: limits}
				if c.flags[0] == "attest" {
					required.Source = "github.com/acme/web"
				}
				repository := f.repository(t, path)
				got := mustSelect(t, newClient(t, Options{}).For(""), Request{
					Repository: repository, Policy: mustPolicy(t, image.Selection{Semver: "1"}), Signed: mustRequire(t, required.For(repository)),
				})
				if !got.Found && !got.Ineligible[0].WronglySigned {
					t.Errorf("the version is not blocked: %+v", got)
				}
				return got.Reason
			}
			own, elsewhere := selected(path, trust.Limits{SignedAs: "{image}"}), selected(path, trust.Limits{SignedAs: "quay.io/acme/web"})
			if (own == "") != c.named || elsewhere == "" {
				t.Errorf("for its own repository: %q, for another one: %q", own, elsewhere)
			}
			least, more := selected(path, trust.Limits{MinVersion: "1.4.0"}), selected(path, trust.Limits{MinVersion: "1.4.1"})
			want := "has no version, which minVersion 1.4.1 requires"
			if c.versions {
				want = "has the version 1.4.0, which is older than minVersion 1.4.1"
			}
			if (least == "") != c.versions || !strings.Contains(more, want) {
				t.Errorf("with its version as the lowest: %q, with a higher one: %q", least, more)
			}
			if form != "tag" {
				return
			}
			run(t, cosign, folder, "copy", f.host+"/"+path+":1.9.0", f.host+"/acme/copy:1.9.0")
			copied := selected("acme/copy", trust.Limits{SignedAs: "{image}"})
			if listed := selected("acme/copy", trust.Limits{SignedAs: "{image} " + f.host + "/acme/tag"}); listed != "" ||
				!strings.Contains(copied, "is for "+f.host+"/acme/tag, not for "+f.host+"/acme/copy") || selected("acme/copy", trust.Limits{}) != "" {
				t.Errorf("the copy: %q, with the listed original: %q", copied, listed)
			}
		})
	}
}

var provenances = map[string]string{
	"attest": `{"builder": {"id": "https://ci.example.com"}, "buildType": "any", "invocation": {"configSource": {"uri": "git+https://github.com/acme/web@refs/heads/main"}}}`,
	"attest 1": `{"buildDefinition": {"buildType": "any", "externalParameters": {}, "resolvedDependencies": [{"uri": "git+https://github.com/acme/web.git@refs/heads/main"}]},
		"runDetails": {"builder": {"id": "https://ci.example.com"}}}`,
}

func run(t *testing.T, program, folder string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir = folder
	command.Env = append(os.Environ(), "COSIGN_PASSWORD=", "COSIGN_EXPERIMENTAL=1", "HOME="+folder)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, output)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
