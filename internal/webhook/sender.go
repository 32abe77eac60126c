package webhook

import (
	"maps"
	"slices"
)

// sender is one kind of sender: how it proves itself with a secret, and how what
// it posts is read.
type sender struct {
	proof  func(Options) proof
	decode decoder
}

// senders are all there are, by the kind that the server's file names. Docker Hub,
// Quay and Google can sign nothing with a secret: their entries have another
// credential.
func senders() map[string]sender {
	return map[string]sender{
		"acr":          {headerSecret, acr},
		"argocd":       {headerSecret, argoCD},
		"cdevents":     {headerSecret, cdEvents},
		"distribution": {headerSecret, distribution},
		"dockerhub":    {headerSecret, dockerHub},
		"ecr":          {headerSecret, ecr},
		"flux":         {fluxSignature, flux},
		"gar":          {headerSecret, gar},
		"generic":      {genericSignature, generic},
		"gitea":        {giteaSignature, gitea},
		"github":       {hubSignature, github},
		"gitlab":       {gitlabProof, gitlab},
		"harbor":       {headerSecret, harbor},
		"jfrog":        {jfrogSignature, jfrog},
		"nexus":        {nexusSignature, nexus},
		"quay":         {headerSecret, quay},
		"snapshot":     {headerSecret, snapshot},
		"zot":          {headerSecret, zot},
	}
}

// Kinds lists the senders.
func Kinds() []string { return slices.Sorted(maps.Keys(senders())) }
