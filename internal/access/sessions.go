package access

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// Sessions sign browsers in with signed cookies. A cookie contains who signed in, and not what
// they may do: that is read from the server file with each request, so that a session ends
// with its token or its mapping. Nothing is stored: a copied cookie stays valid until it expires,
// also after the browser signed out. Only a new key ends all sessions.
type Sessions struct {
	Key    secret.String // at least MinSessionKey characters; all replicas share it
	Tokens Tokens
	OIDC   *Mapping // nil: sign-in with OpenID Connect is off
	// Public is what requests without a session may do; without roles: nothing.
	Public Principal
	Now    func() time.Time
}

// MinSessionKey is the length of the shortest key, in bytes.
const MinSessionKey = 32

const (
	sessionIdle = 12 * time.Hour     // without use
	sessionMax  = 7 * 24 * time.Hour // since the sign-in
	// renewAfter is the age of a cookie after which Renew replaces it.
	renewAfter = 10 * time.Minute
	// maxCookie is the size that all browsers store, with its name and attributes.
	maxCookie = 4096 - 256
	// maxForm is the size of a form that VerifyCSRF reads.
	maxForm = 64 << 10
)

const sessionCookie = "promoter-session"

// Session is who signed in. The zero Session is a browser that is not signed in.
type Session struct {
	ID string `json:"id"` // random; CSRF tokens are bound to it
	// Token is the name of the principal of a token; empty: OpenID Connect.
	Token string `json:"token,omitempty"`
	// Identity is who signed in with OpenID Connect.
	Identity Identity `json:"identity,omitzero"`
	// Fingerprint is of the secret of the token, or of the provider.
	Fingerprint string    `json:"fingerprint"`
	Begun       time.Time `json:"begun"`
	Renewed     time.Time `json:"renewed"`
}

// SignedIn reports whether there is a session.
func (s Session) SignedIn() bool { return s.ID != "" }

// SignInToken starts a session if the text is a token.
func (s *Sessions) SignInToken(w http.ResponseWriter, r *http.Request, text string) (Principal, bool) {
	principal, ok := s.Tokens.Find(strings.TrimSpace(text))
	if !ok {
		return principal, false
	}
	session := Session{Token: principal.Name}
	session.Fingerprint, _ = s.fingerprint(session)
	return principal, s.issue(w, r, session) == nil
}

// SignInIdentity starts a session if the mapping of the server file gives the identity a role.
// Otherwise the error has the reason, for the user.
func (s *Sessions) SignInIdentity(w http.ResponseWriter, r *http.Request, identity Identity) (Principal, error) {
	if s.OIDC == nil {
		return Principal{}, fault.New(fault.NotFound, "sign-in with OpenID Connect is off")
	}
	principal, err := s.OIDC.Principal(identity)
	if err != nil {
		return principal, err
	}
	session := Session{Identity: s.OIDC.reduce(identity)}
	session.Fingerprint, _ = s.fingerprint(session)
	return principal, s.issue(w, r, session)
}

func (s *Sessions) issue(w http.ResponseWriter, r *http.Request, session Session) error {
	session.ID = rand.Text()
	session.Begun = s.Now().UTC()
	session.Renewed = session.Begun
	return s.write(w, r, session)
}

func (s *Sessions) write(w http.ResponseWriter, r *http.Request, session Session) error {
	expires := session.Renewed.Add(sessionIdle)
	if end := session.Begun.Add(sessionMax); end.Before(expires) {
		expires = end
	}
	return s.SetCookie(w, r, sessionCookie, session, expires)
}

// Authenticate returns the principal of the session of a request, or the public one with a
// zero Session.
func (s *Sessions) Authenticate(r *http.Request) (Principal, Session, bool) {
	if session, ok := s.read(r); ok {
		if principal, ok := s.principal(session); ok {
			return principal, session, true
		}
	}
	return s.Public, Session{}, len(s.Public.Roles) > 0
}

func (s *Sessions) read(r *http.Request) (session Session, ok bool) {
	if !s.Cookie(r, sessionCookie, &session) || !session.SignedIn() {
		return Session{}, false
	}
	now := s.Now()
	return session, now.Before(session.Renewed.Add(sessionIdle)) && now.Before(session.Begun.Add(sessionMax))
}

// principal returns what the server file says of a session now.
func (s *Sessions) principal(session Session) (Principal, bool) {
	fingerprint, ok := s.fingerprint(session)
	if !ok || !hmac.Equal([]byte(fingerprint), []byte(session.Fingerprint)) {
		return Principal{}, false
	}
	if session.Token != "" {
		token, ok := s.Tokens.named(session.Token)
		return token.Principal, ok
	}
	principal, err := s.OIDC.Principal(session.Identity)
	return principal, err == nil
}

// fingerprint changes with the secret of the token of a session, or with its provider.
func (s *Sessions) fingerprint(session Session) (string, bool) {
	if session.Token == "" {
		if s.OIDC == nil || session.Identity.Subject == "" {
			return "", false
		}
		return s.mac("provider", s.OIDC.Issuer, s.OIDC.ClientID), true
	}
	token, ok := s.Tokens.named(session.Token)
	return s.mac("token", token.Principal.Name, token.Secret.Reveal()), ok
}

// Renew extends a session that is used. It must be called before the response is written.
func (s *Sessions) Renew(w http.ResponseWriter, r *http.Request, session Session) {
	now := s.Now().UTC()
	if !session.SignedIn() || now.Sub(session.Renewed) < renewAfter {
		return
	}
	session.Renewed = now
	_ = s.write(w, r, session) // it is no longer than the one that the browser sent
}

// End signs a browser out.
func (s *Sessions) End(w http.ResponseWriter, r *http.Request) { s.ClearCookie(w, r, sessionCookie) }

// CSRF returns the token that forms of a session send back, in the field csrf or the header
// X-CSRF-Token.
func (s *Sessions) CSRF(session Session) string { return s.mac("csrf", session.ID) }

// ErrCSRF refuses a request that may have been sent by another site.
var ErrCSRF = fault.Wrap(fault.Unauthorized, errors.New(
	"the form is out of date, or was not sent by a page of promoter: reload the page and repeat"))

// SameOrigin refuses requests that another site makes a browser send, by Sec-Fetch-Site or
// Origin. It is enough for a form without a session, such as the sign-in.
func SameOrigin(r *http.Request) error {
	if http.NewCrossOriginProtection().Check(r) != nil {
		return ErrCSRF
	}
	return nil
}

// VerifyCSRF refuses requests that are not from a page of the session. It reads the form
// unless the header has the token. GET and HEAD need none: they change nothing.
func (s *Sessions) VerifyCSRF(r *http.Request, session Session) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	if err := SameOrigin(r); err != nil {
		return err
	}
	given := r.Header.Get("X-CSRF-Token")
	if given == "" && r.Body != nil {
		r.Body = http.MaxBytesReader(nil, r.Body, maxForm)
		given = r.PostFormValue("csrf")
	}
	if !session.SignedIn() || !hmac.Equal([]byte(given), []byte(s.CSRF(session))) {
		return ErrCSRF
	}
	return nil
}

// SetCookie sets a signed cookie with a value as JSON. The browser sends it to this host alone,
// and no script can read it.
func (s *Sessions) SetCookie(w http.ResponseWriter, r *http.Request, name string, value any, expires time.Time) error {
	encoded, err := json.Marshal(value)
	if err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	text := base64.RawURLEncoding.EncodeToString(encoded)
	text += "." + s.mac("cookie", name, text)
	if len(text) > maxCookie {
		return fault.New(fault.Invalid, "the session is too large for a cookie")
	}
	cookie := newCookie(r, name)
	cookie.Value = text
	cookie.Expires = expires
	cookie.MaxAge = int(expires.Sub(s.Now()).Seconds())
	http.SetCookie(w, cookie)
	return nil
}

// Cookie decodes a cookie of SetCookie. When it expires is for the caller to decide.
func (s *Sessions) Cookie(r *http.Request, name string, value any) bool {
	cookie, err := r.Cookie(newCookie(r, name).Name)
	if err != nil || len(s.Key.Reveal()) < MinSessionKey {
		return false
	}
	text, mac, _ := strings.Cut(cookie.Value, ".")
	if !hmac.Equal([]byte(mac), []byte(s.mac("cookie", name, text))) {
		return false
	}
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	return err == nil && json.Unmarshal(decoded, value) == nil
}

// ClearCookie deletes a cookie of SetCookie.
func (s *Sessions) ClearCookie(w http.ResponseWriter, r *http.Request, name string) {
	cookie := newCookie(r, name)
	cookie.MaxAge = -1
	http.SetCookie(w, cookie)
}

// newCookie returns the name and the attributes of a cookie. With __Host-, a browser accepts
// it from this host alone and over TLS alone; the TLS may end at a proxy.
func newCookie(r *http.Request, name string) *http.Cookie {
	cookie := &http.Cookie{Name: "__Host-" + name, Path: "/", HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode}
	if plainLoopback(r) { // not all browsers store secure cookies of such a site
		cookie.Name, cookie.Secure = name, false
	}
	return cookie
}

// plainLoopback reports whether the browser is on this machine and uses plain HTTP. A proxy in
// front, which may be on this machine too, names itself in a header.
func plainLoopback(r *http.Request) bool {
	if r.TLS != nil || r.Header.Get("Forwarded") != "" || r.Header.Get("X-Forwarded-For") != "" || r.Header.Get("X-Forwarded-Proto") != "" {
		return false
	}
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = strings.Trim(r.Host, "[]")
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback() || strings.EqualFold(host, "localhost")
}

// Derive returns a value that only the key can make, for instance a nonce.
func (s *Sessions) Derive(purpose, id string) string { return s.mac("derived", purpose, id) }

// mac authenticates fields for a purpose. Their lengths are part of it, so that no two lists
// of fields are the same text.
func (s *Sessions) mac(purpose string, fields ...string) string {
	hash := hmac.New(sha256.New, []byte(s.Key.Reveal()))
	encoded, _ := json.Marshal(append([]string{"promoter session v1", purpose}, fields...)) // strings always encode
	_, _ = hash.Write(encoded)                                                              // never fails
	return base64.RawURLEncoding.EncodeToString(hash.Sum(nil))
}
