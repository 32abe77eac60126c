package aws

import (
	"regexp"
	"strings"
)

// Registry is a registry of Amazon, as its host says.
type Registry struct {
	Region string
	Public bool
	api    string // host of the API that gives logins
	domain string // of the services beside it: sts.REGION.DOMAIN
}

// The hosts of ECR: with IPv4 alone, and with IPv6 too ("dual-stack").
// https://docs.aws.amazon.com/AmazonECR/latest/userguide/Registries.html
var (
	privateHost   = regexp.MustCompile(`^[0-9]{12}\.dkr\.ecr(-fips)?\.([a-z]{2,6}(?:-[a-z]+)+-[0-9]{1,2})\.(amazonaws\.(?:com|com\.cn|eu))$`)
	dualStackHost = regexp.MustCompile(`^[0-9]{12}\.dkr-ecr(-fips)?\.([a-z]{2,6}(?:-[a-z]+)+-[0-9]{1,2})\.on\.(aws|amazonwebservices\.(?:com\.cn|eu))$`)
)

// The hosts of the public registry. Its logins come from one region.
// https://docs.aws.amazon.com/AmazonECR/latest/public/public-registry-auth.html
const (
	publicHost      = "public.ecr.aws"
	publicDualStack = "ecr-public.aws.com"
	publicRegion    = "us-east-1"
)

// ParseHost says whether a host is a registry of Amazon, and which.
func ParseHost(host string) (Registry, bool) {
	host = strings.ToLower(host)
	switch host {
	case publicHost:
		return Registry{Region: publicRegion, Public: true, api: "api.ecr-public.us-east-1.amazonaws.com", domain: "amazonaws.com"}, true
	case publicDualStack:
		return Registry{Region: publicRegion, Public: true, api: "ecr-public.us-east-1.api.aws", domain: "api.aws"}, true
	}
	if found := privateHost.FindStringSubmatch(host); found != nil {
		name := "api.ecr"
		if found[1] != "" {
			name = "ecr-fips"
		}
		return Registry{Region: found[2], api: name + "." + found[2] + "." + found[3], domain: found[3]}, true
	}
	if found := dualStackHost.FindStringSubmatch(host); found != nil {
		domain := "api." + found[3]
		return Registry{Region: found[2], api: "ecr" + found[1] + "." + found[2] + "." + domain, domain: domain}, true
	}
	return Registry{}, false
}
