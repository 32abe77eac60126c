//go:build unix

package checkout

import (
	"io/fs"
	"sync"
	"syscall"
)

// bufferSize is larger than most manifests, in bytes.
const bufferSize = 64 << 10

// reader reads files through buffers that are used again.
type reader struct{ buffers sync.Pool }

func newReader() *reader {
	return &reader{buffers: sync.Pool{New: func() any { return new([bufferSize]byte) }}}
}

// read returns the content of a file: at most limit bytes and one more, so that the
// caller can detect that it is too large. It uses system calls, because os.File makes
// five more per file to prepare for polling: a third of the time of a plan over a
// large tree.
func (r *reader) read(name string, limit int64) ([]byte, error) {
	descriptor, err := open(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	content, err := r.readAll(descriptor, limit)
	if closing := syscall.Close(descriptor); err == nil {
		err = closing
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return content, nil
}

func open(name string) (int, error) {
	for {
		descriptor, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
		if err != syscall.EINTR { // system calls do not wrap it
			return descriptor, err
		}
	}
}

func (r *reader) readAll(descriptor int, limit int64) ([]byte, error) {
	buffer := r.buffers.Get().(*[bufferSize]byte)
	defer r.buffers.Put(buffer)
	content := []byte{}
	for int64(len(content)) <= limit {
		n, err := syscall.Read(descriptor, buffer[:])
		if err == syscall.EINTR { // as above
			continue
		}
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return content, nil
		}
		content = append(content, buffer[:n]...)
	}
	return content[:min(int64(len(content)), limit+1)], nil
}
