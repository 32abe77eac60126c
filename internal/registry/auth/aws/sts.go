package aws

import (
	"context"
	"encoding/xml"
	"net/url"
	"regexp"

	"promoter/internal/fault"
	"promoter/internal/registry/auth"
	"promoter/internal/secret"
)

var regionText = regexp.MustCompile(`^[a-z]{2,6}(-[a-z]+)+-[0-9]{1,2}$`)

const (
	stsVersion  = "2011-06-15"
	sessionName = "promoter" // what a trail of AWS shows
)

// webIdentity assumes a role with a token that the platform wrote into a file and
// renews there: an IAM role for a service account of Kubernetes.
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html
func (s *Source) webIdentity(ctx context.Context, file, role string) (keys, error) {
	const what = "AWS web identity"
	if role == "" {
		return keys{}, fault.New(fault.Invalid, "%s: AWS_WEB_IDENTITY_TOKEN_FILE is set without AWS_ROLE_ARN: annotate the service account with its role", what)
	}
	token, err := s.machine.File(what, file)
	if err != nil {
		return keys{}, err
	}
	q := s.roleQuestion(what, "let the trust policy of "+role+" name this service account and its issuer", url.Values{
		"Action": {"AssumeRoleWithWebIdentity"}, "RoleArn": {role}, "WebIdentityToken": {token.Reveal()},
	})
	return s.session(ctx, q)
}

// assume assumes a role with keys.
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
func (s *Source) assume(ctx context.Context, with keys, role string) (keys, error) {
	q := s.roleQuestion("AWS role", "allow sts:AssumeRole on "+role+" to the identity that promoter runs with, and let its trust policy name that", url.Values{
		"Action": {"AssumeRole"}, "RoleArn": {role},
	})
	with.sign(&q, s.stsHost(), "sts", s.region(), s.machine.Now())
	return s.session(ctx, q)
}

func (s *Source) roleQuestion(what, advice string, values url.Values) auth.Question {
	values.Set("Version", stsVersion)
	values.Set("RoleSessionName", sessionName)
	return auth.Form(what, advice, "https://"+s.stsHost()+"/", values)
}

func (s *Source) stsHost() string { return "sts." + s.region() + "." + s.registry.domain }

// session asks STS. Both actions answer with the same keys under another name.
func (s *Source) session(ctx context.Context, q auth.Question) (keys, error) {
	answer, err := s.machine.Ask(ctx, q)
	if err != nil {
		return keys{}, err
	}
	var whole struct {
		Result struct {
			Credentials struct {
				ID      string `xml:"AccessKeyId"`
				Secret  string `xml:"SecretAccessKey"`
				Session string `xml:"SessionToken"`
			} `xml:"Credentials"`
		} `xml:",any"`
	}
	if err := xml.Unmarshal(answer.Body, &whole); err != nil {
		return keys{}, fault.New(fault.Temporary, "%s: the answer is not understood", q.What)
	}
	got := whole.Result.Credentials
	return newKeys(q.What, got.ID, got.Secret, got.Session)
}

// newKeys takes keys out of an answer, or says that there are none in it.
func newKeys(what, id, secretKey, session string) (keys, error) {
	if id == "" || secretKey == "" || session == "" {
		return keys{}, fault.New(fault.Temporary, "%s: the answer holds no keys", what)
	}
	return keys{id: id, secret: secret.New(secretKey), session: secret.New(session)}, nil
}
