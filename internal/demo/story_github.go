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

// onGitHub prepares the demo with pull requests.
func (s *show) onGitHub(ctx context.Context) (err error) {
	if s.github, err = openGitHub(ctx, *s.GitHub, s.hub, s.Now); err != nil {
		return err
	}
	g := s.github
	s.want.config, s.want.soak = configOnGitHub, "1h"
	file := filepath.Join(s.folder, "promoter-server.yaml")
	text := strings.NewReplacer("URL", g.url(), "TOKEN", s.GitHub.Variable, "NAME", g.name, "HOST", s.registry.host).Replace(serverFile)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the server's file: %w", err)
	}
	s.target = []string{"--config", file}
	if s.ann, err = newPerson(g.person.login, filepath.Join(s.folder, "clone"), s.hub, s.Now); err == nil {
		s.ann.auth = &githttp.BasicAuth{Username: g.person.login, Password: s.GitHub.Person.Reveal()}
	}
	return err
}

func (s *show) chaptersOnGitHub() []chapter {
	ann := s.ann.name
	return []chapter{
		{"A registry, and a GitOps repository on a forge with three applications in dev, staging and prod", s.beginOnGitHub},
		{"The pipeline pushes new images: dev gets them at once, staging as a pull request", s.proposeStaging},
		{"A person merges it: " + ann, s.mergeStaging},
		{"Prod's pull request waits for its window and its check, then promoter merges it", s.mergeProd},
		{"Running it again writes nothing", s.againOnGitHub},
		{"A bad image: " + ann + " closes the pull request, and it is not opened again", s.closeStaging},
		{"Who did what", s.tellHistoryOnGitHub},
	}
}

func (s *show) beginOnGitHub(ctx context.Context) error {
	commit, err := s.fill(ctx)
	if err != nil {
		return err
	}
	s.tell("The forge at %s knows people, pull requests and checks; Git is served by the demo.\nEach commit has the same id on both sides.", s.github.promoter.api)
	if err := s.github.lookForStatuses(ctx, commit); err != nil {
		return err
	}
	if s.github.statuses.needed.Load() {
		s.tell("This forge has no commit statuses: the demo keeps those that promoter sets.")
	}
	if err := s.github.lookForComments(ctx); err != nil {
		return err
	}
	if s.github.comments.needed.Load() {
		s.tell("This forge does not list the comments of a repository: the demo puts them together.")
	}
	return s.upToDate(ctx)
}

func (s *show) proposeStaging(ctx context.Context) (err error) {
	if s.after, err = s.registry.publish(ctx, secondRelease()...); err != nil {
		return err
	}
	for _, v := range s.after {
		fmt.Fprintf(s.Out, "  %s/acme/%s:%s\n", s.registry.host, v.application, v.tag)
	}
	s.want.take("dev", s.after...)
	_, err = s.run(ctx,
		`^    pushed [0-9a-f]{7}: newer: shop 1\.4\.2 -> 1\.5\.0$`,
		`^  staging/shop  proposed  dev has: shop 1\.4\.2 -> 1\.5\.0$`,
		`^  staging  3 applications: opened #1 `, `3 pushed, 1 opened$`)
	if err != nil {
		return err
	}
	return s.tellPull(ctx, 1, "open, by "+s.github.promoter.login)
}

// mergeStaging merges the staging pull request as the user. The gates of prod
// take too long for a demo, so the user also shortens them, while no pull
// request is open: a head that is behind its base would have to be updated,
// which an emulator may not support.
func (s *show) mergeStaging(ctx context.Context) error {
	s.tell("It is what %s wants.", s.ann.name)
	merged, err := s.github.merge(ctx, 1)
	if err != nil {
		return err
	}
	s.want.take("staging", s.after...)
	if err := s.tellPull(ctx, 1, "merged, by "+s.ann.name); err != nil {
		return err
	}
	if _, err := s.run(ctx, `^  staging/shop  same  `, `^  prod/shop  waiting  staging soak: present since .*, until `, `nothing to do$`); err != nil {
		return err
	}
	if err := s.shorten(ctx); err != nil {
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
func (s *show) shorten(ctx context.Context) error {
	s.want.soak, s.want.opens = shortSoak.String(), later(s.Now(), shortWindow)
	s.tell("An hour is too long for a demo. %s shortens it to a second, and moves the window\nto %s: a commit in %s, and 'git push'.",
		s.ann.name, s.want.opens.Format(time.TimeOnly), configFile)
	if err := s.ann.pull(ctx); err != nil {
		return err
	}
	_, err := s.ann.push(ctx, tree{configFile: s.want.tree()[configFile]}, "Let prod follow sooner")
	return err
}

func (s *show) mergeProd(ctx context.Context) error {
	printed, err := s.run(ctx,
		`^  prod/shop  proposed  staging has: shop 1\.4\.2 -> 1\.5\.0$`,
		`^  prod  3 applications: opened #2 `, `^  prod  gate check e2e: waiting, `, `1 opened$`)
	if err != nil {
		return err
	}
	// On a slow machine the window may be open already.
	if gate := `^  prod  gate windows change: waiting, .*until ` + s.want.opens.Format(time.RFC3339) + `$`; s.Now().Before(s.want.opens) {
		if err := says("run", printed, gate); err != nil {
			return err
		}
	}
	if err := s.tellPull(ctx, 2, "open, by "+s.github.promoter.login); err != nil {
		return err
	}
	if err := s.github.check(ctx, 2, "e2e"); err != nil {
		return err
	}
	s.tell("The tests report that the check e2e passed on it.")
	if err := s.wait(ctx, s.want.opens); err != nil {
		return err
	}
	s.want.take("prod", s.after...)
	if _, err := s.run(ctx, `^  prod/shop  same  `, `^  prod  3 applications: merged #2 `, `1 merged$`); err != nil {
		return err
	}
	return s.tellPull(ctx, 2, "merged, by "+s.github.promoter.login)
}

func (s *show) againOnGitHub(ctx context.Context) error {
	before, err := s.github.list(ctx)
	if err != nil {
		return err
	}
	if err := s.again(ctx); err != nil {
		return err
	}
	after, err := s.github.list(ctx)
	if err == nil && after != before {
		err = fmt.Errorf("promise broken: the pull requests were\n%s\nand are\n%s", before, after)
	}
	return err
}

func (s *show) closeStaging(ctx context.Context) error {
	bad, err := s.registry.publish(ctx, made("shop", "1.6.0", 16))
	if err != nil {
		return err
	}
	s.tell("The pipeline pushes shop 1.6.0.")
	s.want.take("dev", bad...)
	if _, err := s.run(ctx, `^    pushed [0-9a-f]{7}: newer: shop 1\.5\.0 -> 1\.6\.0$`, `^  staging  1 application: opened #3 `, `1 pushed, 1 opened$`); err != nil {
		return err
	}
	s.tell("It does not start. %s closes the pull request.", s.ann.name)
	if err := s.github.closePull(ctx, 3); err != nil {
		return err
	}
	if err := s.tellPull(ctx, 3, "closed"); err != nil {
		return err
	}
	s.tell("The next run leaves it so, and says why. So do all that follow.")
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
	if _, err := s.run(ctx, `^  staging/shop  proposed  dev has: shop 1\.5\.0 -> 1\.6\.1$`, `^  staging  1 application: opened #4 `, `1 pushed, 1 opened$`); err != nil {
		return err
	}
	return s.tellPull(ctx, 4, "open, by "+s.github.promoter.login)
}

func (s *show) tellHistoryOnGitHub(ctx context.Context) error {
	s.tell("$ git log --format='%%h %%an %%s' main")
	if err := s.hub.log(s.Out); err != nil {
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
func (s *show) tellPull(ctx context.Context, number int, promised string) error {
	pull, err := s.github.look(ctx, number)
	if err != nil {
		return err
	}
	s.tell("%s", pull)
	if got := pull.how(); got != promised {
		return fmt.Errorf("promise broken: pull request #%d is %s, not %s", number, got, promised)
	}
	return nil
}

// inviteOnGitHub lists commands to try.
func (s *show) inviteOnGitHub() {
	s.tell(`Everything keeps running until Ctrl-C. In another terminal, with the same tokens:

  git clone %[1]s    # the password is one of the tokens
  promoter explain prod --config %[2]s
  promoter run --config %[2]s
  curl -X PUT -d '{}' -H "Authorization: Bearer $PROMOTER_DEMO_PERSON_TOKEN" %[3]s/pulls/4/merge

New images go to the registry, such as with 'docker push %[4]s/acme/shop:1.7.0'.`,
		s.hub.url(), s.target[1], s.github.person.api+s.github.path, s.registry.host)
}
