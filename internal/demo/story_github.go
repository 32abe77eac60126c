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
	s.want.config, s.want.soak = configOnGitHub, "1h"
	file := filepath.Join(s.folder, "promoter-server.yaml")
	text := strings.NewReplacer("URL", g.url, "TOKEN", options.Variable, "NAME", g.fullName(), "HOST", s.registry.loopback.host).Replace(serverFile)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the server file: %w", err)
	}
	s.target = []string{"--config", file}
	s.hub.address, s.hub.auth = g.cloneURL(), &githttp.BasicAuth{Username: g.person.login, Password: options.Person.Reveal()}
	s.ann, err = newPerson(g.person.login, filepath.Join(s.folder, "clone"), s.hub, s.options.Now)
	return err
}

func chaptersOnGitHub(ann string) []chapter {
	return []chapter{
		{"A registry, and a GitOps repository on a forge with three applications in dev, staging and prod", beginOnGitHub},
		{"The pipeline pushes new images: dev gets them at once, staging as a pull request", proposeStaging},
		{"A person merges it: " + ann, mergeStaging},
		{"Prod's pull request waits for its window and its check, then promoter merges it", mergeProd},
		{"Running it again writes nothing", againOnGitHub},
		{"A bad image: " + ann + " closes the pull request, and it is not opened again", closeStaging},
		{"Who did what", tellHistoryOnGitHub},
	}
}

func beginOnGitHub(ctx context.Context, s *show) error {
	if err := fill(ctx, s); err != nil {
		return err
	}
	return upToDate(ctx, s)
}

func proposeStaging(ctx context.Context, s *show) (err error) {
	if s.after, err = s.registry.publish(ctx, secondRelease()...); err != nil {
		return err
	}
	for _, v := range s.after {
		fmt.Fprintf(s.options.Out, "  %s/acme/%s:%s\n", s.registry.loopback.host, v.application, v.tag)
	}
	s.want.take("dev", s.after...)
	_, err = s.run(ctx,
		`^  dev/shop  pushed  [0-9a-f]{7}  newer: shop 1\.4\.2 -> 1\.5\.0$`,
		`^  staging/shop  opened  #1  dev has: shop 1\.4\.2 -> 1\.5\.0$`,
		`^  staging  opened  #1 .*  3 applications$`, `3 pushed, 1 opened$`)
	if err != nil {
		return err
	}
	return tellPull(ctx, s, 1, "open, by "+s.github.promoter.login)
}

// mergeStaging merges the staging pull request as the user. The gates of prod
// take too long for a demo, so the user also shortens them, while no pull
// request is open: a head that is behind its base would have to be updated,
// which an emulator may not support.
func mergeStaging(ctx context.Context, s *show) error {
	s.tell("It is what %s wants.", s.ann.name)
	merged, err := s.github.merge(ctx, 1)
	if err != nil {
		return err
	}
	s.want.take("staging", s.after...)
	if err := tellPull(ctx, s, 1, "merged, by "+s.ann.name); err != nil {
		return err
	}
	if _, err := s.run(ctx, `^  staging/shop  same  `, `^  prod/shop  waiting  staging soak: present since .*, until `, `nothing to do$`); err != nil {
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
	s.want.soak, s.want.opens = shortSoak.String(), later(s.options.Now(), shortWindow)
	s.tell("An hour is too long for a demo. %s shortens it to a second, and moves the window\nto %s: a commit in %s, and 'git push'.",
		s.ann.name, s.want.opens.Format(time.TimeOnly), configFile)
	if err := s.ann.pull(ctx); err != nil {
		return err
	}
	_, err := s.ann.push(ctx, tree{configFile: s.want.tree()[configFile]}, "Let prod follow sooner")
	return err
}

func mergeProd(ctx context.Context, s *show) error {
	printed, err := s.run(ctx,
		`^  prod/shop  opened  #2  staging has: shop 1\.4\.2 -> 1\.5\.0$`,
		`^  prod  opened  #2 .*  3 applications$`, `^    gate check e2e: waiting, `, `1 opened$`)
	if err != nil {
		return err
	}
	// On a slow machine the window may be open already.
	if gate := `^    gate windows change: waiting, .*until ` + s.want.opens.Format(time.RFC3339) + `$`; s.options.Now().Before(s.want.opens) {
		if err := prints("run", printed, gate); err != nil {
			return err
		}
	}
	if err := tellPull(ctx, s, 2, "open, by "+s.github.promoter.login); err != nil {
		return err
	}
	if err := s.github.passCheck(ctx, 2, "e2e"); err != nil {
		return err
	}
	s.tell("The tests report that the check e2e passed on it.")
	if err := s.wait(ctx, s.want.opens); err != nil {
		return err
	}
	s.want.take("prod", s.after...)
	if _, err := s.run(ctx, `^  prod/shop  merged  #2  `, `^  prod  merged  #2 `, `1 merged$`); err != nil {
		return err
	}
	return tellPull(ctx, s, 2, "merged, by "+s.github.promoter.login)
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
	bad, err := s.registry.publish(ctx, made("shop", "1.6.0", 16))
	if err != nil {
		return err
	}
	s.tell("The pipeline pushes shop 1.6.0.")
	s.want.take("dev", bad...)
	if _, err := s.run(ctx, `^  dev/shop  pushed  [0-9a-f]{7}  newer: shop 1\.5\.0 -> 1\.6\.0$`, `^  staging  opened  #3 .*  1 application$`, `1 pushed, 1 opened$`); err != nil {
		return err
	}
	s.tell("It does not start. %s closes the pull request.", s.ann.name)
	if err := s.github.closePull(ctx, 3); err != nil {
		return err
	}
	if err := tellPull(ctx, s, 3, "closed"); err != nil {
		return err
	}
	s.tell("The next run leaves it so, and states the reason. So do all that follow.")
	for range 2 {
		printed, err := s.run(ctx, `^  staging/shop  rejected  shop 1\.6\.0 was rejected by (an unknown user|`+s.ann.name+`) .*pull request #3 was closed$`, `nothing to do$`)
		if err != nil {
			return err
		}
		if strings.Contains(printed, "by an unknown user") {
			s.tell("This forge does not report who closed it.")
		}
	}
	good, err := s.registry.publish(ctx, made("shop", "1.6.1", 17))
	if err != nil {
		return err
	}
	s.tell("The pipeline pushes shop 1.6.1, which is better. It goes.")
	s.want.take("dev", good...)
	if _, err := s.run(ctx, `^  staging/shop  opened  #4  dev has: shop 1\.5\.0 -> 1\.6\.1$`, `^  staging  opened  #4 `, `1 pushed, 1 opened$`); err != nil {
		return err
	}
	return tellPull(ctx, s, 4, "open, by "+s.github.promoter.login)
}

func tellHistoryOnGitHub(ctx context.Context, s *show) error {
	s.tell("$ git log --format='%%h %%an %%s' main")
	if err := s.hub.log(s.options.Out); err != nil {
		return err
	}
	all, err := s.github.list(ctx)
	if err != nil {
		return err
	}
	s.tell("The pull requests:\n\n%s", all)
	s.tell(`After every step all files of main were compared with what was promised, byte by byte,
and the pull requests with what the forge says of them.

Next: a token and 'promoter run --repo https://github.com/OWNER/NAME --dry-run'.`)
	return nil
}

// tellPull prints a pull request and checks its state at the forge.
func tellPull(ctx context.Context, s *show, number int, promised string) error {
	pull, err := s.github.pull(ctx, number)
	if err != nil {
		return err
	}
	s.tell("%s", pullLine(pull))
	if got := pullState(pull); got != promised {
		return fmt.Errorf("promise broken: pull request #%d is %s, not %s", number, got, promised)
	}
	return nil
}

// inviteOnGitHub lists commands to try.
func inviteOnGitHub(s *show) {
	s.tell(`Everything keeps running until Ctrl-C. In another terminal, with the same tokens:

  git clone %[1]s    # the password is one of the tokens
  promoter explain prod --config %[2]s
  promoter run --config %[2]s
  curl -X PUT -d '{}' -H "Authorization: Bearer $PROMOTER_DEMO_PERSON_TOKEN" %[3]s/pulls/4/merge

New images go to the registry, such as with 'docker push %[4]s/acme/shop:1.7.0'.`,
		s.hub.url(), s.target[1], s.github.url+"/api/v3/repos/"+s.github.fullName(), s.registry.loopback.host)
}
