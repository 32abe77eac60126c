package webhook_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // what Nexus signs with
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/receiver"
	"promoter/internal/secret"
	"promoter/internal/secret/secrettest"
	"promoter/internal/webhook"
	"promoter/internal/webhook/credential"
)

const theSecret = "canary-secret-of-the-tests"

// sender is a sender of a kind in the tests, with its credential.
type sender struct {
	options webhook.Options
	header  string           // empty: the path
	prefix  string           // before the signature
	with    func() hash.Hash // nil: the secret itself
}

// credentialOf returns a sender with the credential that the documentation of a kind recommends.
func credentialOf(kind string) sender {
	c := sender{options: webhook.Options{Name: "hook", Kind: kind, Credential: credential.Options{Secret: secret.New(theSecret)}}}
	switch kind {
	case "aliyun", "dockerhub", "quay", "gar", "tekton":
		c.options.Credential.Secret, c.options.Credential.PathSecret = secret.String{}, secret.New(longSecret)
	case "github":
		c.header, c.prefix, c.with = "X-Hub-Signature-256", "sha256=", sha256.New
	case "gitea":
		c.header, c.with = "X-Gitea-Signature", sha256.New
	case "gogs":
		c.header, c.with = "X-Gogs-Signature", sha256.New
	case "bitbucket":
		c.header, c.prefix, c.with = "X-Hub-Signature", "sha256=", sha256.New
	case "gitlab":
		c.header = "X-Gitlab-Token"
	case "jfrog":
		c.header, c.with = "X-Jfrog-Event-Auth", sha256.New
	case "nexus":
		c.header, c.with = "X-Nexus-Webhook-Signature", sha1.New
	case "flux":
		c.header, c.prefix, c.with = "X-Signature", "sha256=", sha256.New
	case "generic":
		c.header, c.prefix, c.with = "X-Promoter", "sha256=", sha256.New
		c.options.Credential.Header = c.header
	default:
		c.header, c.options.Credential.Header = "Authorization", "Authorization"
	}
	return c
}

func (c sender) receiver(t testing.TB) *webhook.Receiver {
	t.Helper()
	made, err := webhook.New(c.options)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// sign proves a request with the secret.
func (c sender) sign(header http.Header, body []byte) webhook.Request {
	return c.signWith(header, body, theSecret, longSecret)
}

func (c sender) signWith(header http.Header, body []byte, key, path string) webhook.Request {
	r := webhook.Request{Header: header.Clone(), Body: body}
	switch {
	case c.header == "":
		r.PathSecret = path
	case c.with == nil:
		r.Header.Set(c.header, key)
	default:
		r.Header.Set(c.header, c.prefix+signature(c.with, key, c.signs(header, body)))
	}
	return r
}

// signs is what is signed of a body: all of it, and of a form of Gitea or Gogs its field.
func (c sender) signs(header http.Header, body []byte) []byte {
	if c.options.Kind != "gitea" && c.options.Kind != "gogs" || header.Get("Content-Type") != "application/x-www-form-urlencoded" {
		return body
	}
	form, _ := url.ParseQuery(string(body)) // what is none has no field
	return []byte(form.Get("payload"))
}

func signature(with func() hash.Hash, key string, body []byte) string {
	mac := hmac.New(with, []byte(key))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// One byte of a signed body that is another, and it is not from who it says.
func TestReceive_refusesChangedBodies(t *testing.T) {
	t.Parallel()
	signed := map[string]bool{}
	for _, p := range payloads(t) {
		c := credentialOf(p.kind)
		if c.with == nil || len(p.body) == 0 {
			continue
		}
		signed[p.kind] = true
		for _, at := range []int{0, len(p.body) / 2, len(p.body) - 1} {
			r := c.sign(p.header, p.body)
			r.Body = bytes.Clone(p.body)
			r.Body[at] ^= 1
			refused(t, p.kind+"/"+p.name+" with a flipped byte", c, r)
		}
	}
	for _, kind := range []string{"bitbucket", "flux", "generic", "gitea", "github", "gogs", "jfrog", "nexus"} {
		if !signed[kind] {
			t.Errorf("no payload of %s was signed", kind)
		}
	}
}

func refused(t *testing.T, what string, c sender, r webhook.Request) {
	t.Helper()
	d, err := c.receiver(t).Receive(t.Context(), r)
	if fault.KindOf(err) != fault.Unauthorized || len(d.Events) > 0 {
		t.Errorf("%s: %+v, %v", what, d, err)
	}
	if err != nil && err.Error() != "unknown receiver, or a wrong or missing credential" {
		t.Errorf("%s: the error tells more: %v", what, err)
	}
}

// A receiver of every kind follows the file of its secret.
func TestReceive_followsTheFileOfItsSecret(t *testing.T) {
	t.Parallel()
	const next = "another-secret-of-the-tests-0123456789abcdef"
	for _, kind := range receiver.Names() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c, header := credentialOf(kind), http.Header{"Content-Type": {"application/json"}}
			first := theSecret
			if c.header == "" {
				first = longSecret
			}
			mount := secrettest.NewMount(t, map[string]string{"hook": first})
			if c.header == "" {
				c.options.Credential.PathSecret = mount.Secret("hook")
			} else {
				c.options.Credential.Secret = mount.Secret("hook")
			}
			r, body := c.receiver(t), []byte(`{"image": "quay.io/acme/web:1"}`)
			accepts := func(key string) bool {
				_, err := r.Receive(t.Context(), c.signWith(header, body, key, key))
				return fault.KindOf(err) != fault.Unauthorized
			}
			if !accepts(first) || accepts(next) {
				t.Fatal("the first secret is not that of the receiver")
			}
			mount.Swap(map[string]string{"hook": next})
			mount.Later()
			if accepts(first) || !accepts(next) {
				t.Error("the secret before is that of the receiver still")
			}
		})
	}
}

// Whatever is not the credential of a kind is refused, in the same words.
func TestReceive_acceptsOnlyItsCredential(t *testing.T) {
	t.Parallel()
	for _, kind := range receiver.Names() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c, header := credentialOf(kind), http.Header{"Content-Type": {"application/json"}}
			body := []byte(`{"image": "quay.io/acme/web:1"}`)
			refused(t, "none", c, webhook.Request{Header: header.Clone(), Body: body})
			refused(t, "a wrong one", c, c.signWith(header, body, "another", strings.Repeat("x", 32)))
			refused(t, "a shorter one", c, c.signWith(header, body, theSecret[:10], longSecret[:10]))
			refused(t, "a longer one", c, c.signWith(header, body, theSecret+"x", longSecret+"x"))
			refused(t, "an empty one", c, c.signWith(header, body, "", ""))
			if c.header == "" {
				return
			}
			for _, text := range []string{"", "Bearer ", "sha256=", "sha256=zz", "sha256=" + strings.Repeat("0", 64), "***"} {
				r := webhook.Request{Header: header.Clone(), Body: body, PathSecret: theSecret}
				r.Header.Set(c.header, text)
				refused(t, text, c, r)
			}
		})
	}
}

// A signature is one behind its prefix alone, and one of other bytes is none.
func TestReceive_refusesPrefixesOfSecrets(t *testing.T) {
	t.Parallel()
	for _, kind := range receiver.Names() {
		c, body := credentialOf(kind), []byte("{")
		if c.with == nil {
			continue
		}
		right := c.sign(http.Header{}, body).Header.Get(c.header)
		for _, text := range []string{"sha1=" + right, "sha256=sha256=" + right, "x" + right, right + "00", right[:len(right)-2], right + "z"} {
			r := webhook.Request{Header: http.Header{}, Body: body}
			r.Header.Set(c.header, text)
			refused(t, kind+" with "+text, c, r)
		}
		if c.prefix == "" {
			continue
		}
		r := webhook.Request{Header: http.Header{}, Body: body}
		r.Header.Set(c.header, strings.TrimPrefix(right, c.prefix))
		refused(t, kind+" without its prefix", c, r)
	}
}

// A secret in a header may stand alone, or behind Bearer.
func TestReceive_acceptsBearerTokens(t *testing.T) {
	t.Parallel()
	for _, kind := range receiver.Names() {
		c := credentialOf(kind)
		if c.with != nil && kind != "generic" && kind != "jfrog" || c.header == "" {
			continue
		}
		for _, text := range []string{theSecret, "Bearer " + theSecret} {
			r := webhook.Request{Header: http.Header{}, Body: []byte("{")}
			r.Header.Set(c.header, text)
			if _, err := c.receiver(t).Receive(t.Context(), r); fault.KindOf(err) != fault.Invalid {
				t.Errorf("%s with %s: %v", kind, text, err)
			}
		}
		r := webhook.Request{Header: http.Header{}, Body: []byte("{")}
		r.Header.Set(c.header, "Bearer Bearer "+theSecret)
		refused(t, kind+" twice", c, r)
	}
}

// Gitea signs in two headers, and one that is right is enough.
func TestReceive_acceptsEitherHeader(t *testing.T) {
	t.Parallel()
	c, body := credentialOf("gitea"), []byte("{")
	r := webhook.Request{Header: http.Header{}, Body: body}
	r.Header.Set("X-Hub-Signature-256", "sha256="+signature(sha256.New, theSecret, body))
	if _, err := c.receiver(t).Receive(t.Context(), r); fault.KindOf(err) != fault.Invalid {
		t.Errorf("by GitHub's header: %v", err)
	}
}

// Azure DevOps sends the secret in a header, or as the password of any user.
func TestReceive_azureDevOpsAcceptsBasicAuthentication(t *testing.T) {
	t.Parallel()
	for _, header := range []string{"Authorization", "X-Promoter"} {
		c := credentialOf("azuredevops")
		c.options.Credential.Header = header
		with := func(authorization string) webhook.Request {
			return webhook.Request{Header: http.Header{"Authorization": {authorization}}, Body: []byte("{")}
		}
		basic := func(text string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(text)) }
		for _, text := range []string{"promoter:" + theSecret, ":" + theSecret} {
			if _, err := c.receiver(t).Receive(t.Context(), with(basic(text))); fault.KindOf(err) != fault.Invalid {
				t.Errorf("%s: %v", text, err)
			}
		}
		for _, text := range []string{theSecret, theSecret + ":", "promoter:" + theSecret + "x", "promoter:", "", "promoter:" + theSecret[1:]} {
			refused(t, "basic "+text, c, with(basic(text)))
		}
		for _, text := range []string{"Basic", "Basic ***", "Basic " + theSecret, base64.StdEncoding.EncodeToString([]byte("promoter:" + theSecret))} {
			refused(t, text, c, with(text))
		}
	}
}

func TestNew_refusesIncompleteOptions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		options webhook.Options
		want    string
	}{
		{"another kind", webhook.Options{Name: "hook", Kind: "svn"}, `receiver hook: this promoter has no sender "svn"`},
		{"no credential", webhook.Options{Name: "hook", Kind: "github"}, "receiver hook: it has no credential"},
		{"a short secret in the path", webhook.Options{Name: "hook", Kind: "quay", Credential: credential.Options{PathSecret: secret.New(longSecret[:31])}}, "fewer than 32 characters"},
		{"an audience without the rest", webhook.Options{Name: "hook", Kind: "gar", Credential: credential.Options{Audience: "promoter"}}, "requires an email"},
	} {
		_, err := webhook.New(test.options)
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// What anybody may post needs no credential, and has one sender like the others.
func TestReceive_anonymousAcceptsAll(t *testing.T) {
	t.Parallel()
	made, err := webhook.New(webhook.Options{Name: "hook", Kind: "generic", Credential: credential.Options{Anonymous: true}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := made.Receive(t.Context(), webhook.Request{Header: http.Header{}, Body: []byte(`{"image": "quay.io/acme/web:1"}`)})
	if err != nil || len(d.Events) != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	if made.Name() != "hook" || made.Kind() != "generic" {
		t.Errorf("it is %s of %s", made.Name(), made.Kind())
	}
}

// No header that can hold a credential of any kind is kept.
func TestKeptHeaders_holdNoCredential(t *testing.T) {
	t.Parallel()
	kinds := receiver.Names()
	for _, kind := range kinds {
		c := credentialOf(kind)
		r := c.sign(http.Header{"X-Github-Event": {"push"}, "Cookie": {"a"}, "Webhook-Signature": {"v1,a"}}, []byte("{}"))
		kept := c.receiver(t).LoggableHeaders(r.Header)
		if len(kept) != 1 || kept.Get("X-Github-Event") != "push" {
			t.Errorf("%s keeps %v", kind, kept)
		}
	}
	// An operator may let the secret be sent in a header that would be kept otherwise.
	custom, err := webhook.New(webhook.Options{Name: "hook", Kind: "generic", Credential: credential.Options{Secret: secret.New("a-secret-of-a-receiver"), Header: "x-gitlab-event"}})
	if err != nil {
		t.Fatal(err)
	}
	if kept := custom.LoggableHeaders(http.Header{"X-Gitlab-Event": {"a-secret-of-a-receiver"}}); len(kept) > 0 {
		t.Errorf("the header of the secret is kept: %v", kept)
	}
	if !slices.IsSorted(kinds) || len(kinds) < 18 {
		t.Errorf("the kinds are %v", kinds)
	}
}
