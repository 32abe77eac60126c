package benchworld

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
)

var highWaterMark = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// PeakMemory returns the most memory that a running process has had so far, in MiB.
func PeakMemory(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("read the peak memory: %w", err)
	}
	found := highWaterMark.FindSubmatch(text)
	if found == nil {
		return 0, errors.New("the kernel does not report the peak memory: the process has ended")
	}
	kib, err := strconv.ParseFloat(string(found[1]), 64)
	return kib / 1024, err
}
