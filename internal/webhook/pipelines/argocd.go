package pipelines

import (
	"promoter/internal/evidence"
	"promoter/internal/webhook/payload"
)

// ArgoCD decodes the requests of an Argo CD notification template: config/argocd has the
// template, which posts a part of the Application.
// https://argo-cd.readthedocs.io/en/stable/operator-manual/notifications/services/webhook/
func ArgoCD(r payload.Request) (payload.Delivery, error) {
	application, err := payload.Read[evidence.Application](r)
	if err != nil {
		return payload.Delivery{}, err
	}
	if err := application.Check(); err != nil {
		return payload.Delivery{}, err
	}
	report := application.Report(application.At)
	return payload.Delivery{EventType: string(report.Health.Status), Events: report.Events(), Reports: []evidence.Report{report}}, nil
}
