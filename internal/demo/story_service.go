package demo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// landByWebhook starts the service, and the registry notifies it of a new
// image.
func landByWebhook(ctx context.Context, s *show) error {
	if err := s.service.start(ctx, s); err != nil {
		return err
	}
	return pushShop(ctx, s, "1.6.1", 17)
}

// pushShop pushes an image as the pipeline does, which the service brings to dev.
func pushShop(ctx context.Context, s *show, tag string, day int) error {
	published, err := publish(ctx, s, made("shop", tag, day))
	if err != nil {
		return err
	}
	s.before = s.after
	s.after = published
	sent := s.registry.last()
	if err := accepted(s, "webhooks/registry", sent); err != nil {
		return err
	}
	s.want.take("dev", published...)
	return served(ctx, s, "You push shop "+tag+". dev", "dev", sent, "the webhook")
}

// accepted checks the response to what was sent to a path of the service.
func accepted(s *show, path string, sent notified) error {
	s.detail("POST %s/%s: %s", s.service.url, path, sent.answer)
	if sent.status != http.StatusAccepted {
		return fmt.Errorf("promise broken: the service answered with %d: %s", sent.status, sent.answer)
	}
	return nil
}

// served waits until the service has pushed, prints its log, and checks that it pushed the
// expected versions.
func served(ctx context.Context, s *show, what, environment string, since notified, trigger string) error {
	at, err := s.service.pushed(ctx)
	if err != nil {
		return err
	}
	lines, err := s.service.printed(ctx, `msg=pushed .*environment=`+environment+`\b`)
	if err != nil {
		return err
	}
	s.detail("%s", strings.Join(lines, "\n"))
	s.say("%s was pushed %s after %s.", what, at.Sub(since.at).Round(time.Millisecond), trigger)
	return s.compare(ctx)
}

// askOfService requests the latest version for staging as the user. The Git server notifies the
// service of the request.
func askOfService(ctx context.Context, s *show, reason string) error {
	before := len(s.git.sent())
	_, err := s.execute(ctx, []string{
		"promote", "--to", "staging", "--app", "shop", "--as", s.ann.name, "--reason", reason,
	}, nil, `recorded in promoter/_state as unverified: ann`)
	if err != nil {
		return err
	}
	webhooks := s.git.sent()[before:]
	if len(webhooks) == 0 {
		return errors.New("promise broken: promoter promote pushed nothing, so the Git server sent no webhook")
	}
	sent := webhooks[0] // pushes of the service follow it
	if err := accepted(s, "webhooks/git", sent); err != nil {
		return err
	}
	s.want.take("staging", s.after...)
	return served(ctx, s, "staging", "staging", sent, "the webhook")
}

// advanceHealthy lets prod wait until the tests report that staging is healthy.
func advanceHealthy(ctx context.Context, s *show) error {
	before := s.want.tree()[configFile]
	s.want.config = configWithHealth
	if err := changeConfig(ctx, s, before, "Promote to prod what is healthy in staging"); err != nil {
		return err
	}
	if _, err := s.service.pushed(ctx); err != nil { // by the user
		return err
	}
	if err := askOfService(ctx, s, "it starts again"); err != nil {
		return err
	}
	// Reports count when the service has read the config.
	if _, err := s.service.printed(ctx, `msg=reconciled `); err != nil {
		return err
	}
	_, err := s.promoter(ctx, []string{"explain", "prod", "--app", "shop"},
		[]string{`^  prod/shop  waiting  staging healthy: only the service knows `})
	if err != nil {
		return err
	}
	sent, err := report(ctx, s, "Healthy")
	if err != nil {
		return err
	}
	s.want.take("prod", s.after...)
	return served(ctx, s, "Your tests report shop as healthy. prod", "prod", sent, "the report")
}

// rollBack releases a version that fails in staging.
func rollBack(ctx context.Context, s *show) error {
	if err := pushShop(ctx, s, "1.7.0", 18); err != nil {
		return err
	}
	if err := askOfService(ctx, s, "it has the new checkout"); err != nil {
		return err
	}
	s.detail("Without a further report, the service acts after the timeout.")
	sent, err := report(ctx, s, "Degraded")
	if err != nil {
		return err
	}
	s.want.take("staging", s.before...)
	if err := served(ctx, s, "Your tests report shop as degraded. staging", "staging", sent, "the report"); err != nil {
		return err
	}
	_, err = s.promoter(ctx, []string{"explain", "staging", "--app", "shop"},
		[]string{`^  staging/shop  rejected  shop 1\.7\.0 was rejected by promoter .*: Degraded for `})
	return err
}

// report reports the health of staging as the tests do.
func report(ctx context.Context, s *show, status string) (sent notified, err error) {
	head, err := s.hub.head()
	if err != nil {
		return sent, err
	}
	s.detail("$ %s", reportHealth(s, status))
	reported := payload{
		"repository": s.git.url(), "environment": "staging", "application": "shop", "status": status, "revision": head.String(),
	}
	to := hook{s.service.client, s.service.url + evidencePath, s.service.secrets["tests"]}
	sent.at = s.options.Now()
	sent.status, sent.answer = to.post(ctx, reported, func([]byte) map[string]string {
		return map[string]string{"Authorization": "Bearer " + to.secret}
	})
	return sent, accepted(s, evidencePath[1:], sent)
}

// evidencePath receives reports about health.
const evidencePath = "/api/v1/evidence"

// reportHealth returns the command line for such a report.
func reportHealth(s *show, status string) string {
	return fmt.Sprintf(`curl %s%s -H "Authorization: Bearer $(cat secrets/tests)" \
    -d '{"repository":"%s/%s","environment":"staging","application":"shop",
      "status":"%s","revision":"'$(git -C gitops.git rev-parse main)'"}'`,
		s.service.url, evidencePath, s.git.loopback.host, gitName, status)
}
