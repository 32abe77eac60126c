package google

import (
	"context"

	"promoter/internal/fault"
	"promoter/internal/registry/auth"
)

// metadataToken is where a machine, or a pod with a workload identity, gets the
// token of its service account.
// https://cloud.google.com/compute/docs/access/authenticate-workloads#applications
const metadataToken = "http://" + auth.Instance + "/computeMetadata/v1/instance/service-accounts/default/token"

const flavor = "Metadata-Flavor"

func (s *Source) metadata(ctx context.Context) (token, error) {
	const what = "Google metadata service"
	answer, err := s.machine.AskMachine(ctx, auth.Question{
		What: what, URL: metadataToken, Header: map[string]string{flavor: "Google"},
		Advice: "give the machine a service account, or the pod's service account an identity (iam.gke.io/gcp-service-account, or a principal of its own in the policy)",
	})
	if fault.KindOf(err) == fault.Temporary {
		return token{}, fault.New(fault.Temporary, "Google credentials: neither a key in the server's file nor GOOGLE_APPLICATION_CREDENTIALS is set, and the metadata service of a machine did not answer: %w", err)
	}
	if err != nil {
		return token{}, err
	}
	if answer.Header.Get(flavor) != "Google" {
		return token{}, fault.New(fault.Invalid, "%s: what answers at %s is not Google's: this machine is not in its cloud", what, auth.Instance)
	}
	return s.readToken(what, answer)
}
