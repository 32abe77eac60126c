package demo

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// landByWebhook starts the service, and the registry notifies it of a new
// image.
func landByWebhook(ctx context.Context, s *show) error {
	if err := startService(ctx, s); err != nil {
		return err
	}
	v := s.service
	s.registry.notifier.notifyTo(v.client, v.url+"/webhooks/registry", v.secrets["registry"])
	s.tell("It listens at %s, and has reconciled once: there is nothing to do.\nFrom now on the registry notifies it of every push. The pipeline pushes shop 1.7.0.", v.url)
	published, err := s.registry.publish(ctx, made("shop", "1.7.0", 18))
	if err != nil {
		return err
	}
	s.after = published
	sent, _ := s.registry.notifier.last()
	s.tell("POST %s/webhooks/registry: %s", v.url, sent.answer)
	if sent.status != http.StatusAccepted {
		return fmt.Errorf("promise broken: the webhook was answered with %d: %s", sent.status, sent.answer)
	}
	s.want.take("dev", published...)
	if err := served(ctx, s, "dev", sent.at); err != nil {
		return err
	}
	_, err = s.promoter(ctx, []string{"status", "--config", v.file, "--url", v.url},
		`/acme/gitops  (idle|waiting|running), reconciled \d+s ago`, `^\d+s ago  registry  push  [0-9a-f]{64}-1$`)
	return err
}

// served waits until the service has pushed the expected versions, and prints
// its log.
func served(ctx context.Context, s *show, environment string, since time.Time) error {
	at, err := s.service.pushed(ctx)
	if err != nil {
		return err
	}
	var lines []string
	for _, pattern := range []string{`msg=pushed .* environment=` + environment + ` `, `msg=reconciled `} {
		more, _, err := s.service.printed(ctx, pattern)
		if err != nil {
			return err
		}
		lines = append(lines, more...)
	}
	s.tell("%s", strings.Join(lines, "\n"))
	s.tell("%s was pushed %s after the webhook.", environment, at.Sub(since).Round(time.Millisecond))
	return s.compare(ctx)
}

// goOnByItself requests a promotion as the user. On plain Git this causes no
// event, so the next webhook triggers it; the end of the soak needs no trigger.
func goOnByItself(ctx context.Context, s *show) error {
	v := s.service
	_, err := s.promoter(ctx, []string{
		"promote", "--repo", s.hub.url(), "--to", "staging", "--app", "shop", "--as", s.ann.name, "--reason", "looks good in dev",
	}, `recorded in promoter/_state as ann`)
	if err != nil {
		return err
	}
	s.tell("Argo CD has synchronized dev, and posts a webhook.")
	begin := s.options.Now()
	status, answer, err := v.post(ctx, "argocd", fmt.Sprintf(`{"application": "shop-dev", "repoURL": "http://%s/%s.git"}`, v.git.loopback.host, gitName))
	if err != nil {
		return err
	}
	s.tell("POST %s/webhooks/argocd: %s", v.url, answer)
	if status != http.StatusAccepted {
		return fmt.Errorf("promise broken: the webhook was answered with %d: %s", status, answer)
	}
	s.want.take("staging", s.after...)
	if err := served(ctx, s, "staging", begin); err != nil {
		return err
	}
	s.tell("Prod has to wait for 2 seconds. The end of the wait needs no webhook: the service has scheduled it.")
	s.want.take("prod", s.after...)
	return served(ctx, s, "prod", begin)
}

// inviteToPost explains how to post a webhook manually.
func inviteToPost(s *show) {
	v, folder := s.service, s.folder
	s.tell(`The service runs at %[1]s, and the registry notifies it of every push. A webhook by hand:

  curl %[1]s/webhooks/registry -H 'Content-Type: application/json' \
    -H "Authorization: Bearer $(cat %[2]s/service/registry)" \
    -d '{"events": [{"id": "1", "action": "push", "request": {"host": "%[3]s"}, "target": {"repository": "acme/shop", "tag": "1.8.0", "mediaType": "application/vnd.oci.image.manifest.v1+json"}}]}'
  promoter status --config %[4]s --url %[1]s
  curl %[1]s/metrics`, v.url, folder, s.registry.loopback.host, v.file)
}
