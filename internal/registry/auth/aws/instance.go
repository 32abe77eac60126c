package aws

import (
	"context"
	"net/http"
	"regexp"
	"strings"

	"promoter/internal/fault"
	"promoter/internal/registry/auth"
)

const (
	instanceRoot = "http://" + auth.Instance + "/latest/"
	instanceRole = "meta-data/iam/security-credentials/"
)

// roleName is what IAM allows in the name of a role.
var roleName = regexp.MustCompile(`^[A-Za-z0-9+=,.@_-]{1,64}$`)

// instance asks the virtual machine, in the version of the service that wants a
// token of its own (IMDSv2). A container is one hop further away than the machine
// thinks: its limit must be two.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-service.html
func (s *Source) instance(ctx context.Context) (keys, error) {
	const what = "AWS instance metadata"
	const advice = "give the virtual machine an instance profile, and in a container let its metadata service answer two hops (HttpPutResponseHopLimit: 2)"
	token, err := s.machine.AskMachine(ctx, auth.Question{
		What: what, Advice: advice, Method: http.MethodPut, URL: instanceRoot + "api/token",
		Header: map[string]string{"X-Aws-Ec2-Metadata-Token-Ttl-Seconds": "60"},
	})
	if fault.KindOf(err) == fault.Temporary {
		return keys{}, fault.New(fault.Temporary, "AWS credentials: none are set up here (no variables, no web identity, no profile, no agent of a container), and the metadata service of a virtual machine did not answer: %w: %s", err, advice)
	}
	if err != nil {
		return keys{}, err
	}
	ask := func(path string) (auth.Answer, error) {
		return s.machine.AskMachine(ctx, auth.Question{
			What: what, Advice: advice, URL: instanceRoot + path,
			Header: map[string]string{"X-Aws-Ec2-Metadata-Token": strings.TrimSpace(string(token.Body))},
		})
	}
	list, err := ask(instanceRole)
	if err != nil {
		return keys{}, err
	}
	role, _, _ := strings.Cut(strings.TrimSpace(string(list.Body)), "\n")
	if !roleName.MatchString(role) {
		return keys{}, fault.New(fault.Invalid, "%s: there is no role: %s", what, advice)
	}
	answer, err := ask(instanceRole + role)
	if err != nil {
		return keys{}, err
	}
	return readKeys(what, answer)
}
