package outbound

import "strings"

// Route is the form of a path, for whoever counts or follows requests: words of the
// interfaces that promoter speaks stay, and everything else is a star. So no name, no
// credential and no secret of a path is ever in it, whatever a server or a config
// file puts there.
func Route(path string) string {
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, segment := range segments {
		if segment != "" && !routeWords[segment] {
			segments[i] = "*"
		}
	}
	if len(segments) > maxSegments {
		segments = append(segments[:maxSegments], "…")
	}
	return "/" + strings.Join(segments, "/")
}

// maxSegments bounds a route: names of images have few parts.
const maxSegments = 16

// routeWords are words of the paths of GitHub, GitLab, Gitea, registries, Git, the
// services of clouds and OTLP.
var routeWords = wordsOf(`
	api v1 v2 v3 v4 graphql meta version rate_limit
	repos repositories projects repository orgs groups teams users user members memberships all
	collaborators permission permissions settings app app-manifests conversions
	installation installations access_tokens
	pulls merge_requests merge issues comments notes discussions labels reviews reactions award_emoji
	requested_reviewers reviewers approvals approval_rules approval_state files update update-branch
	commits statuses status check-runs check-suites actions runs pipelines jobs compare
	branches branch_protections protected_branches protection rules rulesets required_status_checks
	git refs heads tags releases latest permalink contents raw search archive
	_catalog list manifests blobs uploads referrers token tokens auth oauth2 oauth exchange service
	info git-upload-pack git-receive-pack .well-known openid-configuration certs
	meta-data iam security-credentials placement region instance service-accounts default identity
	computeMetadata metadata instance-identity document
	traces`)

func wordsOf(text string) map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.Fields(text) {
		words[word] = true
	}
	return words
}
