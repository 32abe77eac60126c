// Package awstest is an AWS account for tests: STS, the APIs of both registries, the
// agent of a container, and the metadata service of a virtual machine. It is strict: a
// request that Amazon would refuse is refused with Amazon's error codes, and a malformed
// one fails the test.
package awstest

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// The identities of the account.
const (
	UserID     = "AKIAUSER"
	UserSecret = "canary-user-secret"
	// Role may be assumed by the user, by the machine, and with WebToken.
	Role     = "arn:aws:iam::123456789012:role/reader"
	WebToken = "canary-web-token"
	// AgentToken is what the agent of a container requires.
	AgentToken = "canary-agent-token"
	// ProfileRole is the role of the virtual machine.
	ProfileRole = "machine-role"
)

// sessionLife is how long the keys of a role are valid.
const sessionLife = time.Hour

// Account is such an account.
type Account struct {
	t     testing.TB
	clock func() time.Time

	mutex    sync.Mutex
	keys     map[string]key // by id
	sessions int
	logins   int
	imds     int
	// Denied are actions that no identity may call.
	Denied map[string]bool
	// Life of a login. Twelve hours.
	Life time.Duration
	// Ahead is how much the account's clock is ahead of the machine's.
	Ahead time.Duration
}

// key is one pair of keys and its expiry.
type key struct {
	secret, session string
	until           time.Time // zero: never expires
}

// New makes an account.
func New(t testing.TB, now func() time.Time) *Account {
	t.Helper()
	return &Account{
		t: t, clock: now, Denied: map[string]bool{}, Life: 12 * time.Hour,
		keys: map[string]key{UserID: {secret: UserSecret}},
	}
}

func (a *Account) now() time.Time { return a.clock().Add(a.Ahead) }

// Vendor are the services of a region, by host.
func (a *Account) Vendor(region string) map[string]http.Handler {
	private := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.login(w, r, region, "ecr") })
	public := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.login(w, r, "us-east-1", "ecr-public") })
	sts := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.sts(w, r, region) })
	return map[string]http.Handler{
		"api.ecr." + region + ".amazonaws.com":      private,
		"api.ecr-fips." + region + ".amazonaws.com": private,
		"ecr-fips." + region + ".api.aws":           private,
		"ecr." + region + ".api.aws":                private,
		"sts." + region + ".amazonaws.com":          sts,
		"sts." + region + ".api.aws":                sts,
		"api.ecr-public.us-east-1.amazonaws.com":    public,
		"ecr-public.us-east-1.api.aws":              public,
		"api.ecr." + region + ".amazonaws.com.cn":   private,
		"sts." + region + ".amazonaws.com.cn":       sts,
	}
}

// Local are the services of the machine, by host.
func (a *Account) Local() map[string]http.Handler {
	return map[string]http.Handler{
		"169.254.169.254": http.HandlerFunc(a.instance),
		"169.254.170.2":   http.HandlerFunc(a.task),
		"169.254.170.23":  http.HandlerFunc(a.agent),
	}
}

// Password is that of login number n, from 1.
func Password(n int) string { return fmt.Sprintf("canary-password-%d", n) }

// Logins returns how many logins were issued.
func (a *Account) Logins() int {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.logins
}

// deny responds as the JSON protocol does.
func deny(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"__type":"com.amazonaws.ecr#%s","message":%q}`, code, message)
}

// session makes keys that expire.
func (a *Account) session() (id string, made key) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.sessions++
	id = fmt.Sprintf("ASIA%d", a.sessions)
	made = key{
		secret: fmt.Sprintf("canary-session-secret-%d", a.sessions), session: fmt.Sprintf("canary-session-token-%d/+=", a.sessions),
		until: a.now().Add(sessionLife),
	}
	a.keys[id] = made
	return id, made
}

// answerKeys responds as the agent and the virtual machine do.
func (a *Account) answerKeys(w http.ResponseWriter) {
	id, made := a.session()
	_, _ = fmt.Fprintf(w, `{"Code":"Success","Type":"AWS-HMAC","AccessKeyId":%q,"SecretAccessKey":%q,"Token":%q,"Expiration":%q}`,
		id, made.secret, made.session, made.until.Format(time.RFC3339))
}

func (a *Account) task(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || r.URL.Path != "/v2/credentials/1234" {
		http.NotFound(w, r)
		return
	}
	a.answerKeys(w)
}

func (a *Account) agent(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path != "/v1/credentials":
		http.NotFound(w, r)
	case r.Header.Get("Authorization") != AgentToken:
		w.WriteHeader(http.StatusUnauthorized)
	default:
		a.answerKeys(w)
	}
}

// instance is the metadata service, which requires a token that was requested with PUT
// (IMDSv2).
func (a *Account) instance(w http.ResponseWriter, r *http.Request) {
	const roles = "/latest/meta-data/iam/security-credentials/"
	token := func() string {
		a.mutex.Lock()
		defer a.mutex.Unlock()
		return fmt.Sprintf("imds-%d", a.imds)
	}
	switch {
	case r.URL.Path == "/latest/api/token":
		if r.Method != http.MethodPut || r.Header.Get("X-Aws-Ec2-Metadata-Token-Ttl-Seconds") == "" || r.Header.Get("X-Forwarded-For") != "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		a.mutex.Lock()
		a.imds++
		a.mutex.Unlock()
		w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", r.Header.Get("X-Aws-Ec2-Metadata-Token-Ttl-Seconds"))
		_, _ = fmt.Fprint(w, token())
	case r.Header.Get("X-Aws-Ec2-Metadata-Token") != token():
		w.WriteHeader(http.StatusUnauthorized)
	case r.URL.Path == roles:
		_, _ = fmt.Fprintln(w, ProfileRole)
	case r.URL.Path == roles+ProfileRole:
		a.answerKeys(w)
	default:
		http.NotFound(w, r)
	}
}

// trusted reports whether the trust policy of the role names the caller.
func trusted(role string) bool { return strings.HasSuffix(role, ":role/reader") }
