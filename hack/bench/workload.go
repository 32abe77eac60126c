package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"promoter/internal/benchtree"
)

// newTag is what the measured plans move to.
const newTag = "1.5.0"

// workload is one tree and what was measured on it.
type workload struct {
	dir, program string
	size         benchtree.Size
	all          string // the list of all versions, as --with - reads it

	grep, read       samples
	planOne, planAll samples
	memOne, memAll   peak // the worst of the runs
}

func newWorkload(dir, program string, size benchtree.Size) (*workload, error) {
	if err := size.Write(dir); err != nil {
		return nil, err
	}
	var all strings.Builder
	for _, image := range size.Images() {
		fmt.Fprintf(&all, "%s:%s\n", image, newTag)
	}
	return &workload{dir: dir, program: program, size: size, all: all.String()}, nil
}

func (w *workload) String() string {
	return fmt.Sprintf("%d files; one image matches %d of them (%.3g %%), all %d images match %d (%.3g %%)",
		w.size.Len(), w.size.Environments, w.share(w.size.Environments),
		w.size.Applications, w.allMatches(), w.share(w.allMatches()))
}

func (w *workload) allMatches() int         { return w.size.Applications * w.size.Environments }
func (w *workload) share(files int) float64 { return 100 * float64(files) / float64(w.size.Len()) }

func (w *workload) grepCommand() []string {
	return []string{"grep", "-rlF", benchtree.Image(0), w.dir}
}

func (w *workload) oneCommand() []string {
	return w.planCommand(benchtree.Image(0) + ":" + newTag)
}

func (w *workload) allCommand() []string { return w.planCommand("-") }

func (w *workload) planCommand(with string) []string {
	return []string{w.program, "plan", "--dir", w.dir, "--with", with}
}

// verify looks once that the commands do the whole work before they are timed.
// It also warms the page cache.
func (w *workload) verify(ctx context.Context) error {
	matching := &counter{}
	if _, err := execute(ctx, w.grepCommand(), nil, matching); err != nil {
		return err
	}
	if matching.lines != w.size.Environments {
		return fmt.Errorf("grep found %d files, want %d", matching.lines, w.size.Environments)
	}
	if err := w.verifyPlan(ctx, w.oneCommand(), "", w.size.Environments); err != nil {
		return err
	}
	return w.verifyPlan(ctx, w.allCommand(), w.all, w.allMatches())
}

// verifyPlan counts the new lines of the diff: one for each image.
func (w *workload) verifyPlan(ctx context.Context, command []string, stdin string, want int) error {
	changes := &counter{start: []byte("+    newTag: ")}
	if _, err := execute(ctx, command, strings.NewReader(stdin), changes); err != nil {
		return err
	}
	if changes.lines != want {
		return fmt.Errorf("the plan has %d changes, want %d", changes.lines, want)
	}
	return nil
}

// measure takes the figures in turns, so that a slow moment of the machine meets
// all of them.
func (w *workload) measure(ctx context.Context, runs int) error {
	for range runs {
		if err := w.measureOnce(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (w *workload) measureOnce(ctx context.Context) error {
	grep, err := execute(ctx, w.grepCommand(), nil, &counter{})
	if err != nil {
		return err
	}
	read, err := readEveryFile(w.dir, w.size.Len())
	if err != nil {
		return err
	}
	one, err := execute(ctx, w.oneCommand(), nil, &counter{})
	if err != nil {
		return err
	}
	all, err := execute(ctx, w.allCommand(), strings.NewReader(w.all), &counter{})
	if err != nil {
		return err
	}
	w.grep, w.read = append(w.grep, grep), append(w.read, read)
	w.planOne, w.planAll = append(w.planOne, one), append(w.planAll, all)
	return nil
}

// memoryRuns: the peak depends on when the garbage collector runs, so the worst
// of a few counts.
const memoryRuns = 3

func (w *workload) measureMemory(ctx context.Context) error {
	for range memoryRuns {
		one, err := peakOf(ctx, w.oneCommand(), "")
		if err != nil {
			return err
		}
		all, err := peakOf(ctx, w.allCommand(), w.all)
		if err != nil {
			return err
		}
		w.memOne, w.memAll = w.memOne.atLeast(one), w.memAll.atLeast(all)
	}
	return nil
}

// readEveryFile is the loop that the plan over all images is compared with.
func readEveryFile(dir string, want int) (time.Duration, error) {
	begin, files := time.Now(), 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		_, err = os.ReadFile(path)
		return err
	})
	took := time.Since(begin)
	if err == nil && files != want {
		err = fmt.Errorf("read %d files, want %d", files, want)
	}
	return took, err
}
