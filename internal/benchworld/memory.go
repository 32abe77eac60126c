package benchworld

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
)

var (
	highWaterMark = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)
	filePages     = regexp.MustCompile(`RssFile:\s+(\d+) kB`)
)

// PeakMemory returns the most memory that a running process has had so far, in MiB.
func PeakMemory(pid int) (float64, error) {
	peak, _, err := memoryOf(pid)
	return peak, err
}

// PeakOwnMemory is like PeakMemory without the pages of files: those of the program's own file, which are mapped
// since its start.
func PeakOwnMemory(pid int) (float64, error) {
	peak, file, err := memoryOf(pid)
	return peak - file, err
}

// memoryOf returns the peak, and the pages of files now, in MiB. See proc_pid_status(5).
func memoryOf(pid int) (peak, file float64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, fmt.Errorf("read the peak memory: %w", err)
	}
	of := func(line *regexp.Regexp) float64 {
		found := line.FindSubmatch(text)
		if found == nil {
			err = errors.New("the kernel does not report the peak memory: the process has ended")
			return 0
		}
		kib, failed := strconv.ParseFloat(string(found[1]), 64)
		err = errors.Join(err, failed)
		return kib / 1024
	}
	peak, file = of(highWaterMark), of(filePages)
	return peak, file, err
}
