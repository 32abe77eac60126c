package app

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"promoter/internal/config"
	"promoter/internal/scm/git"
)

// surveys are what was seen in one repository. What a file holds rests on the
// config too, and on the environments of its branch, so each has its own.
type surveys struct {
	dir   string // in the mirror's folder
	build string // the version of promoter; empty: nothing is kept on disk
	mutex sync.Mutex
	open  map[string]*surveyor
}

func newSurveys(mirror string) *surveys {
	return &surveys{dir: filepath.Join(mirror, "found"), build: build(), open: map[string]*surveyor{}}
}

// build names the source of this binary, because another one may find other
// things in the same file. A binary of changed source has no name.
func build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	revision := ""
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			revision = setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			return ""
		}
	}
	return revision
}

// of returns the surveyor for a config, by its fingerprint, and environments.
func (s *surveys) of(f gitFiles, c *config.Config, environments []string) *surveyor {
	sum := sha256.Sum256([]byte(s.build + "\n" + c.Fingerprint() + "\n" + strings.Join(environments, "\n")))
	name := hex.EncodeToString(sum[:16])
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if known, ok := s.open[name]; ok {
		return known
	}
	made := newSurveyor(f, c, environments)
	if tree, err := s.read(name, made); err == nil {
		made.seen = append(made.seen, tree)
	}
	s.open[name] = made
	return made
}

// keptTree is a tree as it is written down, before its survey.
type keptTree struct {
	Commit string
	Files  []keptFile // of the places
}

type keptFile struct {
	Path, ID string
	Mode     git.Mode
}

var errNotKept = errors.New("nothing is kept on disk")

// read returns the tree that another process saw last. One that cannot be read is
// as good as none.
func (s *surveys) read(name string, of *surveyor) (*gitTree, error) {
	if s.build == "" {
		return nil, errNotKept
	}
	content, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		return nil, err
	}
	return readTree(bytes.NewReader(content), of)
}

// readTree reads what write wrote. The reader hands out single bytes, so that what
// follows the tree is left for its survey.
func readTree(content *bytes.Reader, of *surveyor) (*gitTree, error) {
	var kept keptTree
	if err := gob.NewDecoder(content).Decode(&kept); err != nil {
		return nil, err
	}
	tree := newGitTree(of)
	var err error
	if tree.root, err = of.files.objects.root(kept.Commit); err != nil {
		return nil, err
	}
	if tree.survey, err = of.updater.ReadSurvey(content); err != nil {
		return nil, err
	}
	tree.commit = kept.Commit
	d := difference{}
	for _, file := range kept.Files {
		id, err := git.ParseID(file.ID)
		if err != nil {
			return nil, err
		}
		d.now = append(d.now, of.files.objects.entry(file.Path, file.Mode, id))
	}
	tree.hold(d)
	tree.look()
	return tree, nil
}

// save keeps what was seen last, and nothing else: the others are of configs that
// are gone.
func (s *surveys) save() error {
	if s.build == "" {
		return nil
	}
	if err := errors.Join(os.RemoveAll(s.dir), os.MkdirAll(s.dir, 0o700)); err != nil {
		return fmt.Errorf("keep what was found in files: %w", err)
	}
	for name, surveyor := range s.open {
		if len(surveyor.seen) == 0 {
			continue
		}
		var content bytes.Buffer
		err := surveyor.seen[0].write(&content)
		if err = cmp.Or(err, os.WriteFile(filepath.Join(s.dir, name), content.Bytes(), 0o600)); err != nil {
			return fmt.Errorf("keep what was found in files: %w", err)
		}
	}
	return nil
}

// write writes the tree down.
func (t *gitTree) write(content *bytes.Buffer) error {
	files := map[string]keptFile{} // environments may share some
	for _, held := range t.held {
		for _, entry := range held {
			files[entry.Path] = keptFile{entry.Path, entry.ID.String(), entry.Mode}
		}
	}
	kept := keptTree{Commit: t.commit, Files: slices.Collect(maps.Values(files))}
	if err := gob.NewEncoder(content).Encode(kept); err != nil {
		return fmt.Errorf("encode a tree: %w", err)
	}
	return t.survey.Encode(content)
}
