package webhook

import (
	"promoter/internal/evidence"
)

// argoCD decodes the requests of an Argo CD notification template: config/argocd has the
// template, which posts a part of the Application.
// https://argo-cd.readthedocs.io/en/stable/operator-manual/notifications/services/webhook/
func argoCD(r Request) (Delivery, error) {
	application, err := read[evidence.Application](r)
	if err == nil {
		err = application.Check()
	}
	if err != nil {
		return Delivery{}, err
	}
	report := application.Report(application.At)
	return Delivery{EventType: string(report.Health.Status), Events: report.Events(), Reports: []evidence.Report{report}}, nil
}
