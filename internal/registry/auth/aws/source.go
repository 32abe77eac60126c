// Package aws logs in to Amazon's registries: ECR in each region, and ECR Public.
//
// A login is a password for twelve hours from GetAuthorizationToken. The AWS SDK
// signs and sends the requests. Which identity it uses is decided here, in the order
// of the SDK's own chain: environment variables, a web identity (IRSA), a profile,
// the container's agent (ECS, EKS Pod Identity), the virtual machine (IMDSv2). A role
// is then assumed if one is configured. The SDK's chain itself is not used: it reads
// files on its own and runs the credential_process of a profile.
package aws

import (
	"context"
	"encoding/base64"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/ecrpublic"

	"promoter/internal/fault"
	"promoter/internal/registry/auth"
	"promoter/internal/secret"
)

// Source logs in to one registry of Amazon.
type Source struct {
	machine  auth.Machine
	registry registry
	role     string
}

// New makes a Source for the registry of a host. The role, an ARN, is assumed with
// the ambient identity; empty for none.
func New(machine auth.Machine, host, role string) (*Source, error) {
	found, ok := parseHost(host)
	if !ok {
		return nil, fault.New(fault.Invalid,
			"provider aws: %s is not a registry of Amazon, which are ACCOUNT.dkr.ecr.REGION.amazonaws.com and public.ecr.aws", host)
	}
	return &Source{machine: machine, registry: found, role: role}, nil
}

// registry is what the host of a registry says about it.
type registry struct {
	region    string
	public    bool
	fips      bool
	dualStack bool // with IPv6
}

// The hosts of ECR, with IPv4 only and with IPv6 ("dual-stack").
// https://docs.aws.amazon.com/AmazonECR/latest/userguide/Registries.html
var (
	privateHost   = regexp.MustCompile(`^[0-9]{12}\.dkr\.ecr(-fips)?\.([a-z]{2,6}(?:-[a-z]+)+-[0-9]{1,2})\.amazonaws\.(?:com|com\.cn|eu)$`)
	dualStackHost = regexp.MustCompile(`^[0-9]{12}\.dkr-ecr(-fips)?\.([a-z]{2,6}(?:-[a-z]+)+-[0-9]{1,2})` +
		`\.on\.(?:aws|amazonwebservices\.(?:com\.cn|eu))$`)
)

// The hosts of ECR Public, whose logins come from one region.
// https://docs.aws.amazon.com/AmazonECR/latest/public/public-registry-auth.html
const (
	publicHost      = "public.ecr.aws"
	publicDualStack = "ecr-public.aws.com"
	publicRegion    = "us-east-1"
)

func parseHost(host string) (registry, bool) {
	host = strings.ToLower(host)
	if host == publicHost || host == publicDualStack {
		return registry{region: publicRegion, public: true, dualStack: host == publicDualStack}, true
	}
	if found := privateHost.FindStringSubmatch(host); found != nil {
		return registry{region: found[2], fips: found[1] != ""}, true
	}
	if found := dualStackHost.FindStringSubmatch(host); found != nil {
		return registry{region: found[2], fips: found[1] != "", dualStack: true}, true
	}
	return registry{}, false
}

// Login requests a password. The username is always AWS.
func (s *Source) Login(ctx context.Context) (username string, password secret.String, expires time.Time, err error) {
	keys, err := s.ambient(ctx)
	if err == nil && s.role != "" {
		keys, err = s.assume(ctx, keys, s.role)
	}
	if err != nil {
		return "", secret.String{}, time.Time{}, err
	}
	identity := "the identity that promoter runs with"
	if s.role != "" {
		identity = s.role
	}
	name := "ECR login in " + s.registry.region
	call := s.machine.Call(ctx, name, "allow ecr:GetAuthorizationToken to "+identity)
	request := s.privateToken
	if s.registry.public {
		call = s.machine.Call(ctx, name, "allow ecr-public:GetAuthorizationToken and sts:GetServiceBearerToken to "+identity)
		request = s.publicToken
	}
	token, end, err := request(ctx, credentials.StaticCredentialsProvider{Value: keys}, call.Client())
	if err != nil {
		return "", secret.String{}, time.Time{}, call.Failure(err)
	}
	// The token is the base64 form of AWS:PASSWORD.
	plain, err := base64.StdEncoding.DecodeString(aws.ToString(token))
	username, text, found := strings.Cut(string(plain), ":")
	if err != nil || !found || username == "" || text == "" {
		return "", secret.String{}, time.Time{}, fault.New(fault.Temporary, "%s: the response has no login", name)
	}
	return username, secret.New(text), aws.ToTime(end).UTC(), nil
}

// privateToken requests a token; nil if the response has none. The guarded client retries.
func (s *Source) privateToken(ctx context.Context, keys aws.CredentialsProvider, client *http.Client) (*string, *time.Time, error) {
	output, err := ecr.New(ecr.Options{
		Region: s.registry.region, Credentials: keys, HTTPClient: client, Retryer: aws.NopRetryer{},
		EndpointOptions: ecr.EndpointResolverOptions{
			UseFIPSEndpoint: fipsState(s.registry.fips), UseDualStackEndpoint: dualStackState(s.registry.dualStack),
		},
	}).GetAuthorizationToken(ctx, &ecr.GetAuthorizationTokenInput{})
	if err != nil || len(output.AuthorizationData) == 0 {
		return nil, nil, err
	}
	return output.AuthorizationData[0].AuthorizationToken, output.AuthorizationData[0].ExpiresAt, nil
}

// publicToken is privateToken for ECR Public.
func (s *Source) publicToken(ctx context.Context, keys aws.CredentialsProvider, client *http.Client) (*string, *time.Time, error) {
	output, err := ecrpublic.New(ecrpublic.Options{
		Region: s.registry.region, Credentials: keys, HTTPClient: client, Retryer: aws.NopRetryer{},
		EndpointOptions: ecrpublic.EndpointResolverOptions{UseDualStackEndpoint: dualStackState(s.registry.dualStack)},
	}).GetAuthorizationToken(ctx, &ecrpublic.GetAuthorizationTokenInput{})
	if err != nil || output.AuthorizationData == nil {
		return nil, nil, err
	}
	return output.AuthorizationData.AuthorizationToken, output.AuthorizationData.ExpiresAt, nil
}

func fipsState(on bool) aws.FIPSEndpointState {
	if on {
		return aws.FIPSEndpointStateEnabled
	}
	return aws.FIPSEndpointStateDisabled
}

func dualStackState(on bool) aws.DualStackEndpointState {
	if on {
		return aws.DualStackEndpointStateEnabled
	}
	return aws.DualStackEndpointStateDisabled
}
