package scan

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"promoter/internal/config"
	"promoter/internal/git/object"
	"promoter/internal/kept"
	"promoter/internal/promotion"
)

// version is part of the key of every saved scan. Increase it whenever the scanner
// finds something else in the same files, a config selects other files, or the
// encoding changes: a saved scan of another version must not be used.
const version = 19

// Cache keeps what was found in the commits of one repository, for each config and
// group of environments. It is safe for concurrent use, except for Save.
type Cache struct {
	file     *kept.File
	memory   *Memory
	mutex    sync.Mutex
	scanners map[string]*commitScanner
}

// NewCache returns a cache that loads scans from the memory, which may be nil, or from a
// file, which only Save writes to.
func NewCache(file *kept.File, memory *Memory) *Cache {
	return &Cache{file: file, memory: memory, scanners: map[string]*commitScanner{}}
}

// Commit scans the files of a commit for some of the environments on a branch.
func (c *Cache) Commit(ctx context.Context, repository Repository, request Request, commit string) (*Tree, error) {
	wanted := request.Environments
	request.Environments = sameBranches(request.Config, wanted)
	scanner := c.scanner(ctx, repository, request)
	found, err := scanner.scan(ctx, commit)
	if err != nil {
		return nil, err
	}
	if len(wanted) == len(request.Environments) {
		return scanner.newTree(found, found.targets), nil
	}
	targets := maps.Clone(found.targets)
	maps.DeleteFunc(targets, func(target promotion.Target, _ promotion.Current) bool {
		return !slices.Contains(wanted, target.Environment)
	})
	return scanner.newTree(found, targets), nil
}

// sameBranches returns all environments on the branches of the given ones, in the
// order of the config. They are scanned together, because they are needed one after
// the other.
func sameBranches(c *config.Config, environments []string) []string {
	branches := map[string]bool{}
	for _, name := range environments {
		environment, _ := c.Environment(name)
		branches[environment.Branch] = true
	}
	var all []string
	for _, environment := range c.Environments {
		if branches[environment.Branch] {
			all = append(all, environment.Name)
		}
	}
	return all
}

// scanner returns the scanner for everything that its results depend on.
func (c *Cache) scanner(ctx context.Context, repository Repository, request Request) *commitScanner {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%s\n%d\n%s",
		version, request.Config.Fingerprint(), request.MaxFileSize, strings.Join(request.Environments, "\n")))
	key := hex.EncodeToString(sum[:16])
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if known, ok := c.scanners[key]; ok {
		return known
	}
	scanner := newCommitScanner(repository, request)
	if kept := c.memory.load(c.file.Path())[key]; kept != nil {
		scanner.recent = append(scanner.recent, kept)
	} else if saved, err := scanner.load(ctx, c.file, key); err == nil { // an unusable scan is as good as none
		scanner.recent = append(scanner.recent, saved)
	}
	c.scanners[key] = scanner
	return scanner
}

// maxUnsaved is in how many files a scan may differ from the one in the file: reading so
// many again costs less than writing all.
const maxUnsaved = 100

// Keep keeps the latest scans in the memory. Without any, what is there stays.
func (c *Cache) Keep() {
	if len(c.scanners) == 0 {
		return
	}
	latest := map[string]*snapshot{}
	for key, scanner := range c.scanners {
		if len(scanner.recent) > 0 {
			latest[key] = scanner.recent[0]
		}
	}
	c.memory.store(c.file.Path(), latest)
}

// savedPrefix begins the names of scans in the file. Their keys follow.
const savedPrefix = "scan "

// Save writes the latest scans to the file, unless those there are nearly the same, and
// removes all others: they belong to configs that changed. Without any scan, what is there stays.
func (c *Cache) Save() error {
	if len(c.scanners) == 0 {
		return nil
	}
	// What is written again is removed first, so that the file never has it twice.
	if err := forget(c.file, func(key string) bool { return c.scanners[key] == nil || c.scanners[key].differs() }); err != nil {
		return err
	}
	for key, scanner := range c.scanners {
		if !scanner.differs() {
			continue
		}
		if err := c.file.Write(savedPrefix+key, scanner.recent[0].encode); err != nil {
			return fmt.Errorf("save the scan of files: %w", err)
		}
		written := *scanner.recent[0]
		written.unsaved = 0
		scanner.recent[0] = &written
	}
	return nil
}

// differs reports whether the latest scan must be saved.
func (s *commitScanner) differs() bool {
	return len(s.recent) > 0 && s.recent[0].unsaved > maxUnsaved
}

// Forget removes all scans from a file.
func Forget(file *kept.File) error {
	return forget(file, func(string) bool { return true })
}

func forget(file *kept.File, selects func(key string) bool) error {
	err := file.Forget(func(name string) bool {
		key, isScan := strings.CutPrefix(name, savedPrefix)
		return isScan && selects(key)
	})
	if err != nil {
		return fmt.Errorf("forget scans of files: %w", err)
	}
	return nil
}

// savedScan begins a saved snapshot. The files and the index follow.
type savedScan struct {
	Commit string
	Files  int
}

// savedFile is a file of a saved snapshot.
type savedFile struct {
	Path, ID string
	Mode     object.Mode
}

func (s *snapshot) encode(w io.Writer) error {
	files := map[string]gitFile{} // environments may share some
	for _, entries := range s.files {
		maps.Copy(files, entries)
	}
	encoder := gob.NewEncoder(w)
	if err := encoder.Encode(savedScan{Commit: s.commit, Files: len(files)}); err != nil {
		return err
	}
	for path, file := range files {
		if err := encoder.Encode(savedFile{path, file.id.String(), file.mode}); err != nil {
			return err
		}
	}
	return s.index.Encode(w)
}

// load reads what Save wrote.
func (s *commitScanner) load(ctx context.Context, file *kept.File, key string) (*snapshot, error) {
	var found *snapshot
	err := file.Read(savedPrefix+key, func(saved io.Reader) (err error) {
		// The decoder reads single bytes from the buffer, so that the index is left in it.
		found, err = s.decode(ctx, bufio.NewReader(saved))
		return err
	})
	return found, err
}

func (s *commitScanner) decode(ctx context.Context, content *bufio.Reader) (*snapshot, error) {
	var saved savedScan
	decoder := gob.NewDecoder(content)
	if err := decoder.Decode(&saved); err != nil {
		return nil, err
	}
	root, err := s.repository.Root(saved.Commit)
	if err != nil {
		return nil, err
	}
	var all difference
	for range saved.Files {
		var file savedFile
		if err := decoder.Decode(&file); err != nil {
			return nil, err
		}
		id, err := object.ParseID(file.ID)
		if err != nil {
			return nil, err
		}
		all.files = append(all.files, s.repository.Entry(file.Path, file.Mode, id))
	}
	found := &snapshot{commit: saved.Commit, root: root}
	if found.index, err = s.updater.ReadIndex(content); err != nil {
		return nil, err
	}
	if found.files, _, err = s.applyDifference(ctx, nil, all); err != nil {
		return nil, err
	}
	found.links = s.linksAfter(nil, all)
	found.others = found.index.Others()
	s.examineAll(found)
	return found, nil
}
