// Package googletest is a Google Cloud project for tests: its token services, the
// impersonation of service accounts, and the metadata service of a machine. It is strict:
// a request that Google would refuse is refused with its error codes, and a malformed one
// fails the test.
package googletest

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// The identities of the project.
const (
	Email        = "reader@acme.iam.gserviceaccount.com"
	KeyID        = "key-1"
	Audience     = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/k8s/providers/k8s"
	SubjectToken = "canary-subject-token"
	SubjectKind  = "urn:ietf:params:oauth:token-type:jwt"

	service = "https://oauth2.googleapis.com/token"
	scope   = "https://www.googleapis.com/auth/cloud-platform"
)

// Project is such a project.
type Project struct {
	t     testing.TB
	clock func() time.Time
	key   func() *rsa.PrivateKey

	mutex  sync.Mutex
	tokens int
	// Denied are the services that refuse: token, sts, impersonation, metadata.
	Denied map[string]bool
	// Ahead is how much the project's clock is ahead of the machine's.
	Ahead time.Duration
}

// New makes a project whose service account has the key of KeyFile.
func New(t testing.TB, now func() time.Time) *Project {
	t.Helper()
	return &Project{t: t, clock: now, key: sync.OnceValue(func() *rsa.PrivateKey { return testKey(t) }), Denied: map[string]bool{}}
}

func (p *Project) now() time.Time { return p.clock().Add(p.Ahead) }

// KeyFile is the file of the service account.
func (p *Project) KeyFile() string {
	data, err := x509.MarshalPKCS8PrivateKey(p.key())
	if err != nil {
		p.t.Fatal(err)
	}
	file, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": Email, "private_key_id": KeyID, "token_uri": service,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: data})),
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return string(file)
}

// ExternalFile is the file of the federated identity; source is the JSON of its
// credential_source, and impersonated selects whether it impersonates the service account.
func (p *Project) ExternalFile(source string, impersonated bool) string {
	more := ""
	if impersonated {
		more = `,"service_account_impersonation_url":"https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/` + Email + `:generateAccessToken"`
	}
	return fmt.Sprintf(`{"type":"external_account","audience":%q,"subject_token_type":%q,"token_url":"https://sts.googleapis.com/v1/token","credential_source":%s%s}`,
		Audience, SubjectKind, source, more)
}

// Vendor are the services of Google, by host.
func (p *Project) Vendor() map[string]http.Handler {
	return map[string]http.Handler{
		"oauth2.googleapis.com":         http.HandlerFunc(p.token),
		"sts.googleapis.com":            http.HandlerFunc(p.sts),
		"iamcredentials.googleapis.com": http.HandlerFunc(p.impersonation),
	}
}

// Local are the services of the machine, by host.
func (p *Project) Local() map[string]http.Handler {
	return map[string]http.Handler{"169.254.169.254": http.HandlerFunc(p.metadata)}
}

// Token is token number n, from 1.
func Token(n int) string { return fmt.Sprintf("canary-ya29.token-%d", n) }

// Tokens returns how many tokens were issued.
func (p *Project) Tokens() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.tokens
}

func (p *Project) issue(w http.ResponseWriter, form string) {
	p.mutex.Lock()
	p.tokens++
	n := p.tokens
	p.mutex.Unlock()
	_, _ = fmt.Fprintf(w, form, Token(n))
}

const rfc6749 = `{"access_token":%q,"expires_in":3599,"token_type":"Bearer"}`

// token is the token service of service accounts.
func (p *Project) token(w http.ResponseWriter, r *http.Request) {
	form := p.form(r, "/token")
	if form["grant_type"] != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
		p.t.Errorf("grant_type = %q", form["grant_type"])
	}
	if why := p.check(form["assertion"]); why != "" || p.Denied["token"] {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"error":"invalid_grant","error_description":%q}`, why+form["assertion"])
		return
	}
	p.issue(w, rfc6749)
}

// check returns what is wrong with an assertion.
func (p *Project) check(assertion string) string {
	parts := strings.Split(assertion, ".")
	if len(parts) != 3 {
		return "not a JWT"
	}
	var head struct{ Alg, Typ, Kid string }
	var claims struct {
		Iss, Aud, Scope string
		Iat, Exp        int64
	}
	p.decode(parts[0], &head)
	p.decode(parts[1], &claims)
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err != nil || rsa.VerifyPKCS1v15(&p.key().PublicKey, crypto.SHA256, sum[:], signature) != nil {
		return "Invalid JWT Signature."
	}
	now := p.now().Unix()
	switch {
	case head.Alg != "RS256" || head.Typ != "JWT" || head.Kid != KeyID:
		return "header"
	case claims.Iss != Email || claims.Aud != service || claims.Scope != scope:
		return "claims"
	case claims.Iat > now+60 || claims.Exp <= now || claims.Exp-claims.Iat > 3600:
		return "Token must be a short-lived token (60 minutes) and in a reasonable timeframe."
	}
	return ""
}

func (p *Project) decode(part string, into any) {
	data, err := base64.RawURLEncoding.DecodeString(part)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		p.t.Errorf("a part of the assertion is not valid: %v", err)
	}
}

// sts is the token service of federated identities.
func (p *Project) sts(w http.ResponseWriter, r *http.Request) {
	form := p.form(r, "/v1/token")
	for name, want := range map[string]string{
		"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "audience": Audience, "scope": scope,
		"requested_token_type": "urn:ietf:params:oauth:token-type:access_token", "subject_token_type": SubjectKind,
	} {
		if form[name] != want {
			p.t.Errorf("%s = %q, want %q", name, form[name], want)
		}
	}
	if form["subject_token"] != SubjectToken || p.Denied["sts"] {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"error":"invalid_grant","error_description":%q}`, form["subject_token"])
		return
	}
	p.issue(w, `{"access_token":%q,"issued_token_type":"urn:ietf:params:oauth:token-type:access_token","token_type":"Bearer","expires_in":3600}`)
}

// impersonation is generateAccessToken of the IAM credentials API.
func (p *Project) impersonation(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Scope    []string
		Lifetime string
	}
	err := json.NewDecoder(r.Body).Decode(&asked)
	if r.Method != http.MethodPost || r.URL.Path != "/v1/projects/-/serviceAccounts/"+Email+":generateAccessToken" ||
		err != nil || len(asked.Scope) != 1 || asked.Scope[0] != scope || asked.Lifetime != "3600s" {
		p.t.Errorf("impersonation got %s %s: %+v, %v", r.Method, r.URL.Path, asked, err)
	}
	if r.Header.Get("Authorization") != "Bearer "+Token(p.Tokens()) || p.Denied["impersonation"] {
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprint(w, `{"error":{"code":403,"message":"canary","status":"PERMISSION_DENIED"}}`)
		return
	}
	p.issue(w, `{"accessToken":%q,"expireTime":"`+p.now().Add(time.Hour).UTC().Format(time.RFC3339)+`"}`)
}

// metadata is the metadata service, which requires the header that names Google.
func (p *Project) metadata(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Metadata-Flavor", "Google")
	switch {
	case r.Header.Get("Metadata-Flavor") != "Google" || r.Header.Get("X-Forwarded-For") != "":
		w.WriteHeader(http.StatusForbidden)
	case r.Method != http.MethodGet || r.URL.Path != "/computeMetadata/v1/instance/service-accounts/default/token" || p.Denied["metadata"]:
		w.WriteHeader(http.StatusNotFound)
	default:
		p.issue(w, rfc6749)
	}
}

func (p *Project) form(r *http.Request, path string) map[string]string {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		err = r.ParseForm()
	}
	if err != nil || r.Method != http.MethodPost || r.URL.Path != path {
		p.t.Errorf("got %s %s: %v", r.Method, r.URL.Path, err)
	}
	form := map[string]string{}
	for name := range r.PostForm {
		form[name] = r.PostForm.Get(name)
	}
	return form
}
