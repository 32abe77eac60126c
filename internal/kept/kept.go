// Package kept keeps what is remembered about a repository in one file beside its mirror, from one use of the mirror to
// the next, also of another process. The lock of the mirror keeps other writers out.
//
// The file is a log, so that the change of a small value is a small write. After the heading, each record has a header, the
// name of a value, and the value. The latest record of a name counts. The first one that is incomplete or damaged ends the
// file, as a process that was killed leaves it: the next record takes its place. A file with another heading is like none.
package kept

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"sync"
)

// File is the file of a repository. It is safe for concurrent use. Only one File may be in use for a path.
type File struct {
	path  string
	mutex sync.Mutex
	log   *log // nil: not read
}

// At returns the file at a path, which is read when it is needed.
func At(path string) *File { return &File{path: path} }

// Path returns the path of the file.
func (f *File) Path() string { return f.path }

// IsCurrent reports whether the file was read, and nothing else changed it since.
func (f *File) IsCurrent() bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.log.isCurrent(f.path)
}

// Memory estimates the memory that the values need, in bytes.
func (f *File) Memory() int64 {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.log == nil {
		return 0
	}
	return f.log.memory
}

// Get returns a value that Put wrote.
func (f *File) Get(name string) (text string, known bool, err error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if err := f.load(); err != nil {
		return "", false, err
	}
	v, known := f.log.values[name]
	return v.text, known, nil
}

// Put keeps values by name. They stay in memory too.
func (f *File) Put(values map[string]string) error {
	return f.add(func(out *os.File) error {
		for name, text := range values {
			write := func(to io.Writer) error {
				_, err := io.WriteString(to, text)
				return err
			}
			if err := f.log.append(out, name, value{text: text}, write); err != nil {
				return err
			}
		}
		return nil
	})
}

// Read calls a function with a value that Write wrote. It fails if there is none, or if it is damaged.
func (f *File) Read(name string, read func(io.Reader) error) (err error) {
	file, v, err := f.open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sum := crc32.New(castagnoli)
	if _, err := io.Copy(sum, io.NewSectionReader(file, v.begin(), v.Size)); err != nil {
		return err
	}
	if sum.Sum32() != v.ValueSum {
		return fmt.Errorf("%s is damaged", f.path)
	}
	return read(io.NewSectionReader(file, v.begin(), v.Size))
}

func (f *File) open(name string) (*os.File, value, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if err := f.load(); err != nil {
		return nil, value{}, err
	}
	v, known := f.log.values[name]
	if !known {
		return nil, v, fs.ErrNotExist
	}
	file, err := os.Open(f.path)
	return file, v, err
}

// Write keeps a value that a function writes, to a buffer. It is never in memory as a whole.
func (f *File) Write(name string, write func(io.Writer) error) error {
	return f.add(func(out *os.File) error {
		return f.log.append(out, name, value{header: header{Large: true}}, func(to io.Writer) error {
			buffered := bufio.NewWriterSize(to, bufferSize)
			if err := write(buffered); err != nil {
				return err
			}
			return buffered.Flush()
		})
	})
}

// Forget forgets the values whose names a function selects.
func (f *File) Forget(selects func(name string) bool) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if err := f.reload(); err != nil {
		return err
	}
	before := len(f.log.values)
	for name := range f.log.values {
		if selects(name) {
			f.log.remove(name)
		}
	}
	if len(f.log.values) == before {
		return nil
	}
	return f.rewrite()
}

// Load decodes a value that Store wrote. Without one, or if it is of another type, it returns a zero value.
func Load[T any](f *File, name string) (T, error) {
	var none, found T
	text, _, err := f.Get(name)
	if err != nil || json.Unmarshal([]byte(text), &found) != nil {
		return none, err
	}
	return found, nil
}

// Store keeps a value as JSON.
func Store(f *File, name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return f.Put(map[string]string{name: string(text)})
}

func (f *File) load() error {
	if f.log != nil {
		return nil
	}
	found, err := readLog(f.path)
	if err != nil {
		return err // also the next time: what was read before the error is not all
	}
	f.log = found
	return nil
}

// reload reads the file again if something else changed it, such as a user who deletes the cache.
func (f *File) reload() error {
	if !f.log.isCurrent(f.path) {
		f.log = nil
	}
	return f.load()
}

// add calls a function that appends records.
func (f *File) add(write func(out *os.File) error) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if err := f.reload(); err != nil {
		return err
	}
	if err := f.log.extend(f.path, write); err != nil {
		f.log = nil // it is read again
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	if f.log.superseded() <= max(maxSuperseded, f.log.end/2) {
		return nil
	}
	return f.rewrite()
}

func (f *File) rewrite() error {
	after, err := f.log.rewrite(f.path)
	if err != nil {
		f.log = nil
		return fmt.Errorf("rewrite %s: %w", f.path, err)
	}
	f.log = after
	return nil
}
