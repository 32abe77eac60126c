package google

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google/externalaccount"

	"promoter/internal/fault"
	"promoter/internal/registry/auth"
	"promoter/internal/secret"
)

// externalFile is the credential file of a federated identity.
// https://google.aip.dev/auth/4117
type externalFile struct {
	Audience      string        `json:"audience"`
	Kind          string        `json:"subject_token_type"`
	TokenURL      string        `json:"token_url"`
	Impersonation string        `json:"service_account_impersonation_url"`
	Source        subjectSource `json:"credential_source"`
}

// subjectSource is where the token of the other identity comes from.
type subjectSource struct {
	File        string            `json:"file"`
	URL         string            `json:"url"`
	Headers     map[string]string `json:"headers"`
	Environment string            `json:"environment_id"`
	Executable  json.RawMessage   `json:"executable"`
	Certificate json.RawMessage   `json:"certificate"`
	Format      struct {
		Type  string `json:"type"`
		Field string `json:"subject_token_field_name"`
	} `json:"format"`
}

const federated = "Google workload identity"

// external exchanges the token of another identity, and then impersonates a service
// account if the file names one.
func (s *Source) external(ctx context.Context, file secret.String) (*oauth2.Token, error) {
	var f externalFile
	if json.Unmarshal([]byte(file.Reveal()), &f) != nil || f.Audience == "" || f.Kind == "" {
		return nil, fault.New(fault.Invalid, "%s: the file has no audience or no subject_token_type", federated)
	}
	for _, address := range []string{f.TokenURL, f.Impersonation} {
		parsed, err := url.Parse(address)
		if err != nil ||
			address != "" && (parsed.Scheme != "https" || parsed.User != nil || !strings.HasSuffix(parsed.Host, ".googleapis.com")) {
			return nil, fault.New(fault.Invalid, "%s: the file names a service that is not below https://googleapis.com", federated)
		}
	}
	subject, err := s.subject(ctx, f.Source)
	if err != nil {
		return nil, err
	}
	through := steps{
		exchange: s.machine.Call(ctx, federated, "let the pool's provider accept the issuer, audience and subject of this identity"),
		impersonation: s.machine.Call(ctx, "Google service account of the workload identity",
			"give the federated identity the role roles/iam.workloadIdentityUser on that account"),
	}
	source, err := externalaccount.NewTokenSource(context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: through}),
		externalaccount.Config{
			Audience: f.Audience, SubjectTokenType: f.Kind, TokenURL: f.TokenURL, ServiceAccountImpersonationURL: f.Impersonation,
			Scopes: []string{scope}, SubjectTokenSupplier: subjectToken(subject.Reveal()),
		})
	if err != nil {
		return nil, through.exchange.Failure(err)
	}
	token, err := source.Token()
	if through.impersonation.Sent() {
		return token, through.impersonation.Failure(err)
	}
	return token, through.exchange.Failure(err)
}

// steps gives each request of the library its step.
type steps struct{ exchange, impersonation *auth.Call }

// RoundTrip implements http.RoundTripper.
func (s steps) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.URL.Path, ":generateAccessToken") {
		return s.impersonation.RoundTrip(req)
	}
	return s.exchange.RoundTrip(req)
}

// subjectToken is the token of the other identity, read already.
type subjectToken string

// SubjectToken implements externalaccount.SubjectTokenSupplier.
func (t subjectToken) SubjectToken(context.Context, externalaccount.SupplierOptions) (string, error) {
	return string(t), nil
}

// subject reads the token of the other identity.
func (s *Source) subject(ctx context.Context, from subjectSource) (secret.String, error) {
	var text string
	switch {
	case from.Executable != nil:
		return secret.String{}, fault.New(fault.Invalid,
			"%s: the file names a program, which promoter does not run: use a file or a url", federated)
	case from.Environment != "" || from.Certificate != nil:
		return secret.String{}, fault.New(fault.Invalid,
			"%s: a subject from AWS signatures or certificates is not supported: use a file or a url", federated)
	case from.File != "":
		read, err := s.machine.File(federated, from.File)
		if err != nil {
			return secret.String{}, err
		}
		text = read.Reveal()
	case from.URL != "":
		call := s.machine.LocalCall(ctx, federated, "check the service at the url of credential_source")
		response, err := call.Get(from.URL, from.Headers)
		if err != nil {
			return secret.String{}, err
		}
		text = strings.TrimSpace(string(response.Body))
	default:
		return secret.String{}, fault.New(fault.Invalid, "%s: credential_source names neither a file nor a url", federated)
	}
	if from.Format.Type == "json" {
		var fields map[string]any
		err := json.Unmarshal([]byte(text), &fields)
		value, ok := fields[from.Format.Field].(string)
		if err != nil || !ok {
			return secret.String{}, fault.New(fault.Invalid,
				"%s: the subject's JSON has no string in the field that the file names", federated)
		}
		text = value
	}
	if text == "" {
		return secret.String{}, fault.New(fault.Invalid, "%s: the subject's token is empty", federated)
	}
	return secret.New(text), nil
}
