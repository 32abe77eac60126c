package app

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"

	"promoter/internal/config"
	"promoter/internal/git"
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

// keptTree is a tree as it is written down: then follow its files, one by one, and
// its survey.
type keptTree struct {
	Commit string
	Files  int // in its places
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
	file, err := os.Open(filepath.Join(s.dir, name))
	if err != nil {
		return nil, err
	}
	tree, err := readTree(bufio.NewReader(file), of)
	return tree, errors.Join(err, file.Close())
}

// readTree reads what write wrote. The reader hands out single bytes, so that what
// follows the files is left for the survey.
func readTree(content *bufio.Reader, of *surveyor) (*gitTree, error) {
	var kept keptTree
	decoder := gob.NewDecoder(content)
	if err := decoder.Decode(&kept); err != nil {
		return nil, err
	}
	tree, d := newGitTree(of), difference{}
	var err error
	if tree.root, err = of.files.objects.root(kept.Commit); err != nil {
		return nil, err
	}
	for range kept.Files {
		var file keptFile
		if err := decoder.Decode(&file); err != nil {
			return nil, err
		}
		id, err := git.ParseID(file.ID)
		if err != nil {
			return nil, err
		}
		d.now = append(d.now, of.files.objects.entry(file.Path, file.Mode, id))
	}
	if tree.survey, err = of.updater.ReadSurvey(content); err != nil {
		return nil, err
	}
	tree.commit = kept.Commit
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
		if err := surveyor.seen[0].save(filepath.Join(s.dir, name)); err != nil {
			return fmt.Errorf("keep what was found in files: %w", err)
		}
	}
	return nil
}

// save writes the tree into a new file.
func (t *gitTree) save(name string) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	content := bufio.NewWriter(file)
	return errors.Join(t.write(content), content.Flush(), file.Close())
}

// write writes the tree down.
func (t *gitTree) write(content io.Writer) error {
	files := map[string]git.Entry{} // environments may share some
	for _, held := range t.held {
		for _, entry := range held {
			files[entry.Path] = entry
		}
	}
	encoder := gob.NewEncoder(content)
	err := encoder.Encode(keptTree{Commit: t.commit, Files: len(files)})
	for _, entry := range files {
		err = cmp.Or(err, encoder.Encode(keptFile{entry.Path, entry.ID.String(), entry.Mode}))
	}
	if err != nil {
		return fmt.Errorf("encode a tree: %w", err)
	}
	return t.survey.Encode(content)
}
