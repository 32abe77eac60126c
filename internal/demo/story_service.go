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
	v := s.service
	if err := v.start(ctx, s); err != nil {
		return err
	}
	s.say("You push shop 1.7.0.")
	published, err := s.registry.publish(ctx, made("shop", "1.7.0", 18))
	if err != nil {
		return err
	}
	s.after = published
	sent, _ := s.registry.notifier.last()
	if err := accepted(s, "registry", sent); err != nil {
		return err
	}
	s.want.take("dev", published...)
	if err := served(ctx, s, "dev", sent.at); err != nil {
		return err
	}
	if err := s.compare(ctx); err != nil {
		return err
	}
	_, err = s.promoter(ctx, []string{"status"},
		[]string{`^\S+/acme/gitops  (idle|waiting|running), reconciled \d+s ago`}, `^\d+s ago  registry  push  [0-9a-f]{64}-1$`)
	return err
}

// accepted checks the response to a webhook.
func accepted(s *show, receiver string, sent notified) error {
	s.detail("POST %s/webhooks/%s: %s", s.service.url, receiver, sent.answer)
	if sent.status != http.StatusAccepted {
		return fmt.Errorf("promise broken: the webhook was answered with %d: %s", sent.status, sent.answer)
	}
	return nil
}

// served waits until the service has pushed the expected versions, and prints
// its log.
func served(ctx context.Context, s *show, environment string, since time.Time) error {
	at, err := s.service.pushed(ctx)
	if err != nil {
		return err
	}
	lines, err := s.service.printed(ctx, `msg=pushed .*environment=`+environment+`\b`)
	if err != nil {
		return err
	}
	s.detail("%s", strings.Join(lines, "\n"))
	s.say("%s was pushed %s after the webhook.", environment, at.Sub(since).Round(time.Millisecond))
	return nil
}

// goOnByItself requests a promotion as the user. The Git server notifies the
// service of the request; the end of the soak needs no trigger.
func goOnByItself(ctx context.Context, s *show) error {
	_, err := s.promoter(ctx, []string{
		"promote", "--to", "staging", "--app", "shop", "--as", s.ann.name, "--reason", "looks good in dev",
	}, []string{`recorded in promoter/_state as unverified: ann`})
	if err != nil {
		return err
	}
	sent := s.git.last()
	if err := accepted(s, "git", sent); err != nil {
		return err
	}
	s.want.take("staging", s.after...)
	if err := served(ctx, s, "staging", sent.at); err != nil {
		return err
	}
	s.detail("The end of the 2 seconds in staging needs no webhook: the service has scheduled it.")
	s.want.take("prod", s.after...)
	if err := served(ctx, s, "prod", sent.at); err != nil {
		return err
	}
	return s.compare(ctx) // prod may have followed before staging could be compared
}
