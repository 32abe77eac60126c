//go:build unix

package app

import (
	"io/fs"
	"sync"
	"syscall"
)

// smallFile is the size in bytes up to which a file is read into a buffer that
// is used again. Most manifests are smaller.
const smallFile = 64 << 10

// buffers reads files through buffers that are used again.
type buffers struct{ pool sync.Pool }

// newBuffers returns buffers of smallFile bytes.
func newBuffers() *buffers {
	return &buffers{pool: sync.Pool{New: func() any { return new([smallFile]byte) }}}
}

// read reads a file of at most limit bytes, and one more byte of a larger one,
// by which the caller sees that it is too large. It asks the system directly: an
// os.File is prepared for waiting, with five more calls for each file, which is
// a third of the time of a plan over a large tree.
func (b *buffers) read(name string, limit int64) ([]byte, error) {
	descriptor, err := open(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	content, err := b.readAll(descriptor, limit)
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
		if err != syscall.EINTR { // a system call returns the number itself
			return descriptor, err
		}
	}
}

func (b *buffers) readAll(descriptor int, limit int64) ([]byte, error) {
	buffer := b.pool.Get().(*[smallFile]byte)
	defer b.pool.Put(buffer)
	content := []byte{}
	for int64(len(content)) <= limit {
		n, err := syscall.Read(descriptor, buffer[:])
		if err == syscall.EINTR { // a system call returns the number itself
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
