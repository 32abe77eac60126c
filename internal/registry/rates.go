package registry

import (
	"strings"

	"promoter/internal/outbound"
)

// mostPerSecond is how many requests per second a registry gets at most by default.
const mostPerSecond = 1000

// knownRates are registries that publish how many requests they permit. promoter is not their only
// client, so it uses a part of a large quota.
var knownRates = []struct {
	host      string // or the end of one, with a dot
	perSecond float64
	source    string
}{
	// "a few requests per second per IP", with bursts.
	{"quay.io", 10, "https://access.redhat.com/solutions/6218921"},
	// Thousands of requests a minute are abuse, whatever the plan.
	{"registry-1.docker.io", 50, "https://docs.docker.com/docker-hub/usage/"},
	// 3,000 reads a minute with Standard; 1,000 with Basic, 10,000 with Premium.
	{".azurecr.io", 50, "https://learn.microsoft.com/azure/container-registry/container-registry-skus"},
	{".azurecr.cn", 50, "https://docs.azure.cn/container-registry/container-registry-skus"},
	{".azurecr.us", 50, "https://learn.microsoft.com/azure/container-registry/container-registry-skus"},
	// 60,000 requests a minute for a project and region.
	{".pkg.dev", 200, "https://cloud.google.com/artifact-registry/quotas"},
	{".gcr.io", 200, "https://cloud.google.com/artifact-registry/quotas"},
	{"gcr.io", 200, "https://cloud.google.com/artifact-registry/quotas"},
	// 2,000 manifests a second for an account and region, but 200 tokens.
	{".amazonaws.com", 200, "https://docs.aws.amazon.com/AmazonECR/latest/userguide/service-quotas.html"},
	{".amazonaws.com.cn", 200, "https://docs.aws.amazon.com/AmazonECR/latest/userguide/service-quotas.html"},
	{".on.aws", 200, "https://docs.aws.amazon.com/AmazonECR/latest/userguide/service-quotas.html"},
	// 10 pulls a second with a login, one without.
	{"public.ecr.aws", 10, "https://docs.aws.amazon.com/AmazonECR/latest/public/public-service-quotas.html"},
}

// MostPerSecond returns up to how many requests per second the rate of a registry (host or
// host:port) rises by default: 1,000, or less where it publishes its limit.
func MostPerSecond(host string) float64 {
	name := strings.ToLower(outbound.Hostname(host))
	for _, known := range knownRates {
		if name == known.host || strings.HasPrefix(known.host, ".") && strings.HasSuffix(name, known.host) {
			return known.perSecond
		}
	}
	return mostPerSecond
}
