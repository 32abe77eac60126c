package aws

import (
	"testing"
	"time"

	"promoter/internal/registry/auth"
	"promoter/internal/secret"
)

// The signatures are what Amazon's own library (aws-sdk-go-v2 v1.47.7, signer/v4)
// gives for the same questions with the keys of Amazon's examples.
func TestSign_asAmazonsLibrary(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tc := range []struct {
		name, host, region, service, session string
		q                                    auth.Question
		want                                 string
	}{
		{
			"the private registry", "api.ecr.eu-central-1.amazonaws.com", "eu-central-1", "ecr", "",
			auth.Question{Body: "{}", Header: map[string]string{"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": privateTarget}},
			"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/eu-central-1/ecr/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=2be449edacba23c4cccec1529e9dfd3eae11631f22c19faa73b8fe29c7db9d4c",
		},
		{
			"the public registry with a session", "api.ecr-public.us-east-1.amazonaws.com", "us-east-1", "ecr-public", "SESSION/token==",
			auth.Question{Body: "{}", Header: map[string]string{"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": publicTarget}},
			"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/us-east-1/ecr-public/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target, Signature=27181e3a2aae535458eca6326a69fe7980ba7748b9c6b2eadeb3492a47cc2d70",
		},
		{
			"STS", "sts.eu-central-1.amazonaws.com", "eu-central-1", "sts", "",
			auth.Question{Body: "Action=AssumeRole&Version=2011-06-15", Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}},
			"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/eu-central-1/sts/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=5916929c756116a65f40ebbc770f1e79cfd4f9489675921bb8f963f3765e148f",
		},
	} {
		with := keys{id: "AKIDEXAMPLE", secret: secret.New("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")}
		if tc.session != "" {
			with.session = secret.New(tc.session)
		}
		with.sign(&tc.q, tc.host, tc.service, tc.region, at)
		if got := tc.q.Header["Authorization"]; got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, got, tc.want)
		}
	}
}
