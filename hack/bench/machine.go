package main

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
)

// machine describes where the figures were taken.
func machine(folder string) string {
	parts := []string{
		processor(),
		fmt.Sprintf("%d CPUs", runtime.NumCPU()),
		runtime.GOOS + "/" + runtime.GOARCH,
		runtime.Version(),
		"tree on " + filesystem(folder),
	}
	return strings.Join(parts, ", ")
}

func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	found := regexp.MustCompile(`(?m)^model name\s*:\s*(.+)$`).FindSubmatch(text)
	if found == nil {
		return "unknown processor"
	}
	return string(found[1])
}

// filesystem is the type of the mount that holds the folder, as the kernel
// lists it (proc(5), mounts).
func filesystem(folder string) string {
	text, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return "an unknown file system"
	}
	best, kind := "", "an unknown file system"
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || !within(folder, fields[1]) || len(fields[1]) < len(best) {
			continue
		}
		best, kind = fields[1], fields[2]
	}
	return kind
}

func within(folder, mount string) bool {
	return mount == "/" || folder == mount || strings.HasPrefix(folder, mount+"/")
}
