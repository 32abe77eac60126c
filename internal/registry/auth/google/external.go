package google

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"promoter/internal/fault"
	"promoter/internal/registry/auth"
	"promoter/internal/secret"
)

// externalFile is the file of a federated identity.
// https://google.aip.dev/auth/4117
type externalFile struct {
	Audience      string        `json:"audience"`
	Kind          string        `json:"subject_token_type"`
	Service       string        `json:"token_url"`
	Impersonation string        `json:"service_account_impersonation_url"`
	Source        subjectSource `json:"credential_source"`
}

// subjectSource says where the token of the other identity is.
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

// external exchanges the token of another identity, and takes on a service account
// where the file names one.
func (s *Source) external(ctx context.Context, file secret.String) (token, error) {
	var f externalFile
	if json.Unmarshal([]byte(file.Reveal()), &f) != nil || f.Audience == "" || f.Kind == "" {
		return token{}, fault.New(fault.Invalid, "%s: the file has no audience or no subject_token_type", federated)
	}
	for _, address := range []string{f.Service, f.Impersonation} {
		if address != "" && !googles(address) {
			return token{}, fault.New(fault.Invalid, "%s: the file names a service that is not below https://googleapis.com", federated)
		}
	}
	subject, err := s.subject(ctx, f.Source)
	if err != nil {
		return token{}, err
	}
	got, err := s.exchange(ctx, f, subject)
	if err != nil || f.Impersonation == "" {
		return got, err
	}
	return s.impersonate(ctx, f.Impersonation, got)
}

// googles says that an address is of Google's services.
func googles(address string) bool {
	parsed, err := url.Parse(address)
	return err == nil && parsed.Scheme == "https" && parsed.User == nil && strings.HasSuffix(parsed.Host, ".googleapis.com")
}

// subject gets the token of the other identity.
func (s *Source) subject(ctx context.Context, from subjectSource) (secret.String, error) {
	var text secret.String
	switch {
	case from.Executable != nil:
		return text, fault.New(fault.Invalid, "%s: the file wants a program to be started, which promoter does not: use a file or a url", federated)
	case from.Environment != "" || from.Certificate != nil:
		return text, fault.New(fault.Invalid, "%s: a subject from AWS signatures or certificates is not supported: use a file or a url", federated)
	case from.File != "":
		read, err := s.machine.File(federated, from.File)
		if err != nil {
			return text, err
		}
		text = read
	case from.URL != "":
		answer, err := s.machine.AskMachine(ctx, auth.Question{
			What: federated, URL: from.URL, Header: from.Headers, Advice: "see who answers at the url of credential_source",
		})
		if err != nil {
			return text, err
		}
		text = secret.New(strings.TrimSpace(string(answer.Body)))
	default:
		return text, fault.New(fault.Invalid, "%s: credential_source names neither a file nor a url", federated)
	}
	return from.unwrap(text)
}

// unwrap takes the token out of JSON where the file says that it is in some.
func (from subjectSource) unwrap(text secret.String) (secret.String, error) {
	if from.Format.Type == "json" {
		var fields map[string]any
		err := json.Unmarshal([]byte(text.Reveal()), &fields)
		value, ok := fields[from.Format.Field].(string)
		if err != nil || !ok {
			return secret.String{}, fault.New(fault.Invalid, "%s: the subject's JSON has no text under the name that the file gives", federated)
		}
		text = secret.New(value)
	}
	if text.IsZero() || text.Reveal() == "" {
		return secret.String{}, fault.New(fault.Invalid, "%s: the subject's token is empty", federated)
	}
	return text, nil
}

// exchange is that of RFC 8693.
func (s *Source) exchange(ctx context.Context, f externalFile, subject secret.String) (token, error) {
	service := f.Service
	if service == "" {
		service = "https://sts.googleapis.com/v1/token"
	}
	answer, err := s.machine.Ask(ctx, auth.Form(federated, "let the pool's provider accept the issuer, audience and subject of this identity", service, url.Values{
		"grant_type":           {"urn:ietf:params:oauth:grant-type:token-exchange"},
		"requested_token_type": {"urn:ietf:params:oauth:token-type:access_token"},
		"audience":             {f.Audience},
		"scope":                {scope},
		"subject_token_type":   {f.Kind},
		"subject_token":        {subject.Reveal()},
	}))
	if err != nil {
		return token{}, err
	}
	return s.readToken(federated, answer)
}

// impersonate takes on a service account.
// https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/generateAccessToken
func (s *Source) impersonate(ctx context.Context, address string, with token) (token, error) {
	const what = "Google service account of the workload identity"
	answer, err := s.machine.Ask(ctx, auth.Question{
		What: what, Method: "POST", URL: address, Body: `{"scope":["` + scope + `"],"lifetime":"3600s"}`,
		Header: map[string]string{"Content-Type": "application/json", "Authorization": "Bearer " + with.access.Reveal()},
		Advice: "give the federated identity the role roles/iam.workloadIdentityUser on that account",
	})
	if err != nil {
		return token{}, err
	}
	var got struct {
		Access  string    `json:"accessToken"`
		Expires time.Time `json:"expireTime"`
	}
	if err := answer.Decode(what, &got); err != nil {
		return token{}, err
	}
	if got.Access == "" {
		return token{}, fault.New(fault.Temporary, "%s: the answer holds no token", what)
	}
	return token{access: secret.New(got.Access), expires: got.Expires}, nil
}
