package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
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
	memOne, memAll   int64 // peak resident memory in bytes, the worst of the runs
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

func (w *workload) planCommand(with string, more ...string) []string {
	return append([]string{w.program, "plan", "--dir", w.dir, "--with", with}, more...)
}

func (w *workload) oneCommand(more ...string) []string {
	return w.planCommand(benchtree.Image(0)+":"+newTag, more...)
}

// verify looks once that the commands do the whole work before they are timed.
// It also warms the page cache.
func (w *workload) verify(ctx context.Context) error {
	lines := &counter{}
	if _, err := execute(ctx, w.grepCommand(), "", lines); err != nil {
		return err
	}
	if lines.n != w.size.Environments {
		return fmt.Errorf("grep found %d files, want %d", lines.n, w.size.Environments)
	}
	if err := w.verifyPlan(ctx, w.oneCommand("-o", "json"), "", w.size.Environments); err != nil {
		return err
	}
	return w.verifyPlan(ctx, w.planCommand("-", "-o", "json"), w.all, w.allMatches())
}

func (w *workload) verifyPlan(ctx context.Context, command []string, stdin string, want int) error {
	reader, writer := io.Pipe()
	failed := make(chan error, 1)
	go func() {
		_, err := execute(ctx, command, stdin, writer)
		failed <- err
		_ = writer.CloseWithError(err) // a pipe's close cannot fail
	}()
	var plan struct {
		Environments []struct {
			Changes []struct{ To string } `json:"changes"`
		} `json:"environments"`
	}
	decoding := json.NewDecoder(reader).Decode(&plan)
	_, _ = io.Copy(io.Discard, reader) // the rest, so that the command can end
	if err := <-failed; err != nil {
		return err
	}
	if decoding != nil {
		return fmt.Errorf("read the plan: %w", decoding)
	}
	got := 0
	for _, environment := range plan.Environments {
		got += len(environment.Changes)
	}
	if got != want {
		return fmt.Errorf("the plan has %d changes, want %d", got, want)
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
	grep, err := execute(ctx, w.grepCommand(), "", &counter{})
	if err != nil {
		return err
	}
	w.grep = append(w.grep, grep.took)
	took, err := readEveryFile(w.dir, w.size.Len())
	if err != nil {
		return err
	}
	w.read = append(w.read, took)
	one, err := execute(ctx, w.oneCommand(), "", &counter{})
	if err != nil {
		return err
	}
	w.planOne, w.memOne = append(w.planOne, one.took), max(w.memOne, one.memory)
	all, err := execute(ctx, w.planCommand("-"), w.all, &counter{})
	if err != nil {
		return err
	}
	w.planAll, w.memAll = append(w.planAll, all.took), max(w.memAll, all.memory)
	return nil
}

// memoryIsTheirs fails when the peaks could be those of this process (see peak).
func (w *workload) memoryIsTheirs() error {
	own, err := ownPeak()
	if err == nil && min(w.memOne, w.memAll) <= own {
		err = fmt.Errorf("cannot tell the memory of promoter (%s) from that of bench (%s)",
			mebibytes(min(w.memOne, w.memAll)), mebibytes(own))
	}
	return err
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
