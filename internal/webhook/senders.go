package webhook

import (
	"promoter/internal/webhook/forges"
	"promoter/internal/webhook/pipelines"
	"promoter/internal/webhook/registries"
)

// decoder decodes the requests of one sender. It returns an error for a malformed request,
// and a delivery with the reason in Ignored for one that is not relevant.
type decoder func(Request) (Delivery, error)

// senders has the decoder of each kind of package receiver, in a file of the same name.
func senders() map[string]decoder {
	return map[string]decoder{
		"acr":          registries.ACR,
		"aliyun":       registries.Aliyun,
		"argocd":       pipelines.ArgoCD,
		"azuredevops":  forges.AzureDevOps,
		"bitbucket":    forges.Bitbucket,
		"cdevents":     pipelines.CDEvents,
		"distribution": registries.Distribution,
		"dockerhub":    registries.DockerHub,
		"ecr":          registries.ECR,
		"evidence":     pipelines.Evidence,
		"flux":         pipelines.Flux,
		"gar":          registries.GAR,
		"generic":      pipelines.Generic,
		"gitea":        forges.Gitea,
		"github":       forges.GitHub,
		"gitlab":       forges.GitLab,
		"gogs":         forges.Gogs,
		"harbor":       registries.Harbor,
		"jfrog":        registries.JFrog,
		"nexus":        registries.Nexus,
		"quay":         registries.Quay,
		"snapshot":     pipelines.Snapshot,
		"tekton":       pipelines.Tekton,
		"zot":          registries.Zot,
	}
}
