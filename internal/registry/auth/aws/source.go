package aws

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"promoter/internal/fault"
	"promoter/internal/registry/auth"
	"promoter/internal/secret"
)

// Source logs in to one registry of Amazon.
type Source struct {
	machine  auth.Machine
	registry Registry
	role     string
}

// New makes a Source for the registry of a host. Role, an ARN, is assumed with what
// the machine gives; empty: none is.
func New(machine auth.Machine, host, role string) (*Source, error) {
	registry, ok := ParseHost(host)
	if !ok {
		return nil, fault.New(fault.Invalid, "provider aws: %s is no registry of Amazon: those are ACCOUNT.dkr.ecr.REGION.amazonaws.com and public.ecr.aws", host)
	}
	return &Source{machine: machine, registry: registry, role: role}, nil
}

// The actions that give logins.
// https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_GetAuthorizationToken.html
// https://docs.aws.amazon.com/AmazonECRPublic/latest/APIReference/API_GetAuthorizationToken.html
const (
	privateTarget = "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken"
	publicTarget  = "SpencerFrontendService.GetAuthorizationToken"
)

// Login asks for a password. Its name is always AWS.
func (s *Source) Login(ctx context.Context) (username string, password secret.String, expires time.Time, err error) {
	signed, err := s.keys(ctx)
	if err != nil {
		return "", secret.String{}, time.Time{}, err
	}
	q := auth.Question{
		What: "ECR login in " + s.registry.Region, Method: "POST", URL: "https://" + s.registry.api + "/", Body: "{}",
		Header: map[string]string{"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": privateTarget},
		Advice: "allow ecr:GetAuthorizationToken to " + s.who(),
	}
	service := "ecr"
	if s.registry.Public {
		service, q.Header["X-Amz-Target"] = "ecr-public", publicTarget
		q.Advice = "allow ecr-public:GetAuthorizationToken and sts:GetServiceBearerToken to " + s.who()
	}
	signed.sign(&q, s.registry.api, service, s.registry.Region, s.machine.Now())
	answer, err := s.machine.Ask(ctx, q)
	if err != nil {
		return "", secret.String{}, time.Time{}, err
	}
	return s.read(q.What, answer)
}

// who is what the advice calls the identity.
func (s *Source) who() string {
	if s.role != "" {
		return s.role
	}
	return "the identity that promoter runs with"
}

// grant is a token as ECR gives it: base64 of AWS:PASSWORD, and the seconds since
// 1970 at which it ends.
type grant struct {
	Token   string  `json:"authorizationToken"`
	Expires float64 `json:"expiresAt"`
}

// read reads an answer. The private registry answers with a list of one, the public
// one with the one.
func (s *Source) read(what string, answer auth.Answer) (string, secret.String, time.Time, error) {
	none := fault.New(fault.Temporary, "%s: the answer holds no login", what)
	var whole struct {
		Data json.RawMessage `json:"authorizationData"`
	}
	if err := answer.Decode(what, &whole); err != nil {
		return "", secret.String{}, time.Time{}, err
	}
	var one grant
	var list []grant
	switch {
	case json.Unmarshal(whole.Data, &list) == nil && len(list) > 0:
		one = list[0]
	case json.Unmarshal(whole.Data, &one) != nil:
		return "", secret.String{}, time.Time{}, none
	}
	plain, err := base64.StdEncoding.DecodeString(one.Token)
	username, password, found := strings.Cut(string(plain), ":")
	if err != nil || !found || username == "" || password == "" {
		return "", secret.String{}, time.Time{}, none
	}
	return username, secret.New(password), time.Unix(int64(one.Expires), 0).UTC(), nil
}
