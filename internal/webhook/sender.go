package webhook

import "promoter/internal/receiver"

// sender is one kind of sender: how it proves itself with a secret, and how its
// payloads are decoded. A nil verify compares the secret with a header that users
// choose.
type sender struct {
	verify func(Options) proof
	decode decoder
}

// senders has one row per kind of package receiver, and a file of the same name.
func senders() map[string]sender {
	return map[string]sender{
		"acr":          {nil, acr},
		"argocd":       {nil, argoCD},
		"cdevents":     {nil, cdEvents},
		"distribution": {nil, distribution},
		"dockerhub":    {nil, dockerHub},
		"ecr":          {nil, ecr},
		"flux":         {fluxSignature, flux},
		"gar":          {nil, gar},
		"generic":      {genericSignature, generic},
		"gitea":        {giteaSignature, gitea},
		"github":       {hubSignature, github},
		"gitlab":       {gitlabProof, gitlab},
		"harbor":       {nil, harbor},
		"jfrog":        {jfrogSignature, jfrog},
		"nexus":        {nexusSignature, nexus},
		"quay":         {nil, quay},
		"snapshot":     {nil, snapshot},
		"zot":          {nil, zot},
	}
}

// Kinds lists the senders.
func Kinds() []string { return receiver.Names() }
