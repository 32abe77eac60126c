package google_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/registry/auth/authtest"
	"promoter/internal/registry/auth/google"
	"promoter/internal/registry/auth/google/googletest"
	"promoter/internal/secret"
)

const host = "europe-west1-docker.pkg.dev"

// scene is a machine and a project.
type scene struct {
	*authtest.World
	project *googletest.Project
	key     string // of the server file
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{World: authtest.New(t)}
	s.project = googletest.New(t, time.Now)
	s.Serve(s.project.Vendor(), s.project.Local())
	return s
}

// adc sets application default credentials.
func (s *scene) adc(text string) {
	s.Env["GOOGLE_APPLICATION_CREDENTIALS"], s.Files["/adc.json"] = "/adc.json", text
}

func (s *scene) source(t *testing.T) *google.Source {
	t.Helper()
	var key secret.String
	if s.key != "" {
		key = secret.New(s.key)
	}
	source, err := google.New(s.Machine(), host, key)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func TestLogin_everyIdentity(t *testing.T) {
	t.Parallel()
	const (
		metadata    = "GET 169.254.169.254 /computeMetadata/v1/instance/service-accounts/default/token"
		account     = "POST oauth2.googleapis.com /token"
		sts         = "POST sts.googleapis.com /v1/token"
		impersonate = "POST iamcredentials.googleapis.com /v1/projects/-/serviceAccounts/reader@acme.iam.gserviceaccount.com:generateAccessToken"
	)
	for _, tc := range []struct {
		name  string
		set   func(*scene)
		asked []string
		life  time.Duration
	}{
		{"a machine, or a pod with a workload identity", func(*scene) {}, []string{metadata}, 3599 * time.Second},
		{"a key in the server file", func(s *scene) { s.key = s.project.KeyFile() }, []string{account}, 3599 * time.Second},
		{"a key of the environment", func(s *scene) { s.adc(s.project.KeyFile()) }, []string{account}, 3599 * time.Second},
		{"the server file before the environment", func(s *scene) { s.key = s.project.KeyFile(); s.adc("{}") }, []string{account}, 3599 * time.Second},
		{"a federated identity from a file", func(s *scene) {
			s.Files["/token"] = googletest.SubjectToken + "\n"
			s.adc(s.project.ExternalFile(`{"file":"/token"}`, false))
		}, []string{sts}, time.Hour},
		{"a federated identity from JSON in a file", func(s *scene) {
			s.Files["/token"] = `{"id_token":"` + googletest.SubjectToken + `"}`
			s.adc(s.project.ExternalFile(`{"file":"/token","format":{"type":"json","subject_token_field_name":"id_token"}}`, false))
		}, []string{sts}, time.Hour},
		{"a federated identity that takes on a service account", func(s *scene) {
			s.Files["/token"] = googletest.SubjectToken
			s.adc(s.project.ExternalFile(`{"file":"/token"}`, true))
		}, []string{sts, impersonate}, time.Hour},
		{"a federated identity from a machine of another cloud", func(s *scene) {
			s.Local["169.254.169.254"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Metadata") != "True" {
					w.WriteHeader(http.StatusBadRequest)
				}
				_, _ = fmt.Fprintf(w, `{"access_token":%q}`, googletest.SubjectToken)
			})
			s.adc(s.project.ExternalFile(`{"url":"http://169.254.169.254/metadata/identity/oauth2/token?resource=x","headers":{"Metadata":"True"},"format":{"type":"json","subject_token_field_name":"access_token"}}`, false))
		}, []string{"GET 169.254.169.254 /metadata/identity/oauth2/token", sts}, time.Hour},
		{"a federated identity from a service", func(s *scene) {
			s.Vendor["tokens.example.com"] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, googletest.SubjectToken) })
			s.adc(s.project.ExternalFile(`{"url":"https://tokens.example.com/t"}`, false))
		}, []string{"GET tokens.example.com /t", sts}, time.Hour},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				tc.set(s)
				username, password, expires, err := s.source(t).Login(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if want := googletest.Token(s.project.Tokens()); username != "oauth2accesstoken" || password.Reveal() != want || !expires.Equal(time.Now().Add(tc.life)) {
					t.Errorf("login %s %s until %s", username, password.Reveal(), expires)
				}
				if diff := cmp.Diff(tc.asked, s.Calls()); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestLogin_refused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		set   func(*testing.T, *scene)
		kind  fault.Kind
		words string
	}{
		{"an account that is disabled", func(_ *testing.T, s *scene) { s.key = s.project.KeyFile(); s.project.Denied["token"] = true }, fault.Unauthorized, "Google service account: 400 invalid_grant: check whether the key of reader@acme"},
		{"a key that was deleted", func(t *testing.T, s *scene) { s.key = googletest.New(t, time.Now).KeyFile() }, fault.Unauthorized, "400 invalid_grant"},
		{"a clock that is wrong", func(_ *testing.T, s *scene) { s.key = s.project.KeyFile(); s.project.Ahead = 2 * time.Hour }, fault.Unauthorized, "the clock of this machine"},
		{"no machine account", func(_ *testing.T, s *scene) { s.project.Denied["metadata"] = true }, fault.Unauthorized, "Google metadata service: 404 Not Found: give the machine a service account"},
		{"a machine of another cloud", func(_ *testing.T, s *scene) {
			s.Local["169.254.169.254"] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, `{"access_token":"canary"}`) })
		}, fault.Invalid, "the service at 169.254.169.254 is not Google's"},
		{"a machine that is slow", func(_ *testing.T, s *scene) {
			s.Local["169.254.169.254"] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
		}, fault.Temporary, "neither a key in the server file nor GOOGLE_APPLICATION_CREDENTIALS is set"},
		{"a subject that nobody knows", func(_ *testing.T, s *scene) {
			s.Files["/token"] = "canary-wrong"
			s.adc(s.project.ExternalFile(`{"file":"/token"}`, false))
		}, fault.Unauthorized, "Google workload identity: 400 invalid_grant: let the pool's provider accept"},
		{"no right to the service account", func(_ *testing.T, s *scene) {
			s.Files["/token"] = googletest.SubjectToken
			s.adc(s.project.ExternalFile(`{"file":"/token"}`, true))
			s.project.Denied["impersonation"] = true
		}, fault.Unauthorized, "403 PERMISSION_DENIED: give the federated identity the role roles/iam.workloadIdentityUser"},
		{"a file that wants a program", func(_ *testing.T, s *scene) {
			s.adc(s.project.ExternalFile(`{"executable":{"command":"/bin/canary"}}`, false))
		}, fault.Invalid, "names a program, which promoter does not run"},
		{"a file that wants signatures of AWS", func(_ *testing.T, s *scene) {
			s.adc(s.project.ExternalFile(`{"environment_id":"aws1","url":"http://169.254.169.254/x"}`, false))
		}, fault.Invalid, "not supported"},
		{"a source of nothing", func(_ *testing.T, s *scene) { s.adc(s.project.ExternalFile(`{}`, false)) }, fault.Invalid, "neither a file nor a url"},
		{"a source in a private network", func(_ *testing.T, s *scene) {
			s.adc(s.project.ExternalFile(`{"url":"http://10.0.0.1/x"}`, false))
		}, fault.Invalid, "is not a service of this machine"},
		{"a field that is not there", func(_ *testing.T, s *scene) {
			s.Files["/token"] = `{"other":"canary"}`
			s.adc(s.project.ExternalFile(`{"file":"/token","format":{"type":"json","subject_token_field_name":"id_token"}}`, false))
		}, fault.Invalid, "has no string in the field"},
		{"a token service elsewhere", func(_ *testing.T, s *scene) {
			s.adc(strings.Replace(s.project.ExternalFile(`{"file":"/token"}`, false), "sts.googleapis.com", "sts.googleapis.com.evil.test", 1))
		}, fault.Invalid, "not below https://googleapis.com"},
		{"a service account elsewhere", func(_ *testing.T, s *scene) {
			s.adc(strings.Replace(s.project.ExternalFile(`{"file":"/token"}`, true), "iamcredentials.googleapis.com", "evil.test", 1))
		}, fault.Invalid, "not below https://googleapis.com"},
		{"a file of a person", func(_ *testing.T, s *scene) { s.adc(`{"type":"authorized_user","refresh_token":"canary"}`) }, fault.Invalid, "the file is for a user (authorized_user)"},
		{"a file of no kind", func(_ *testing.T, s *scene) { s.adc(`{"type":"canary"}`) }, fault.Invalid, "the type of the file is unknown"},
		{"a file that is no JSON", func(_ *testing.T, s *scene) { s.adc(`canary`) }, fault.Invalid, "it is not JSON"},
		{"a file that is not there", func(_ *testing.T, s *scene) { s.Env["GOOGLE_APPLICATION_CREDENTIALS"] = "/none" }, fault.Invalid, "Google credentials: open /none: file does not exist"},
		{"a key that is none", func(_ *testing.T, s *scene) {
			s.key = `{"type":"service_account","client_email":"a@b","private_key":"canary"}`
		}, fault.Invalid, "the private key of the file is not valid"},
		{"a key without an account", func(_ *testing.T, s *scene) { s.key = `{"type":"service_account"}` }, fault.Invalid, "no client_email"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			tc.set(t, s)
			_, _, _, err := s.source(t).Login(t.Context())
			if fault.KindOf(err) != tc.kind || !strings.Contains(err.Error(), tc.words) {
				t.Errorf("err = %v (%s), want %s: …%s…", err, fault.KindOf(err), tc.kind, tc.words)
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("the error contains a secret: %v", err)
			}
		})
	}
}

func TestLogin_invalidResponses(t *testing.T) {
	t.Parallel()
	for body, kind := range map[string]fault.Kind{
		"":                                     fault.Temporary,
		"<html>":                               fault.Temporary,
		"{}":                                   fault.Temporary,
		`{"access_token":7}`:                   fault.Temporary,
		`"` + strings.Repeat("a", 2<<20) + `"`: fault.Invalid,
	} {
		s := newScene(t)
		s.key = s.project.KeyFile()
		s.Vendor["oauth2.googleapis.com"] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, body) })
		if _, _, _, err := s.source(t).Login(t.Context()); fault.KindOf(err) != kind {
			t.Errorf("%.20s: %v (%s)", body, err, fault.KindOf(err))
		}
	}
}

func TestNew_refusesOtherHosts(t *testing.T) {
	t.Parallel()
	for host, ok := range map[string]bool{
		"gcr.io": true, "eu.gcr.io": true, "us-docker.pkg.dev": true, "EU.gcr.io": true,
		"": false, "gcr.io.evil.test": false, "evilgcr.io": false, "pkg.dev.evil.test": false, "quay.io": false,
	} {
		if _, err := google.New(authtest.New(t).Machine(), host, secret.String{}); (err == nil) != ok {
			t.Errorf("%q: %v", host, err)
		}
	}
}

func FuzzLogin(f *testing.F) {
	f.Add(`{"type":"service_account","client_email":"a@b","private_key":"x"}`)
	f.Add(`{"type":"external_account","audience":"a","subject_token_type":"b","credential_source":{"file":"/x"}}`)
	f.Fuzz(func(t *testing.T, file string) {
		s := &scene{World: authtest.New(t), key: file}
		if file == "" || strings.Contains(strings.ToLower(file), "url") || strings.Contains(file, `\u`) {
			return // asks whom it names
		}
		s.Vendor["sts.googleapis.com"] = http.NotFoundHandler()
		s.Vendor["oauth2.googleapis.com"] = http.NotFoundHandler()
		if _, _, _, err := s.source(t).Login(t.Context()); err == nil {
			t.Errorf("a login from %q", file)
		}
	})
}
