package app_test

import (
	"strings"
	"testing"
)

// Places that have what was made of a version, and versions that files name in different ways.

// noting is the config of pushes in which each environment also writes a value about web into the file of the application.
func noting(value string) string {
	more := `, write: [{file: "{environment}/{application}.yaml", path: note, create: true, component: web, value: "` + value + `"}]}`
	lines := strings.Split(pushed(), "\n")
	for i, line := range lines {
		if strings.Contains(line, "paths:") {
			lines[i] = strings.TrimSuffix(line, "}") + more
		}
	}
	return strings.Join(lines, "\n")
}

// notes checks what the file of each environment has at note.
func (s *story) notes(want string) {
	s.t.Helper()
	for _, environment := range []string{"dev", "staging", "prod"} {
		text := s.repo.Git.Run("show", "main:"+environment+"/shop.yaml")
		_, note, _ := strings.Cut(text+"\n", "note: ")
		if note, _, _ = strings.Cut(note, "\n"); strings.Trim(note, `"`) != want {
			s.t.Errorf("%s notes %s, want %s", environment, note, want)
		}
	}
}

func TestRun_writtenValuesFollowTheVersion(t *testing.T) {
	t.Parallel()
	revision := strings.Repeat("5e", 20)
	for value, want := range map[string]string{
		"{version}":             "1.1.0",
		"{tag}":                 "1.1.0",
		"{digest}":              "DIGEST",
		"{revision}":            revision,
		"{component} {version}": "web 1.1.0",
		"{version}@{digest}":    "1.1.0@DIGEST",
		"{version}+{revision}":  "1.1.0+" + revision,
	} {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			s := newStory(t, "github", noting(value))
			want := strings.ReplaceAll(want, "DIGEST", s.sourced("1.1.0", revision))
			s.run()
			for _, environment := range []string{"dev", "staging", "prod"} {
				s.holds(environment, "1.1.0 1.0.0")
			}
			s.notes(want)
			s.calm()
		})
	}
}

func TestRun_writtenValueThatAUserChangedIsWrittenAgain(t *testing.T) {
	t.Parallel()
	onBoth(t, noting("{version}"), func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		s.edit("ada", "main", "staging/shop.yaml", "note: 1.1.0", "note: 1.0.9")
		report := s.run()
		s.because(report, "staging", "web 1.1.0")
		s.notes("1.1.0")
		s.calm()
		s.releaseAndRun("web", "1.2.0")
		s.notes("1.2.0")
		s.holds("prod", "1.2.0 1.0.0")
	})
}

// The files of an environment may have nothing of an image but its version, as the appVersion of a chart.
func TestRun_markedVersionAloneIsPromoted(t *testing.T) {
	t.Parallel()
	onBoth(t, pushed(), func(s *story) {
		files := map[string]string{}
		for _, environment := range []string{"dev", "staging", "prod"} {
			files[environment+"/shop.yaml"] = "note: \"1.0.0\" # promoter: web.version\n"
		}
		s.repo.Git.Commit("ada", "main", "Only versions", files)
		s.calm()
		s.releaseAndRun("web", "1.1.0")
		for environment := range files {
			if text := s.repo.Git.Run("show", "main:"+environment); text != "note: \"1.1.0\" # promoter: web.version" {
				s.t.Errorf("%s has %s", environment, text)
			}
		}
		s.calm()
	})
}

func TestRun_tagAndDigestOfOneImageAreOneVersion(t *testing.T) {
	t.Parallel()
	onBoth(t, pushed(), func(s *story) {
		files := map[string]string{}
		for _, environment := range []string{"dev", "staging", "prod"} {
			web := s.host + "/acme/web"
			files[environment+"/shop.yaml"] = "a:\n  image: " + web + ":1.0.0\nb:\n  image: " + web + "@" + s.digests["web:1.0.0"] + "\n"
		}
		s.repo.Git.Commit("ada", "main", "A tag and a digest", files)
		s.calm()
		for _, tag := range []string{"1.1.0", "1.2.0"} {
			s.releaseAndRun("web", tag)
			for file := range files {
				text := s.repo.Git.Run("show", "main:"+file)
				if !strings.Contains(text, "web:"+tag+"\n") || !strings.Contains(text, "web@"+s.digests["web:"+tag]) {
					s.t.Errorf("%s has\n%s\nwant %s", file, text, tag)
				}
			}
			s.calm()
		}
		// They are two as soon as one of them is of another image.
		s.edit("ada", "main", "staging/shop.yaml", s.digests["web:1.2.0"], s.digests["web:1.1.0"])
		s.because(s.run(), "staging", "web 1.2.0")
	})
}
