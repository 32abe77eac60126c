package secret

import (
	"cmp"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// rereadAfter is how old a secret of a file may be when it is used. The kubelet needs a minute to
// replace a mounted Secret, and reading a file costs some microseconds.
const rereadAfter = time.Second

// Files are secrets in files that are replaced while the process runs, as the kubelet replaces
// mounted Secrets. A file is read again when its secret is used, at most once a second, and when
// the other side refused the secret. A file that cannot be used keeps the secret before.
type Files struct {
	now func() time.Time

	mu    sync.Mutex
	known map[string]*file
	log   *slog.Logger
}

// NewFiles returns Files with a clock.
func NewFiles(now func() time.Time) *Files {
	return &Files{now: now, known: map[string]*file{}, log: slog.New(slog.DiscardHandler)}
}

// LogTo sets the log that receives what is replaced, and what cannot be.
func (f *Files) LogTo(log *slog.Logger) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = log
}

func (f *Files) logger() *slog.Logger {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.log
}

// Secret returns the secret of a file. Read reads the file: an error, which is that of Secret the
// first time, means that its content cannot be used.
func (f *Files) Secret(name string, read func() (string, error)) (String, error) {
	f.mu.Lock()
	known := f.known[name]
	f.mu.Unlock()
	if known != nil {
		return (&value{file: known}).secret(), nil
	}
	text, err := read()
	if err != nil {
		return String{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known[name] == nil { // another caller may have read it
		f.known[name] = &file{
			files: f, name: name, read: read, text: text, checked: f.now(), problems: map[string]string{}, uses: map[string]String{},
		}
	}
	return (&value{file: f.known[name]}).secret(), nil
}

// Problem is a file that was replaced by one that cannot be used. The secret before stays in use.
type Problem struct {
	File   string
	Use    string // what it is used for; empty: the file cannot be read
	Reason string
}

// Problems returns those of all files, sorted.
func (f *Files) Problems() (all []Problem) {
	f.mu.Lock()
	known := make([]*file, 0, len(f.known))
	for _, one := range f.known {
		known = append(known, one)
	}
	f.mu.Unlock()
	for _, one := range known {
		one.refresh()
		all = append(all, one.listProblems()...)
	}
	slices.SortFunc(all, func(a, b Problem) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Use, b.Use)) })
	return all
}

// file is one of Files.
type file struct {
	files *Files
	name  string
	read  func() (string, error)

	mu      sync.Mutex
	text    string
	checked time.Time

	about    sync.Mutex        // for the rest
	problems map[string]string // reasons by use
	uses     map[string]String // secrets with a check, by use
}

// checkedFor returns the secret with the check of a use.
func (f *file) checkedFor(use string, derive func() (*Derived[string], error)) (String, error) {
	f.about.Lock()
	known, ok := f.uses[use]
	f.about.Unlock()
	if ok {
		return known, nil
	}
	derived, err := derive()
	if err != nil {
		return String{}, err
	}
	f.about.Lock()
	defer f.about.Unlock()
	if _, ok := f.uses[use]; !ok {
		f.uses[use] = (&value{file: f, checked: derived}).secret()
	}
	return f.uses[use], nil
}

// current returns the secret, from the file if it was not read for a while.
func (f *file) current() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.files.now(); now.Sub(f.checked).Abs() >= rereadAfter {
		f.load(now)
	}
	return f.text
}

// readAgain reads the file, whenever it was read.
func (f *file) readAgain() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.load(f.files.now())
}

// load is called with the lock held.
func (f *file) load(now time.Time) {
	f.checked = now
	text, err := f.read()
	f.report("", err)
	if err == nil && text != f.text {
		f.text = text
		f.files.logger().Info("secret replaced", slog.String("file", f.name))
	}
}

// report records whether the content can be used, and logs each new problem once.
func (f *file) report(use string, err error) {
	f.about.Lock()
	defer f.about.Unlock()
	if err == nil {
		delete(f.problems, use)
		return
	}
	if f.problems[use] == err.Error() {
		return
	}
	f.problems[use] = err.Error()
	f.files.logger().Warn("secret not replaced: the one before stays in use",
		slog.String("file", f.name), slog.String("use", use), slog.String("error", err.Error()))
}

// refresh reads the file if it was not read for a while, and makes what is derived from it.
func (f *file) refresh() {
	f.current()
	f.about.Lock()
	uses := slices.Collect(maps.Values(f.uses))
	f.about.Unlock()
	for _, one := range uses {
		one.Reveal()
	}
}

func (f *file) listProblems() (all []Problem) {
	f.about.Lock()
	defer f.about.Unlock()
	for use, reason := range f.problems {
		all = append(all, Problem{File: f.name, Use: use, Reason: reason})
	}
	return all
}
