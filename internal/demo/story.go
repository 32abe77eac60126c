package demo

import (
	"context"
	"crypto/sha1" //nolint:gosec // as Git's IDs
	"fmt"
	"regexp"
	"strings"
	"time"
)

// chapter is one step of the demo: what a user does. It ends with a check of the result.
type chapter struct {
	title string
	play  func(context.Context, *show) error
}

func chapters() []chapter {
	return []chapter{
		{"You describe the environments in .promoter.yaml: dev, then staging, then prod", begin},
		{"You push new images: dev gets them at once, staging waits for a request", landInDev},
		{"You review the change for staging and request it", askForStaging},
		{"Prod gets the same versions after 2 seconds in staging, when its window is open", landInProd},
		{"You push shop 1.6.0, and revert it in dev: promoter does not propose it again", takeBack},
		{"You start the service: a webhook from the registry brings the fix to dev", landByWebhook},
		{"You let prod wait until your tests report that staging is healthy", advanceHealthy},
		{"shop 1.7.0 fails in staging: promoter rolls it back, and prod never gets it", rollBack},
		{"You read in Git who changed what, and on the dashboard what is where", showResult},
	}
}

// introduce prints where everything is.
func introduce(s *show) {
	fmt.Fprintf(s.options.Out, `promoter on your machine. You are the user %s, and work in %s,
with %s, a clone of %s.
`, s.ann.name, s.folder, cloneName, s.hub.address)
	if !s.options.Verbose {
		fmt.Fprintln(s.options.Out, "You see the lines that matter; --verbose shows all. Each step compares all files of main.")
	}
}

// begin fills the registry and the repository, so that everything is up to
// date.
func begin(ctx context.Context, s *show) error {
	if err := fill(ctx, s); err != nil {
		return err
	}
	_, err := s.run(ctx, []string{`nothing to do$`}, `^  dev/shop  same  `, `^  prod/mail  same  `)
	return err
}

// fill pushes the first images and the first commit.
func fill(ctx context.Context, s *show) (err error) {
	if s.before, err = publish(ctx, s, firstRelease()...); err != nil {
		return err
	}
	for _, environment := range []string{"dev", "staging", "prod"} {
		s.want.take(environment, s.before...)
	}
	files := s.want.tree()
	if _, err = s.ann.push(ctx, files, "Begin"); err != nil {
		return err
	}
	s.detail("%s", strings.Join(files.names(), "\n"))
	_, shown, _ := strings.Cut(files[configFile], "\n\nwindows:")
	s.say("windows:%s", strings.ReplaceAll(strings.TrimSuffix(shown, "\n"), "\n\n", "\n"))
	return nil
}

// pushed matches the line of run about a commit.
func pushed(target, change string) string {
	return `^ +` + target + ` +pushed +[0-9a-f]{7}\b.* ` + regexp.QuoteMeta(change) + `$`
}

// publish pushes images as the pipeline does, whose labels name the commits that they are built
// from. The sources of the shop are on the forge, if there is one.
func publish(ctx context.Context, s *show, versions ...version) ([]version, error) {
	for i := range versions {
		v := &versions[i]
		v.source = "https://git.example.com/acme/" + v.application
		v.revision = fmt.Sprintf("%x", sha1.Sum([]byte(v.String()))) //nolint:gosec // an ID
		if s.sources == nil || v.application != "shop" {
			continue
		}
		v.source = strings.TrimSuffix(s.sources.address, ".git")
		for _, subject := range shopCommits()[v.tag] {
			var err error
			if v.revision, err = s.sources.push(ctx, tree{"changes.txt": subject + "\n"}, subject); err != nil {
				return nil, err
			}
		}
	}
	published, err := s.registry.publish(ctx, versions...)
	for _, v := range published {
		s.detail("%s/acme/%s:%s", s.registry.loopback.host, v.application, v.tag)
	}
	return published, err
}

func landInDev(ctx context.Context, s *show) (err error) {
	if s.after, err = publish(ctx, s, secondRelease()...); err != nil {
		return err
	}
	s.want.take("dev", s.after...)
	shown := []string{pushed("dev/shop", "newer: shop 1.4.2 -> 1.5.0"), `^  staging/shop  waiting  propose is manual`}
	blog := pushed("dev/blog", "newer: blog 2.0.1 -> 2.1.0")
	mail := pushed("dev/mail", "newer: mail main-3f9c2ab -> main-a81d04e")
	_, err = s.run(ctx, shown, blog, mail, `3 pushed$`)
	return err
}

func askForStaging(ctx context.Context, s *show) error {
	if err := s.ann.pull(ctx); err != nil {
		return err
	}
	plan := []string{"plan", "--env", "staging", "--dir", cloneName}
	shop := []string{`^-    newTag: "1\.4\.2" `, `^\+    newTag: "1\.5\.0" `}
	_, err := s.promoter(ctx, plan, shop, `^\+  tag: 2\.1\.0$`, `^\+ .*acme/mail:main-a81d04e@`)
	if err != nil {
		return err
	}
	request := []string{"promote", "--to", "staging", "--all", "--as", s.ann.name, "--reason", "for the testers"}
	_, err = s.promoter(ctx, request, nil, `recorded in promoter/_state as unverified: ann`, `Promote .*: for the testers$`)
	if err != nil {
		return err
	}
	s.want.take("staging", s.after...)
	shown := []string{pushed("staging/shop", "dev has: shop 1.4.2 -> 1.5.0"), `^  prod/shop  waiting  staging soak: `}
	printed, err := s.run(ctx, shown, `3 pushed$`)
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
	const proposed = `^  prod/shop  proposed  staging has: shop 1\.4\.2 -> 1\.5\.0$`
	printed, err := s.run(ctx, nil, proposed, `gate windows change: waiting`, `nothing to do$`)
	if err != nil {
		return err
	}
	const gate = `^ *gate windows change: waiting, .*`
	if !s.options.Verbose { // the lesson shows the gate of one application
		s.say("%s", strings.TrimSpace(regexp.MustCompile(`(?m)`+gate).FindString(printed)))
	}
	until, err := untilIn(printed, gate)
	if err != nil {
		return err
	}
	if !until.Equal(s.want.opens) {
		return fmt.Errorf("promise broken: the window opens at %s, not at %s",
			s.want.opens.Format(time.RFC3339), until.Format(time.RFC3339))
	}
	if err := moveWindow(ctx, s); err != nil {
		return err
	}
	s.want.take("prod", s.after...)
	if _, err = s.run(ctx, []string{pushed("prod/shop", "staging has: shop 1.4.2 -> 1.5.0")}, `3 pushed$`); err != nil {
		return err
	}
	return again(ctx, s)
}

// moveWindow commits a config change, because an hour is too long for a demo.
func moveWindow(ctx context.Context, s *show) error {
	before := s.want.tree()[configFile]
	s.want.opens = later(s.options.Now(), 2*time.Second)
	s.say("An hour is too long for a demo. You push an earlier start in %s:", configFile)
	if err := changeConfig(ctx, s, before, "Open the window of prod"); err != nil {
		return err
	}
	return s.wait(ctx, s.want.opens)
}

// changeConfig commits the wanted config file, and prints how it differs from before.
func changeConfig(ctx context.Context, s *show, before, message string) error {
	if err := s.ann.pull(ctx); err != nil {
		return err
	}
	after := s.want.tree()[configFile]
	if _, err := s.ann.push(ctx, tree{configFile: after}, message); err != nil {
		return err
	}
	s.change(before, after)
	return nil
}

func again(ctx context.Context, s *show) error {
	before, err := s.hub.refs()
	if err != nil {
		return err
	}
	if _, err := s.run(ctx, []string{`nothing to do$`}, `^  prod/shop  same  `); err != nil {
		return err
	}
	after, err := s.hub.refs()
	if err != nil {
		return err
	}
	if after != before {
		return fmt.Errorf("promise broken: the branches were\n%s\nand are\n%s", before, after)
	}
	s.detail("Every branch is at the commit at which it was.")
	return nil
}

func takeBack(ctx context.Context, s *show) error {
	bad, err := publish(ctx, s, made("shop", "1.6.0", 16))
	if err != nil {
		return err
	}
	s.want.take("dev", bad...)
	if _, err := s.run(ctx, []string{pushed("dev/shop", "newer: shop 1.5.0 -> 1.6.0")}, `1 pushed$`); err != nil {
		return err
	}
	if err := revert(ctx, s); err != nil {
		return err
	}
	_, err = s.run(ctx, []string{`^  dev/shop  reverted  shop 1\.6\.0 was here before and was reverted `}, `nothing to do$`)
	return err
}

// revert restores the previous version of the shop in dev with a user's commit.
func revert(ctx context.Context, s *show) error {
	if err := s.ann.pull(ctx); err != nil {
		return err
	}
	path, _ := place{"dev", "shop"}.file()
	before := s.want.tree()[path]
	s.want.take("dev", s.after...)
	after := s.want.tree()[path]
	if _, err := s.ann.push(ctx, tree{path: after}, "Revert shop 1.6.0: it does not start"); err != nil {
		return err
	}
	s.say("It does not start. You revert the commit, and push:")
	s.change(withoutDigests(before), withoutDigests(after))
	return nil
}

// withoutDigests shortens a file for a reader.
func withoutDigests(file string) string {
	return regexp.MustCompile(`sha256:[0-9a-f]{64}`).ReplaceAllString(file, "sha256:…")
}

func showResult(ctx context.Context, s *show) error {
	err := showLog(s, ` staging: shop 1\.[67]\.`, ` prod: shop 1\.6\.1$`, `^ann: Revert`)
	if err != nil {
		return err
	}
	return showDashboard(ctx, s)
}

// showLog prints the commits of main whose lines match a pattern.
func showLog(s *show, patterns ...string) error {
	log, err := s.hub.log()
	if err != nil {
		return err
	}
	s.command("git -C " + cloneName + " log --format='%an: %s'")
	if s.options.Verbose {
		fmt.Fprint(s.options.Out, log)
	} else {
		s.excerpt(log, patterns)
	}
	return nil
}

// showDashboard opens the dashboard, which the server file makes public.
func showDashboard(ctx context.Context, s *show) error {
	page, err := s.service.page(ctx, "/?search=shop")
	if err != nil {
		return err
	}
	for _, text := range []string{">shop</a>", "1.7.0", "1.6.1"} { // in dev, and in staging and prod
		if !strings.Contains(page, text) {
			return fmt.Errorf("promise broken: the dashboard does not show %q, but\n%s", text, page)
		}
	}
	where := ", as the dashboard shows." // its address is gone when the demo has ended
	if !s.options.Once {
		where = ": open " + s.service.url + "/"
	}
	s.say("shop has 1.7.0 in dev, and 1.6.1 in staging and prod%s", where)
	s.conclude()
	return nil
}

// conclude ends the lesson.
func (s *show) conclude() {
	if s.options.Once {
		fmt.Fprint(s.options.Out, `
Without --once, the demo keeps running, and lists commands to try.
Next: 'promoter init' in a clone of your own repository, then 'promoter plan'.
`)
	}
}
