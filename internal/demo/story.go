package demo

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// chapter is one step of the demo. It ends with a check of the result.
type chapter struct {
	title string
	play  func(context.Context, *show) error
}

func chapters() []chapter {
	return []chapter{
		{"A registry, and a GitOps repository with three applications in dev, staging and prod", begin},
		{"The pipeline pushes new images: dev gets them at once", landInDev},
		{"Staging waits for a person: Ann reviews the difference and requests it", askForStaging},
		{"Prod waits until staging has had it for 2 seconds, and for its window", landInProd},
		{"Running it again writes nothing", again},
		{"A bad image: Ann takes it back by hand, and it does not come again", takeBack},
		{"The service: the registry notifies it of a new image, and dev has it a moment later", landByWebhook},
		{"Ann asks for it in staging, and the service goes on to prod by itself", goOnByItself},
		{"Who did what", tellHistory},
	}
}

// begin fills the registry and the repository, so that everything is up to
// date.
func begin(ctx context.Context, s *show) error {
	if err := fill(ctx, s); err != nil {
		return err
	}
	return upToDate(ctx, s)
}

// fill pushes the first images and the first commit.
func fill(ctx context.Context, s *show) (err error) {
	if s.before, err = s.registry.publish(ctx, firstRelease()...); err != nil {
		return err
	}
	for _, environment := range []string{"dev", "staging", "prod"} {
		s.want.take(environment, s.before...)
	}
	files := s.want.tree()
	if _, err = s.ann.push(ctx, files, "Begin"); err != nil {
		return err
	}
	s.tell("Registry:   %s\nRepository: %s", s.registry.loopback.host, s.hub.url())
	for _, name := range files.names() {
		fmt.Fprintf(s.options.Out, "  %s\n", name)
	}
	_, environments, _ := strings.Cut(files[configFile], "\n\nenvironments:")
	s.tell("How they hang together, in %s:\n\nenvironments:%s", configFile, strings.TrimSuffix(environments, "\n"))
	return nil
}

func upToDate(ctx context.Context, s *show) error {
	s.tell("Everything is up to date.")
	_, err := s.run(ctx, `^  dev/shop  same  `, `^  prod/mail  same  `, `nothing to do$`)
	return err
}

func landInDev(ctx context.Context, s *show) (err error) {
	if s.after, err = s.registry.publish(ctx, secondRelease()...); err != nil {
		return err
	}
	for _, v := range s.after {
		fmt.Fprintf(s.options.Out, "  %s/acme/%s:%s\n", s.registry.loopback.host, v.application, v.tag)
	}
	s.want.take("dev", s.after...)
	_, err = s.run(ctx,
		`^  dev/shop  pushed  [0-9a-f]{7}  newer: shop 1\.4\.2 -> 1\.5\.0$`,
		`^  dev/blog  pushed  [0-9a-f]{7}  newer: blog 2\.0\.1 -> 2\.1\.0$`,
		`^  dev/mail  pushed  [0-9a-f]{7}  newer: mail main-3f9c2ab -> main-a81d04e$`,
		`^  staging/shop  waiting  propose is manual`, `3 pushed$`)
	return err
}

func askForStaging(ctx context.Context, s *show) error {
	if err := s.ann.pull(ctx); err != nil {
		return err
	}
	s.tell("In her clone, after 'git pull':")
	_, err := s.promoter(ctx, []string{"plan", "--env", "staging", "--dir", s.ann.dir},
		`^-    newTag: "1\.4\.2" `, `^\+    newTag: "1\.5\.0" `, `^\+  tag: 2\.1\.0$`, `^\+ .*acme/mail:main-a81d04e@`)
	if err != nil {
		return err
	}
	s.tell("It is what she wants. She asks for it, and the next run pushes it, with the digests of dev.")
	_, err = s.promoter(ctx, []string{
		"promote", "--repo", s.hub.url(), "--to", "staging", "--as", s.ann.name, "--reason", "for the testers",
	}, `Promote .*: for the testers$`, `recorded in promoter/_state as ann`)
	if err != nil {
		return err
	}
	s.want.take("staging", s.after...)
	printed, err := s.run(ctx, `^  staging/shop  pushed  [0-9a-f]{7}  .*shop 1\.4\.2 -> 1\.5\.0$`, `^  prod/shop  waiting  staging soak: `, `3 pushed$`)
	if err != nil {
		return err
	}
	until, err := untilIn(printed, `^  prod/.*staging soak: `)
	if err != nil {
		return err
	}
	return s.wait(ctx, until)
}

func landInProd(ctx context.Context, s *show) error {
	s.tell("The 2 seconds are over. The window is not open.")
	printed, err := s.run(ctx, `^  prod/shop  proposed  staging has: shop 1\.4\.2 -> 1\.5\.0$`, `^    to be pushed when its gates allow$`, `^    gate windows change: waiting`, `nothing to do$`)
	if err != nil {
		return err
	}
	until, err := untilIn(printed, `^    gate `)
	if err != nil {
		return err
	}
	if !until.Equal(s.want.opens) {
		return fmt.Errorf("promise broken: the window opens at %s, not at %s", s.want.opens.Format(time.RFC3339), until.Format(time.RFC3339))
	}
	if err := moveWindow(ctx, s); err != nil {
		return err
	}
	s.want.take("prod", s.after...)
	_, err = s.run(ctx, `^  prod/shop  pushed  [0-9a-f]{7}  staging has: shop 1\.4\.2 -> 1\.5\.0$`, `3 pushed$`)
	return err
}

// moveWindow commits a config change, because an hour is too long for a demo.
func moveWindow(ctx context.Context, s *show) error {
	s.want.opens = later(s.options.Now(), 2*time.Second)
	s.tell("An hour is too long for a demo. Ann moves the window to %s: a commit in %s, and 'git push'.",
		s.want.opens.Format(time.TimeOnly), configFile)
	if err := s.ann.pull(ctx); err != nil {
		return err
	}
	if _, err := s.ann.push(ctx, tree{configFile: s.want.tree()[configFile]}, "Open the window of prod"); err != nil {
		return err
	}
	return s.wait(ctx, s.want.opens)
}

func again(ctx context.Context, s *show) error {
	before, err := s.hub.refs()
	if err != nil {
		return err
	}
	if _, err := s.run(ctx, `^  prod/shop  same  `, `nothing to do$`); err != nil {
		return err
	}
	after, err := s.hub.refs()
	if err != nil {
		return err
	}
	if after != before {
		return fmt.Errorf("promise broken: the branches were\n%s\nand are\n%s", before, after)
	}
	s.tell("Every branch is at the commit at which it was.")
	return nil
}

func takeBack(ctx context.Context, s *show) error {
	bad, err := s.registry.publish(ctx, made("shop", "1.6.0", 16))
	if err != nil {
		return err
	}
	s.tell("The pipeline pushes shop 1.6.0.")
	s.want.take("dev", bad...)
	if _, err := s.run(ctx, `^  dev/shop  pushed  [0-9a-f]{7}  newer: shop 1\.5\.0 -> 1\.6\.0$`, `1 pushed$`); err != nil {
		return err
	}
	if err := revert(ctx, s); err != nil {
		return err
	}
	s.tell("The next run leaves it so, and states the reason.")
	if _, err := s.run(ctx, `^  dev/shop  reverted  shop 1\.6\.0 was here before and was reverted `, `nothing to do$`); err != nil {
		return err
	}
	good, err := s.registry.publish(ctx, made("shop", "1.6.1", 17))
	if err != nil {
		return err
	}
	s.tell("The pipeline pushes shop 1.6.1, which is better. It goes.")
	s.want.take("dev", good...)
	_, err = s.run(ctx, `^  dev/shop  pushed  [0-9a-f]{7}  newer: shop 1\.5\.0 -> 1\.6\.1$`, `1 pushed$`)
	return err
}

// revert restores the previous version of the shop in dev with a manual commit.
func revert(ctx context.Context, s *show) error {
	if err := s.ann.pull(ctx); err != nil {
		return err
	}
	s.want.take("dev", s.after...)
	path, _ := place{"dev", "shop"}.file()
	commit, err := s.ann.push(ctx, tree{path: s.want.tree()[path]}, "Take shop 1.6.0 back: it does not start")
	if err != nil {
		return err
	}
	s.tell("It does not start. Ann puts 1.5.0 back by hand: commit %.7s, 'git push'.", commit)
	return nil
}

func tellHistory(_ context.Context, s *show) error {
	s.tell("$ git log --format='%%h %%an %%s' main")
	if err := s.hub.log(s.options.Out); err != nil {
		return err
	}
	s.tell(`After every step all files of main were compared with what was promised, byte by byte.

Next: 'promoter init' in a clone of your own repository, then 'promoter plan', then
'promoter run --repo URL --dry-run'.`)
	return nil
}

// invite lists commands to try.
func invite(s *show) {
	if s.github != nil {
		inviteOnGitHub(s)
		return
	}
	s.tell(`Everything keeps running until Ctrl-C. In another terminal:

  git clone %[1]s
  promoter explain prod --repo %[1]s
  promoter promote --to staging --app shop --repo %[1]s
  promoter hold --env prod --reason 'incident 42' --repo %[1]s
  promoter resume --env prod --repo %[1]s
  promoter run --repo %[1]s

New images go to the registry, such as with 'docker push %[2]s/acme/shop:1.8.0'.`, s.hub.url(), s.registry.loopback.host)
	inviteToPost(s)
}
