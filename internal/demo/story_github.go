package demo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
)

// prepareGitHub prepares the demo with pull requests.
func prepareGitHub(ctx context.Context, s *show) (err error) {
	options := s.options.GitHub
	if s.github, err = openGitHub(ctx, *options, s.options.Now); err != nil {
		return err
	}
	g := s.github
	s.want.config = configOnGitHub
	s.want.soak = "1h"
	text := strings.NewReplacer(
		"URL", g.url, "TOKEN", options.Variable, "NAME", g.fullName(), "HOST", s.registry.loopback.host,
	).Replace(serverFileOnGitHub)
	if err := os.WriteFile(s.file, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the server file: %w", err)
	}
	s.hub.address = g.cloneURL()
	s.hub.mirror = true
	s.hub.auth = &githttp.BasicAuth{Username: g.user.login, Password: options.User.Reveal()}
	if s.ann, err = newUser(g.user.login, filepath.Join(s.folder, cloneName), s.hub, s.options.Now); err != nil {
		return err
	}
	sources := &hub{address: g.url + "/" + g.owner + "/" + g.sources + ".git", auth: s.hub.auth}
	s.sources, err = newUser(g.user.login, filepath.Join(s.folder, "shop"), sources, s.options.Now)
	return err
}

func chaptersOnGitHub() []chapter {
	return []chapter{
		{"You describe the environments in .promoter.yaml: dev, then staging, then prod", begin},
		{"You push new images: dev gets them at once, staging as a pull request", proposeStaging},
		{"You review and merge the pull request", mergeStaging},
		{"promoter merges the one for prod when its window is open and its check has passed", mergeProd},
		{"You run it again: nothing changes", againOnGitHub},
		{"You close the pull request with a bad image: promoter does not open it again", closeStaging},
		{"You read on GitHub who changed what", showHistoryOnGitHub},
	}
}

func proposeStaging(ctx context.Context, s *show) (err error) {
	if s.after, err = publish(ctx, s, secondRelease()...); err != nil {
		return err
	}
	s.want.take("dev", s.after...)
	_, err = s.run(ctx,
		[]string{pushed("dev/shop", "newer: shop 1.4.2 -> 1.5.0")},
		`^  staging  opened  #1 `, `^  staging/shop  opened  #1  dev has: shop 1\.4\.2 -> 1\.5\.0$`, `3 pushed, 1 opened$`)
	if err != nil {
		return err
	}
	if err := showPull(ctx, s, 1, "open, by "+s.github.promoter.login); err != nil {
		return err
	}
	return showCommits(ctx, s, 1, shopCommits()["1.5.0"])
}

// showCommits prints the source commits that a pull request lists, and checks that these are among
// them.
func showCommits(ctx context.Context, s *show, number int, subjects []string) error {
	pull, err := s.github.pull(ctx, number)
	if err != nil {
		return err
	}
	s.say("It lists what changed in the source of shop:")
	s.excerpt(pull.GetBody(), []string{"^- `[0-9a-f]{7}` "})
	for _, subject := range subjects {
		if !strings.Contains(pull.GetBody(), "`"+subject+"` by ") {
			return fmt.Errorf("promise broken: pull request #%d does not list %q, but\n%s", number, subject, pull.GetBody())
		}
	}
	return nil
}

// mergeStaging merges the staging pull request as the user. The gates of prod
// take too long for a demo, so the user also shortens them, while no pull
// request is open: a head that is behind its base would have to be updated,
// which an emulator may not support.
func mergeStaging(ctx context.Context, s *show) error {
	merged, err := s.github.merge(ctx, 1)
	if err != nil {
		return err
	}
	s.want.take("staging", s.after...)
	if err := showPull(ctx, s, 1, "merged, by "+s.ann.name); err != nil {
		return err
	}
	waits := []string{`^  prod/shop  waiting  staging soak: present since .*, until `}
	if _, err := s.run(ctx, waits, `^  staging/shop  same  `, `nothing to do$`); err != nil {
		return err
	}
	if err := shorten(ctx, s); err != nil {
		return err
	}
	return s.wait(ctx, merged.Add(shortSoak))
}

// The shortened gates of prod. The window leaves time to see the pull request
// wait.
const (
	shortSoak   = time.Second
	shortWindow = 5 * time.Second
)

// shorten commits the shortened gates.
func shorten(ctx context.Context, s *show) error {
	before := s.want.tree()[configFile]
	s.want.soak = shortSoak.String()
	s.want.opens = later(s.options.Now(), shortWindow)
	s.say("An hour is too long for a demo. You commit and push a shorter one, and an earlier start:")
	return changeConfig(ctx, s, before, "Let prod follow sooner")
}

func mergeProd(ctx context.Context, s *show) error {
	printed, err := s.run(ctx,
		[]string{`^ +gate check e2e: waiting, `},
		`^  prod  opened  #2 `, `^  prod/shop  opened  #2  staging has: shop 1\.4\.2 -> 1\.5\.0$`, `1 opened$`)
	if err != nil {
		return err
	}
	// On a slow machine the window may be open already.
	if s.options.Now().Before(s.want.opens) {
		gate := `^ +gate windows change: waiting, .*until ` + s.want.opens.Format(time.RFC3339) + `$`
		if err := prints("run", printed, gate); err != nil {
			return err
		}
	}
	if err := showPull(ctx, s, 2, "open, by "+s.github.promoter.login); err != nil {
		return err
	}
	if err := s.github.passCheck(ctx, 2, "e2e"); err != nil {
		return err
	}
	s.say("The tests report that the check e2e passed.")
	if err := s.wait(ctx, s.want.opens); err != nil {
		return err
	}
	s.want.take("prod", s.after...)
	if _, err := s.run(ctx, []string{`1 merged$`}, `^  prod  merged  #2 `, `^  prod/shop  merged  #2  `); err != nil {
		return err
	}
	return showPull(ctx, s, 2, "merged, by "+s.github.promoter.login)
}

func againOnGitHub(ctx context.Context, s *show) error {
	before, err := s.github.list(ctx)
	if err != nil {
		return err
	}
	if err := again(ctx, s); err != nil {
		return err
	}
	after, err := s.github.list(ctx)
	if err == nil && after != before {
		err = fmt.Errorf("promise broken: the pull requests were\n%s\nand are\n%s", before, after)
	}
	return err
}

func closeStaging(ctx context.Context, s *show) error {
	bad, err := publish(ctx, s, made("shop", "1.6.0", 16))
	if err != nil {
		return err
	}
	s.want.take("dev", bad...)
	shown := []string{pushed("dev/shop", "newer: shop 1.5.0 -> 1.6.0")}
	if _, err := s.run(ctx, shown, `^  staging  opened  #3 `, `1 pushed, 1 opened$`); err != nil {
		return err
	}
	s.say("It does not start. You close the pull request.")
	if err := s.github.closePull(ctx, 3); err != nil {
		return err
	}
	if err := showPull(ctx, s, 3, "closed"); err != nil {
		return err
	}
	rejected := `^  staging/shop  rejected  shop 1\.6\.0 was rejected by (an unknown user|` + s.ann.name + `) .*pull request #3 was closed$`
	for _, shown := range []string{rejected, `nothing to do$`} {
		printed, err := s.run(ctx, []string{shown}, rejected, `nothing to do$`)
		if err != nil {
			return err
		}
		if strings.Contains(printed, "by an unknown user") {
			s.detail("This forge does not report which user closed it.")
		}
	}
	good, err := publish(ctx, s, made("shop", "1.6.1", 17))
	if err != nil {
		return err
	}
	s.say("You push a fix, shop 1.6.1:")
	s.want.take("dev", good...)
	const opened = `^  staging/shop  opened  #4  dev has: shop 1\.5\.0 -> 1\.6\.1$`
	if _, err := s.run(ctx, []string{`1 pushed, 1 opened$`}, `^  staging  opened  #4 `, opened); err != nil {
		return err
	}
	return showPull(ctx, s, 4, "open, by "+s.github.promoter.login)
}

func showHistoryOnGitHub(ctx context.Context, s *show) error {
	all, err := s.github.list(ctx)
	if err != nil {
		return err
	}
	s.say("%s", all)
	if err := showLog(s, `^promoter: .* prod`, `^ann: `); err != nil {
		return err
	}
	s.conclude()
	return nil
}

// showPull prints a pull request and checks its state at the forge.
func showPull(ctx context.Context, s *show, number int, promised string) error {
	pull, err := s.github.pull(ctx, number)
	if err != nil {
		return err
	}
	s.say("%s", pullLine(pull))
	if got := pullState(pull); got != promised {
		return fmt.Errorf("promise broken: pull request #%d is %s, not %s", number, got, promised)
	}
	return nil
}

// inviteOnGitHub prints where everything is, and commands to continue with.
func inviteOnGitHub(s *show) {
	image := pushImage(s, "1.6.1", "1.7.0")
	api := s.github.url + "/api/v3/repos/" + s.github.fullName()
	fmt.Fprintf(s.options.Out, `
It keeps running until Ctrl-C, which removes the folder and the repository:
  repository  %[1]s
  registry    http://%[2]s
  folder      %[3]s: %[4]s is your clone
In another terminal, with the variables %[5]s and PROMOTER_DEMO_USER_TOKEN as here:
  cd %[3]s
  promoter() { '%[6]s' "$@"; }
  promoter explain prod --app shop
Push an image, shop 1.7.0, and update the pull request for staging:
%[7]s
  promoter run
Merge it, and open the one for prod:
  curl -X PUT -d '{}' -H "Authorization: Bearer $PROMOTER_DEMO_USER_TOKEN" \
    %[8]s/pulls/4/merge
  sleep 2; promoter run
`, s.hub.address, s.registry.loopback.host, s.folder, cloneName, s.options.GitHub.Variable, s.options.Program, image, api)
}
