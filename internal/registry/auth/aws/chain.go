package aws

import (
	"context"
	"strings"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// keys finds out who the process is, and assumes the role if there is one.
func (s *Source) keys(ctx context.Context) (keys, error) {
	found, err := s.base(ctx)
	if err != nil || s.role == "" {
		return found, err
	}
	return s.assume(ctx, found, s.role)
}

// base asks in the order of Amazon's libraries. The first that is set up is
// the answer, also when it fails: another identity would be a surprise.
// https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html
func (s *Source) base(ctx context.Context) (keys, error) {
	m := s.machine
	profile, named, err := s.profile()
	switch {
	case m.Var("AWS_ACCESS_KEY_ID") != "" && m.Var("AWS_SECRET_ACCESS_KEY") != "":
		return s.variables(), nil
	case m.Var("AWS_WEB_IDENTITY_TOKEN_FILE") != "":
		return s.webIdentity(ctx, m.Var("AWS_WEB_IDENTITY_TOKEN_FILE"), m.Var("AWS_ROLE_ARN"))
	case err != nil:
		return keys{}, err
	case named:
		return s.fromProfile(ctx, profile, maxSources)
	case m.Var("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != "" || m.Var("AWS_CONTAINER_CREDENTIALS_FULL_URI") != "":
		return s.container(ctx)
	case strings.EqualFold(m.Var("AWS_EC2_METADATA_DISABLED"), "true"):
		return keys{}, fault.New(fault.Invalid, "AWS credentials: none are set up here: no variables, no web identity, no profile, no agent of a container, and AWS_EC2_METADATA_DISABLED is true")
	default:
		return s.instance(ctx)
	}
}

func (s *Source) variables() keys {
	m := s.machine
	found := keys{id: m.Var("AWS_ACCESS_KEY_ID"), secret: secret.New(m.Var("AWS_SECRET_ACCESS_KEY"))}
	if session := m.Var("AWS_SESSION_TOKEN"); session != "" {
		found.session = secret.New(session)
	}
	return found
}

// region is where roles are assumed: that of the process, else that of the
// registry.
func (s *Source) region() string {
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		if region := s.machine.Var(name); regionText.MatchString(region) {
			return region
		}
	}
	return s.registry.Region
}
