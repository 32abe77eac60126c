// Package google logs in to Google's registries: Artifact Registry and the old
// Container Registry.
//
// A login is an access token that is valid for an hour. Its identity is the key in
// the server file, else the application default credentials: the file that
// GOOGLE_APPLICATION_CREDENTIALS names, else the metadata service of the machine.
//
// golang.org/x/oauth2 signs and exchanges tokens. The credentials are selected here:
// its FindDefaultCredentials reads the files of the gcloud CLI and accepts those of
// users. Two parts are our own: the subject token of a federated identity, because
// the library opens any file and URL that a credential file names and can run a
// program, and the metadata service, because the library's client for it cannot be
// replaced.
package google

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/jwt"

	"promoter/internal/fault"
	"promoter/internal/registry/auth"
	"promoter/internal/secret"
)

// username is the one with which an access token is the password.
// https://cloud.google.com/artifact-registry/docs/docker/authentication#token
const username = "oauth2accesstoken"

// scope of the token. What it permits is decided by IAM.
const scope = "https://www.googleapis.com/auth/cloud-platform"

// Source logs in to the registries of Google.
type Source struct {
	machine auth.Machine
	key     secret.String // zero: application default credentials
}

// New makes a Source. The key is the content of the credential file of a service
// account or of a federated identity; zero selects application default credentials.
func New(machine auth.Machine, host string, key secret.String) (*Source, error) {
	name := strings.ToLower(host)
	if name != "gcr.io" && !strings.HasSuffix(name, ".gcr.io") && !strings.HasSuffix(name, ".pkg.dev") {
		return nil, fault.New(fault.Invalid,
			"provider google: %s is not a registry of Google, which are LOCATION-docker.pkg.dev and gcr.io", host)
	}
	return &Source{machine: machine, key: key}, nil
}

// Login requests an access token.
func (s *Source) Login(ctx context.Context) (string, secret.String, time.Time, error) {
	token, err := s.token(ctx)
	if err != nil {
		return "", secret.String{}, time.Time{}, err
	}
	if token.AccessToken == "" {
		return "", secret.String{}, time.Time{}, fault.New(fault.Temporary, "Google credentials: the response has no token")
	}
	expires := token.Expiry
	if expires.IsZero() {
		expires = s.machine.Now() // the response does not say: renew soon
	}
	return username, secret.New(token.AccessToken), expires, nil
}

// token selects the credentials and requests a token.
func (s *Source) token(ctx context.Context) (*oauth2.Token, error) {
	const name = "Google credentials"
	file := s.key
	if path := s.machine.Var("GOOGLE_APPLICATION_CREDENTIALS"); file.IsZero() && path != "" {
		read, err := s.machine.File(name, path)
		if err != nil {
			return nil, err
		}
		file = read
	}
	if file.IsZero() {
		return s.metadata(ctx)
	}
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal([]byte(file.Reveal()), &kind); err != nil {
		return nil, fault.New(fault.Invalid, "%s: the file is not a credential file of Google: it is not JSON", name)
	}
	switch kind.Type {
	case "service_account":
		return s.serviceAccount(ctx, file)
	case "external_account":
		return s.external(ctx, file)
	case "authorized_user", "impersonated_service_account", "external_account_authorized_user":
		return nil, fault.New(fault.Invalid,
			"%s: the file is for a user (%s): use a service account or a federated identity", name, kind.Type)
	}
	return nil, fault.New(fault.Invalid,
		"%s: the type of the file is unknown: use the file of a service account or of a federated identity", name)
}

// tokenURL is where a service account gets its tokens. The token_uri of a key file is
// ignored, because a signed assertion is sent there.
const tokenURL = "https://oauth2.googleapis.com/token"

// serviceAccount exchanges an assertion that is signed with the account's key.
// https://developers.google.com/identity/protocols/oauth2/service-account#httprest
func (s *Source) serviceAccount(ctx context.Context, file secret.String) (*oauth2.Token, error) {
	const name = "Google service account"
	var key struct {
		Email string `json:"client_email"`
		ID    string `json:"private_key_id"`
		Key   string `json:"private_key"` // PEM
	}
	if json.Unmarshal([]byte(file.Reveal()), &key) != nil || key.Email == "" {
		return nil, fault.New(fault.Invalid, "%s: the key file has no client_email", name)
	}
	call := s.machine.Call(ctx, name,
		"check whether the key of "+key.Email+" was deleted or the account disabled, and whether the clock of this machine is right")
	config := jwt.Config{Email: key.Email, PrivateKeyID: key.ID, PrivateKey: []byte(key.Key), Scopes: []string{scope}, TokenURL: tokenURL}
	token, err := config.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, call.Client())).Token()
	if err != nil && !call.Sent() {
		return nil, fault.New(fault.Invalid, "%s: the private key of the file is not valid", name)
	}
	return token, call.Failure(err)
}

// metadataURL is where a machine, or a pod with a workload identity, gets the token of
// its service account.
// https://cloud.google.com/compute/docs/access/authenticate-workloads#applications
const metadataURL = "http://" + auth.Instance + "/computeMetadata/v1/instance/service-accounts/default/token"

const flavor = "Metadata-Flavor"

func (s *Source) metadata(ctx context.Context) (*oauth2.Token, error) {
	const name = "Google metadata service"
	call := s.machine.LocalCall(ctx, name,
		"give the machine a service account, or the pod's service account an identity (iam.gke.io/gcp-service-account, "+
			"or a principal of its own in the policy)")
	response, err := call.Get(metadataURL, map[string]string{flavor: "Google"})
	if fault.KindOf(err) == fault.Temporary {
		const none = "Google credentials: neither a key in the server file nor GOOGLE_APPLICATION_CREDENTIALS is set"
		return nil, fault.New(fault.Temporary, none+", and the metadata service of a machine did not answer: %w", err)
	}
	if err != nil {
		return nil, err
	}
	if response.Header.Get(flavor) != "Google" {
		return nil, fault.New(fault.Invalid, "%s: the service at %s is not Google's: this machine is not in its cloud", name, auth.Instance)
	}
	var token oauth2.Token
	if err := response.Decode(&token); err != nil {
		return nil, err
	}
	token.Expiry = s.machine.Now().Add(time.Duration(token.ExpiresIn) * time.Second)
	return &token, nil
}
