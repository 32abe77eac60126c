//go:build unix

package rendered

import (
	"fmt"
	"syscall"
)

// niceness is the priority of a child process: reconciliations get the processor first.
const niceness = 10

// limitProcess limits this process for the rest of its life. Without a free file descriptor,
// it can open no file, no socket, and no pipe to another program. Descriptors that are open
// stay usable. Data is what the process may write to, its heap among it.
func limitProcess(memory int64) error {
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, niceness) // a container may forbid it, and it is no limit
	for name, limit := range map[int]uint64{
		syscall.RLIMIT_DATA: uint64(max(memory, 0)),
		syscall.RLIMIT_CPU:  uint64(maxTime.Seconds()),
		syscall.RLIMIT_CORE: 0,
	} {
		if err := syscall.Setrlimit(name, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return fmt.Errorf("set the limit %d: %w", name, err)
		}
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{}); err != nil {
		return fmt.Errorf("set the limit of open files: %w", err)
	}
	return nil
}
