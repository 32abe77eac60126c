package aws

import (
	"context"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"promoter/internal/fault"
	"promoter/internal/registry/auth"
)

// ambient returns the keys of the identity that promoter runs with. The first source
// that is configured is used, also if it fails: falling through to another identity
// would be a surprise.
// https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html
func (s *Source) ambient(ctx context.Context) (aws.Credentials, error) {
	m := s.machine
	selected, configured, err := s.profile()
	switch {
	case m.Var("AWS_ACCESS_KEY_ID") != "" && m.Var("AWS_SECRET_ACCESS_KEY") != "":
		return s.variables(), nil
	case m.Var("AWS_WEB_IDENTITY_TOKEN_FILE") != "":
		return s.webIdentity(ctx, m.Var("AWS_WEB_IDENTITY_TOKEN_FILE"), m.Var("AWS_ROLE_ARN"))
	case err != nil:
		return aws.Credentials{}, err
	case configured:
		return s.fromProfile(ctx, selected, maxSources)
	case m.Var("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != "" || m.Var("AWS_CONTAINER_CREDENTIALS_FULL_URI") != "":
		return s.container(ctx)
	case strings.EqualFold(m.Var("AWS_EC2_METADATA_DISABLED"), "true"):
		return aws.Credentials{}, fault.New(fault.Invalid,
			"AWS credentials: none are set up here: no variables, no web identity, no profile, no container agent, "+
				"and AWS_EC2_METADATA_DISABLED is true")
	}
	return s.instance(ctx)
}

func (s *Source) variables() aws.Credentials {
	m := s.machine
	return aws.Credentials{
		AccessKeyID: m.Var("AWS_ACCESS_KEY_ID"), SecretAccessKey: m.Var("AWS_SECRET_ACCESS_KEY"), SessionToken: m.Var("AWS_SESSION_TOKEN"),
	}
}

// sessionName is what CloudTrail shows for an assumed role.
const sessionName = "promoter"

// identityToken is a web identity token that was read already.
type identityToken string

// GetIdentityToken implements stscreds.IdentityTokenRetriever.
func (t identityToken) GetIdentityToken() ([]byte, error) { return []byte(t), nil }

// webIdentity assumes a role with a token in a file that the platform keeps fresh: an
// IAM role for a Kubernetes service account.
func (s *Source) webIdentity(ctx context.Context, file, role string) (aws.Credentials, error) {
	const name = "AWS web identity"
	if role == "" {
		return aws.Credentials{}, fault.New(fault.Invalid,
			"%s: AWS_WEB_IDENTITY_TOKEN_FILE is set without AWS_ROLE_ARN: annotate the service account with its role", name)
	}
	token, err := s.machine.File(name, file)
	if err != nil {
		return aws.Credentials{}, err
	}
	call := s.machine.Call(ctx, name, "let the trust policy of "+role+" name this service account and its issuer")
	named := func(o *stscreds.WebIdentityRoleOptions) { o.RoleSessionName = sessionName }
	provider := stscreds.NewWebIdentityRoleProvider(s.sts(call, nil), role, identityToken(token.Reveal()), named)
	return retrieve(ctx, name, call, provider)
}

// assume assumes a role with other keys.
func (s *Source) assume(ctx context.Context, keys aws.Credentials, role string) (aws.Credentials, error) {
	const name = "AWS role"
	call := s.machine.Call(ctx, name,
		"allow sts:AssumeRole on "+role+" to the identity that promoter runs with, and let its trust policy name that identity")
	named := func(o *stscreds.AssumeRoleOptions) { o.RoleSessionName = sessionName }
	provider := stscreds.NewAssumeRoleProvider(s.sts(call, credentials.StaticCredentialsProvider{Value: keys}), role, named)
	return retrieve(ctx, name, call, provider)
}

var validRegion = regexp.MustCompile(`^[a-z]{2,6}(-[a-z]+)+-[0-9]{1,2}$`)

// sts makes a client of the token service in the process's region, else in the
// registry's.
func (s *Source) sts(call *auth.Call, keys aws.CredentialsProvider) *sts.Client {
	region := s.registry.region
	for _, name := range []string{"AWS_DEFAULT_REGION", "AWS_REGION"} {
		if configured := s.machine.Var(name); validRegion.MatchString(configured) {
			region = configured
		}
	}
	return sts.New(sts.Options{
		Region: region, Credentials: keys, HTTPClient: call.Client(), Retryer: aws.NopRetryer{},
		EndpointOptions: sts.EndpointResolverOptions{UseDualStackEndpoint: dualStackState(s.registry.dualStack)},
	})
}

// container calls the agent beside a container: that of ECS at a path, that of EKS
// Pod Identity at a URL and with a token.
// https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html
func (s *Source) container(ctx context.Context) (aws.Credentials, error) {
	const name = "AWS container credentials"
	m := s.machine
	endpoint := m.Var("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	if path := m.Var("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); path != "" {
		if path[0] != '/' {
			return aws.Credentials{}, fault.New(fault.Invalid, "%s: AWS_CONTAINER_CREDENTIALS_RELATIVE_URI is not a path", name)
		}
		endpoint = "http://" + auth.Task + path
	}
	token := m.Var("AWS_CONTAINER_AUTHORIZATION_TOKEN")
	if file := m.Var("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
		read, err := m.File(name, file)
		if err != nil {
			return aws.Credentials{}, err
		}
		token = read.Reveal()
	}
	call := m.LocalCall(ctx, name, "give the task a role, or the service account a pod identity association")
	return retrieve(ctx, name, call, endpointcreds.New(endpoint, func(o *endpointcreds.Options) {
		o.HTTPClient = call.Client()
		o.Retryer = aws.NopRetryer{}
		o.AuthorizationToken = token
	}))
}

// instance calls the metadata service of the virtual machine, with IMDSv2 only.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-service.html
func (s *Source) instance(ctx context.Context) (aws.Credentials, error) {
	const name = "AWS instance metadata"
	const advice = "give the virtual machine an instance profile, and for a container set HttpPutResponseHopLimit to 2"
	call := s.machine.LocalCall(ctx, name, advice)
	keys, err := retrieve(ctx, name, call, ec2rolecreds.New(func(o *ec2rolecreds.Options) {
		o.Client = imds.New(imds.Options{
			Endpoint: "http://" + auth.Instance, HTTPClient: call.Client(), Retryer: aws.NopRetryer{},
			ClientEnableState: imds.ClientEnabled, EnableFallback: aws.FalseTernary,
		})
	}))
	if fault.KindOf(err) == fault.Temporary {
		const none = "AWS credentials: none are set up here (no variables, no web identity, no profile, no container agent)"
		return aws.Credentials{}, fault.New(fault.Temporary,
			none+", and the metadata service of a virtual machine did not answer: %w: %s", err, advice)
	}
	return keys, err
}

// retrieve asks a provider of the SDK for keys.
func retrieve(ctx context.Context, name string, call *auth.Call, provider aws.CredentialsProvider) (aws.Credentials, error) {
	keys, err := provider.Retrieve(ctx)
	if err != nil {
		return aws.Credentials{}, call.Failure(err)
	}
	if keys.AccessKeyID == "" || keys.SecretAccessKey == "" || keys.SessionToken == "" {
		return aws.Credentials{}, fault.New(fault.Temporary, "%s: the response has no keys", name)
	}
	return keys, nil
}
