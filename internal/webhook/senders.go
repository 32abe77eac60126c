package webhook

import "promoter/internal/receiver"

// sender is one kind of sender: how a request with a secret is verified, and how it is
// decoded. Without a verifier the secret is compared with the header that users choose.
type sender struct {
	verifier func(Options) verifier
	decode   decoder
}

// senders has one row per kind of package receiver. Each has a file of the same name.
func senders() map[string]sender {
	return map[string]sender{
		"acr":          {nil, acr},
		"aliyun":       {nil, aliyun},
		"argocd":       {nil, argoCD},
		"azuredevops":  {azureDevOpsCredential, azureDevOps},
		"bitbucket":    {bitbucketSignature, bitbucket},
		"cdevents":     {nil, cdEvents},
		"distribution": {nil, distribution},
		"dockerhub":    {nil, dockerHub},
		"ecr":          {nil, ecr},
		"evidence":     {nil, posted},
		"flux":         {fluxSignature, flux},
		"gar":          {nil, gar},
		"generic":      {genericSignature, generic},
		"gitea":        {giteaSignature, gitea},
		"github":       {hubSignature, github},
		"gitlab":       {gitlabToken, gitlab},
		"gogs":         {gogsSignature, gogs},
		"harbor":       {nil, harbor},
		"jfrog":        {jfrogSignature, jfrog},
		"nexus":        {nexusSignature, nexus},
		"quay":         {nil, quay},
		"snapshot":     {nil, readSnapshot},
		"tekton":       {nil, tekton},
		"zot":          {nil, zot},
	}
}

// Kinds returns the kinds of senders, sorted.
func Kinds() []string { return receiver.Names() }
