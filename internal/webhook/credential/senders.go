package credential

import (
	"context"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // what Nexus signs with
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"promoter/internal/secret"
	"promoter/internal/webhook/payload"
)

// senders has the kinds that do not send the secret in a header of the user's choice, or not
// only.
func senders() map[string]func(Options) verifier {
	return map[string]func(Options) verifier{
		"azuredevops": azureDevOps,
		"bitbucket":   bitbucket,
		"flux":        flux,
		"generic":     generic,
		"gitea":       gitea,
		"github":      github,
		"gitlab":      gitlab,
		"gogs":        gogs,
		"jfrog":       jfrog,
		"nexus":       nexus,
	}
}

// azureDevOps is the secret in a header of choice, or the password of basic
// authentication, whose user is not verified.
// https://learn.microsoft.com/azure/devops/service-hooks/services/webhooks
func azureDevOps(o Options) verifier {
	return either(headerSecret(o), func(_ context.Context, r payload.Request, _ []byte) bool {
		encoded, found := strings.CutPrefix(r.Header.Get("Authorization"), "Basic ")
		given, err := base64.StdEncoding.DecodeString(encoded)
		_, password, hasUser := strings.Cut(string(given), ":")
		return equal(password, o.Secret.Reveal()) && found && err == nil && hasUser
	})
}

// bitbucket is the HMAC of the body, of both Bitbucket Cloud and Data Center.
// https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/
// https://confluence.atlassian.com/bitbucketserver/manage-webhooks-938025878.html
func bitbucket(Options) verifier { return signed("X-Hub-Signature", "sha256=") }

// flux is the HMAC of the provider generic-hmac.
// https://fluxcd.io/flux/components/notification/providers/#generic-webhook-with-hmac
func flux(Options) verifier { return signed("X-Signature", "sha256=") }

// generic accepts what a script can send: the secret in a header of choice, or the
// HMAC of the body there, as sha256=HEX.
func generic(o Options) verifier { return either(signed(o.Header, "sha256="), headerSecret(o)) }

// gitea is the HMAC of the JSON, in Gitea's own header or in GitHub's. For a form,
// GitHub signs the whole form and Gitea the field with the JSON.
// https://docs.gitea.com/usage/webhooks
// https://github.com/go-gitea/gitea/blob/main/services/webhook/deliver.go
func gitea(o Options) verifier { return ofForm(o, either(signed("X-Gitea-Signature", ""), github(o))) }

// ofForm is for senders that sign the field with the JSON instead of the form.
func ofForm(o Options, verify verifier) verifier {
	sign := hmacOf(sha256.New, o.Secret)
	return func(ctx context.Context, r payload.Request, sum []byte) bool {
		if inForm, ok := r.FormJSON(); ok {
			sum = sign(inForm)
		}
		return verify(ctx, r, sum)
	}
}

// github is GitHub's signature.
// https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
func github(Options) verifier { return signed("X-Hub-Signature-256", "sha256=") }

// gitlab is the secret token in a header, or a signature with the signing token.
// https://docs.gitlab.com/user/project/integrations/webhooks/#validate-requests-by-using-a-secret-token
func gitlab(o Options) verifier { return either(inHeader("X-Gitlab-Token", o.Secret), standard(o)) }

// standard is the signature of Standard Webhooks: the HMAC of ID, time, and body in
// Base64, with a key in Base64 after whsec_. The time is not checked: a replayed request
// only causes another reconciliation.
// https://gitlab.com/gitlab-org/gitlab/-/merge_requests/230944
// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
func standard(o Options) verifier {
	return func(_ context.Context, r payload.Request, _ []byte) bool {
		text, isKey := strings.CutPrefix(o.Secret.Reveal(), "whsec_")
		key, err := base64.StdEncoding.DecodeString(text)
		if !isKey || err != nil || len(key) == 0 {
			return false
		}
		sign := hmacOf(sha256.New, secret.New(string(key)))
		wanted := sign([]byte(r.Header.Get("Webhook-Id")+"."+r.Header.Get("Webhook-Timestamp")+"."), r.Body)
		verified := false
		for _, signature := range strings.Fields(r.Header.Get("Webhook-Signature")) {
			sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(signature, "v1,"))
			verified = err == nil && hmac.Equal(sum, wanted) || verified
		}
		return verified
	}
}

// gogs is the HMAC of the JSON, also if that is a field of a form.
// https://gogs.io/advancing/webhooks
// https://github.com/gogs/gogs/blob/main/internal/database/webhook.go
func gogs(o Options) verifier { return ofForm(o, signed("X-Gogs-Signature", "")) }

// jfrog is the secret, or with "Use secret for payload signing" the HMAC of the body.
// https://jfrog.com/help/r/jfrog-platform-administration-documentation/webhooks
func jfrog(o Options) verifier {
	const header = "X-JFrog-Event-Auth"
	return either(signed(header, ""), inHeader(header, o.Secret))
}

// nexus is the HMAC-SHA1 of the body.
// https://help.sonatype.com/en/working-with-hmac-payloads.html
func nexus(o Options) verifier {
	sign := hmacOf(sha1.New, o.Secret)
	return func(_ context.Context, r payload.Request, _ []byte) bool {
		return isHex(r, "X-Nexus-Webhook-Signature", "", sign(r.Body))
	}
}
