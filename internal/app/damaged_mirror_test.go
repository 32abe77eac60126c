package app_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"promoter/internal/decision"
	"promoter/internal/verb"
)

// A disk changes the files of the mirror between two runs. The second one fetches the repository again, and finds the config, the
// hold, and the files as they are: none of them is called unusable or missing.
func TestRun_damagedMirrorIsFetchedAgain(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	s.cache = filepath.Join(s.dir, "cache")
	s.releaseAndRun("web", "1.1.0")
	s.decide(decision.Decision{Verb: verb.Hold, Environment: "staging", Application: "shop", Reason: "incident 7"})
	s.run()
	s.damageMirrors(filepath.Join(s.cache, "mirrors"))
	report := s.releaseAndRun("web", "1.2.0")
	s.holds("dev", "1.2.0 1.0.0")
	s.because(report, "staging", "on hold", "incident 7")
	s.calm()
}

// damageMirrors changes each object in the packs of all mirrors below a folder.
func (s *story) damageMirrors(folder string) {
	s.t.Helper()
	packs := 0
	err := filepath.WalkDir(folder, func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".pack") {
			return err
		}
		packs++
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for at := 12; at < len(content)-20; at += 8 { // between the header and the checksum, by which the file is named
			content[at] ^= 0x55
		}
		if err := os.Chmod(name, 0o600); err != nil {
			return err
		}
		return os.WriteFile(name, content, 0o600)
	})
	if err != nil || packs == 0 {
		s.t.Fatalf("%d packs, %v", packs, err)
	}
}
