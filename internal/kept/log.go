package kept

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"promoter/internal/atomicfile"
)

const (
	heading = "promoter kept 1\n" // with the version of the format

	// maxSuperseded is how many bytes of records are superseded at most, or half of the file if that is more. Above
	// that, the file is written again without them.
	maxSuperseded = 16 << 10

	maxName    = 64 << 10 // bytes
	bufferSize = 64 << 10
)

// header begins a record. Its numbers are little endian, and its checksums are CRC-32C.
type header struct {
	Sum      uint32 // of the rest of the header, and of the name
	ValueSum uint32
	Size     int64  // of the value
	Name     uint32 // its size
	Large    bool   // the value is not kept in memory
}

const headerSize = 4 + 4 + 8 + 4 + 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// value is a value of the file.
type value struct {
	header
	at   int64  // of its record
	text string // unless it is large
}

func (v value) begin() int64  { return v.at + headerSize + int64(v.Name) }
func (v value) end() int64    { return v.begin() + v.Size }
func (v value) memory() int64 { return 200 + int64(v.Name) + int64(len(v.text)) } // about

// log is what a file contains.
type log struct {
	known  fs.FileInfo      // the file as it was read or written last; nil: there is none
	values map[string]value // by name
	end    int64            // of the records; 0: there is no heading
	live   int64            // bytes of records that count
	memory int64            // in bytes, about
}

func (l *log) isCurrent(path string) bool {
	if l == nil || l.known == nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(now, l.known) && now.Size() == l.known.Size() && now.ModTime().Equal(l.known.ModTime())
}

// readLog reads the records of a file up to the first one that is not complete and valid. It skips large values.
func readLog(path string) (found *log, err error) {
	_ = atomicfile.Sweep(path) // tried again the next time
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &log{values: map[string]value{}}, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	l := &log{known: info, values: map[string]value{}}
	in, first := bufio.NewReaderSize(file, bufferSize), make([]byte, len(heading))
	if _, err := io.ReadFull(in, first); err != nil || string(first) != heading {
		return l, unlessEnd(err)
	}
	l.end = int64(len(heading))
	for {
		name, v, err := readRecord(in, l.end, info.Size())
		if err != nil || name == "" {
			return l, unlessEnd(err)
		}
		if v.Large {
			if _, err := file.Seek(v.end(), io.SeekStart); err != nil {
				return nil, err
			}
			in.Reset(file)
		}
		l.set(name, v)
	}
}

// readRecord reads the record at an offset of a file of some size. Without a name, it is not valid.
func readRecord(in io.Reader, at, size int64) (string, value, error) {
	head, v := make([]byte, headerSize), value{at: at}
	if _, err := io.ReadFull(in, head); err != nil {
		return "", v, err
	}
	if _, err := binary.Decode(head, binary.LittleEndian, &v.header); err != nil || v.Name > maxName {
		return "", v, err
	}
	name := make([]byte, v.Name)
	if _, err := io.ReadFull(in, name); err != nil {
		return "", v, err
	}
	if sum := crc32.Checksum(append(head[4:], name...), castagnoli); sum != v.Sum || v.Size < 0 || v.Size > size-v.begin() {
		return "", v, nil
	}
	if v.Large {
		return string(name), v, nil
	}
	text := make([]byte, v.Size)
	if _, err := io.ReadFull(in, text); err != nil || crc32.Checksum(text, castagnoli) != v.ValueSum {
		return "", v, err
	}
	v.text = string(text)
	return string(name), v, nil
}

// unlessEnd returns an error that is not about the end of a file.
func unlessEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// set adds a record that ends the file.
func (l *log) set(name string, v value) {
	l.remove(name)
	l.values[name] = v
	l.end = v.end()
	l.live += v.end() - v.at
	l.memory += v.memory()
}

func (l *log) remove(name string) {
	if last, known := l.values[name]; known {
		delete(l.values, name)
		l.live -= last.end() - last.at
		l.memory -= last.memory()
	}
}

func (l *log) superseded() int64 { return l.end - int64(len(heading)) - l.live }

// extend calls a function that appends records to the file.
func (l *log) extend(path string, write func(out *os.File) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := l.begin(out); err != nil {
		return err
	}
	if err := write(out); err != nil {
		return errors.Join(err, out.Truncate(l.end))
	}
	l.known, err = out.Stat()
	return err
}

// begin removes what follows the last record, and writes the heading of a new file.
func (l *log) begin(out *os.File) error {
	if err := out.Truncate(l.end); err != nil || l.end > 0 {
		return err
	}
	l.end = int64(len(heading))
	_, err := out.WriteAt([]byte(heading), 0)
	return err
}

// append appends a record. Its header comes last, so that it is not valid before it is complete.
func (l *log) append(out *os.File, name string, v value, write func(io.Writer) error) error {
	v.at = l.end
	v.Name = uint32(len(name)) //nolint:gosec // names are short
	content := &summed{to: io.NewOffsetWriter(out, v.begin())}
	if err := write(content); err != nil {
		return err
	}
	v.Size = content.size
	v.ValueSum = content.sum
	head, err := binary.Append(nil, binary.LittleEndian, v.header)
	if err != nil {
		return err
	}
	head = append(head, name...)
	binary.LittleEndian.PutUint32(head, crc32.Checksum(head[4:], castagnoli))
	if _, err := out.WriteAt(head, v.at); err != nil {
		return err
	}
	l.set(name, v)
	return nil
}

// summed is a writer with the size and the checksum of what was written.
type summed struct {
	to   io.Writer
	size int64
	sum  uint32
}

func (s *summed) Write(content []byte) (int, error) {
	n, err := s.to.Write(content)
	s.size += int64(n)
	s.sum = crc32.Update(s.sum, castagnoli, content[:n])
	return n, err
}

// rewrite replaces the file with the records that count. They are on the disk first: a power failure must not lose what was
// there for long.
func (l *log) rewrite(path string) (after *log, _ error) {
	after = &log{values: map[string]value{}}
	return after, atomicfile.ReplaceWith(path, func(out *os.File) (err error) {
		before, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, before.Close()) }() // Windows replaces no file that is open
		if err := after.begin(out); err != nil {
			return err
		}
		buffered := bufio.NewWriterSize(io.NewOffsetWriter(out, after.end), bufferSize)
		for name, v := range l.values {
			if _, err := io.Copy(buffered, io.NewSectionReader(before, v.at, v.end()-v.at)); err != nil {
				return err
			}
			v.at = after.end
			after.set(name, v)
		}
		if err := buffered.Flush(); err != nil {
			return err
		}
		if err := out.Sync(); err != nil {
			return err
		}
		after.known, err = out.Stat()
		return err
	})
}
