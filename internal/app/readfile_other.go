//go:build !unix

package app

// buffers reads files; elsewhere than on Unix it keeps nothing between them.
type buffers struct{}

func newBuffers() *buffers { return &buffers{} }

// read reads a file of at most limit bytes, and one more byte of a larger one,
// by which the caller sees that it is too large.
func (*buffers) read(name string, limit int64) ([]byte, error) {
	return readFile(name, limit)
}
