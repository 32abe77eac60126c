package rendered

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
)

// Command is the name of the hidden command of the program that calls Child.
const Command = "render-manifests"

// Child is the child process: it reads a request, limits itself, renders, and writes the
// result. Nothing that it reads is trusted.
func Child(in io.Reader, out io.Writer) error {
	r, err := readRequest(io.LimitReader(in, 4*maxInput))
	if err != nil {
		return fmt.Errorf("read what to render: %w", err)
	}
	// From here on, no file and no socket can be opened, and memory and time are limited.
	debug.SetMemoryLimit(r.Memory / 2)
	if err := limitProcess(r.Memory); err != nil {
		return fmt.Errorf("limit the process: %w", err)
	}
	if err := json.NewEncoder(out).Encode(build(r)); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}
