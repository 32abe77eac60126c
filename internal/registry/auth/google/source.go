package google

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"promoter/internal/fault"
	"promoter/internal/registry/auth"
	"promoter/internal/secret"
)

// username is the one with which an access token is the password.
// https://cloud.google.com/artifact-registry/docs/docker/authentication#token
const username = "oauth2accesstoken"

// scope of the token. What it may do is decided by IAM.
const scope = "https://www.googleapis.com/auth/cloud-platform"

// Source logs in to the registries of Google.
type Source struct {
	machine auth.Machine
	key     secret.String // zero: application default credentials
}

// Belongs says whether a host is a registry of Google.
func Belongs(host string) bool {
	host = strings.ToLower(host)
	return host == "gcr.io" || strings.HasSuffix(host, ".gcr.io") || strings.HasSuffix(host, ".pkg.dev")
}

// New makes a Source. Key is what a file of a service account or of a federated
// identity holds; zero: what the machine gives.
func New(machine auth.Machine, host string, key secret.String) (*Source, error) {
	if !Belongs(host) {
		return nil, fault.New(fault.Invalid, "provider google: %s is no registry of Google: those are LOCATION-docker.pkg.dev and gcr.io", host)
	}
	return &Source{machine: machine, key: key}, nil
}

// Login asks for an access token.
func (s *Source) Login(ctx context.Context) (string, secret.String, time.Time, error) {
	key, err := s.find()
	if err != nil {
		return "", secret.String{}, time.Time{}, err
	}
	var got token
	if key.IsZero() {
		got, err = s.metadata(ctx)
	} else {
		got, err = s.fromKey(ctx, key)
	}
	return username, got.access, got.expires, err
}

// find returns the content of the file that says who the process is; zero: none
// does.
func (s *Source) find() (secret.String, error) {
	path := s.machine.Var("GOOGLE_APPLICATION_CREDENTIALS")
	if !s.key.IsZero() || path == "" {
		return s.key, nil
	}
	return s.machine.File("Google credentials", path)
}

// fromKey does what the file says.
func (s *Source) fromKey(ctx context.Context, key secret.String) (token, error) {
	const what = "Google credentials"
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal([]byte(key.Reveal()), &kind); err != nil {
		return token{}, fault.New(fault.Invalid, "%s: the file is not JSON as Google writes it", what)
	}
	switch kind.Type {
	case "service_account":
		return s.serviceAccount(ctx, key)
	case "external_account":
		return s.external(ctx, key)
	case "authorized_user", "impersonated_service_account", "external_account_authorized_user":
		return token{}, fault.New(fault.Invalid, "%s: the file is of a person (%s): use a service account or a federated identity", what, kind.Type)
	}
	return token{}, fault.New(fault.Invalid, "%s: the file is of no kind that is known: use that of a service account or of a federated identity", what)
}

// token is an access token.
type token struct {
	access  secret.String
	expires time.Time
}

// readToken reads a token in the form of RFC 6749, section 5.1.
func (s *Source) readToken(what string, answer auth.Answer) (token, error) {
	var got struct {
		Access string `json:"access_token"`
		In     int64  `json:"expires_in"` // seconds
	}
	if err := answer.Decode(what, &got); err != nil {
		return token{}, err
	}
	if got.Access == "" {
		return token{}, fault.New(fault.Temporary, "%s: the answer holds no token", what)
	}
	const longest = 12 * 60 * 60 // what a project may allow at most
	in := min(max(got.In, 0), longest)
	return token{access: secret.New(got.Access), expires: s.machine.Now().Add(time.Duration(in) * time.Second)}, nil
}
