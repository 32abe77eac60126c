package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// readJobs returns the mutants of groups of code.
func readJobs(root fs.FS, groups []group) ([]job, error) {
	var jobs []job
	for _, g := range groups {
		functions, err := regexp.Compile(g.functions)
		if err != nil {
			return nil, err
		}
		before := len(jobs)
		for _, pattern := range g.files {
			names, err := fs.Glob(root, pattern)
			if err != nil {
				return nil, err
			}
			if len(names) == 0 {
				return nil, fmt.Errorf("no file is called %s: correct hack/mutants/table.go", pattern)
			}
			for _, name := range names {
				if strings.HasSuffix(name, "_test.go") {
					continue
				}
				source, err := fs.ReadFile(root, name)
				if err != nil {
					return nil, err
				}
				mutants, err := mutate(name, string(source), functions)
				if err != nil {
					return nil, err
				}
				for _, one := range mutants {
					jobs = append(jobs, job{one, g.tests})
				}
			}
		}
		if len(jobs) == before {
			return nil, fmt.Errorf("%s has no function that matches %q: correct hack/mutants/table.go", g.files[0], g.functions)
		}
	}
	return jobs, nil
}

// verdict is what became of a mutant.
type verdict string

const (
	killed       verdict = "killed"
	notCompiling verdict = "not compiling"
	equivalent   verdict = "equivalent" // it survived, and has an entry
	survived     verdict = "SURVIVED"
	notRun       verdict = "not run"
)

// result counts the mutants, and lists those that no test noticed.
type result struct {
	count     map[verdict]int
	survivors []mutant
}

func (r *result) print(out io.Writer) {
	all := 0
	for _, n := range r.count {
		all += n
	}
	fmt.Fprintf(out, "\n%-14s %5d\n", "mutants", all)
	for _, one := range []verdict{killed, equivalent, notCompiling, notRun, survived} {
		fmt.Fprintf(out, "%-14s %5d\n", one, r.count[one])
	}
	slices.SortFunc(r.survivors, func(a, b mutant) int { return strings.Compare(a.key(), b.key()) })
	for _, one := range r.survivors {
		fmt.Fprintf(out, "%s:%d: %s\n", one.file, one.line, one.key())
	}
}

// runner tests mutants.
type runner struct {
	root    string
	out     io.Writer
	reasons map[string]string        // of the entries of equivalent.txt
	limits  map[string]time.Duration // of a run of tests, by its name
	mutex   sync.Mutex
	result  result
}

func (t tests) name() string { return strings.Join(t.packages, " ") + " " + t.run }

// measure runs all tests without a mutant, because a test that fails anyway would kill all of
// them, and limits how long they may take with one.
func (r *runner) measure(ctx context.Context, jobs []job) error {
	r.result.count = map[verdict]int{}
	for _, one := range jobs {
		for _, tests := range one.tests {
			if r.limits[tests.name()] > 0 {
				continue
			}
			output, err := r.goTest(ctx, tests, 30*time.Minute)
			if err != nil {
				return fmt.Errorf("%s fails without a mutant: %w\n%s", tests.name(), err, output)
			}
			if strings.Contains(output, "[no tests to run]") {
				return fmt.Errorf("%s matches no test: correct hack/mutants/table.go", tests.name())
			}
			begin := time.Now() // the packages are built now
			if _, err = r.goTest(ctx, tests, 30*time.Minute); err != nil {
				return fmt.Errorf("%s passes only sometimes: %w", tests.name(), err)
			}
			r.limits[tests.name()] = 30*time.Second + 5*time.Since(begin)
		}
	}
	return nil
}

// runAll tests the mutants, some of them at the same time.
func (r *runner) runAll(ctx context.Context, jobs []job, o options) error {
	scratch, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	begin := time.Now()
	next := make(chan job)
	var running sync.WaitGroup
	var failures []error
	for i := range max(1, o.atOnce) {
		folder := filepath.Join(scratch, fmt.Sprint(i))
		running.Go(func() {
			for one := range next {
				late := o.length > 0 && time.Since(begin) > o.length
				if err := r.runOne(ctx, folder, one, late); err != nil {
					r.mutex.Lock()
					failures = append(failures, err)
					r.mutex.Unlock()
				}
			}
		})
	}
	for _, one := range jobs {
		next <- one
	}
	close(next)
	running.Wait()
	return errors.Join(append(failures, ctx.Err())...)
}

// runOne tests one mutant, and notes the verdict.
func (r *runner) runOne(ctx context.Context, folder string, one job, late bool) error {
	found := notRun
	if !late && ctx.Err() == nil {
		var err error
		if found, err = r.judge(ctx, folder, one); err != nil {
			return err
		}
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if _, listed := r.reasons[one.key()]; listed && found == survived {
		found = equivalent
	}
	r.result.count[found]++
	switch found {
	case survived:
		r.result.survivors = append(r.result.survivors, one.mutant)
		fmt.Fprintf(r.out, "%s %s:%d: %s\n", found, one.file, one.line, one.key())
	case killed:
		if _, listed := r.reasons[one.key()]; listed {
			return fmt.Errorf("equivalent.txt: a test notices %q", one.key())
		}
	}
	return nil
}

// judge runs the tests with a mutant until one fails.
func (r *runner) judge(ctx context.Context, folder string, one job) (verdict, error) {
	overlay, err := r.overlay(folder, one.mutant)
	if err != nil {
		return "", err
	}
	for _, tests := range one.tests {
		output, err := r.goTest(ctx, tests, r.limits[tests.name()], "-overlay", overlay)
		switch {
		case ctx.Err() != nil:
			return notRun, nil //nolint:nilerr // runAll returns the interruption
		case err == nil:
		case strings.Contains(output, "[setup failed]"):
			return "", fmt.Errorf("%s: %w\n%s", one.key(), err, output)
		case strings.Contains(output, "[build failed]"):
			return notCompiling, nil
		default:
			return killed, nil
		}
	}
	return survived, nil
}

// overlay writes a mutant, and the file that makes the go command take it instead of the
// original.
func (r *runner) overlay(folder string, one mutant) (string, error) {
	original, err := filepath.Abs(filepath.Join(r.root, one.file))
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	changed := filepath.Join(folder, filepath.Base(one.file))
	if err := os.WriteFile(changed, []byte(one.apply()), 0o600); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(folder, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}

// goTest runs tests until the first failure. It returns their output and an error if they fail
// or take longer than a limit.
func (r *runner) goTest(ctx context.Context, t tests, limit time.Duration, flags ...string) (string, error) {
	args := slices.Concat([]string{"test", "-count=1", "-failfast", "-vet=off", "-timeout", limit.String(), "-run", t.run}, flags, t.packages)
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir, command.Env = r.root, append(os.Environ(), "CGO_ENABLED=0")
	output, err := command.CombinedOutput()
	return string(output), err
}
