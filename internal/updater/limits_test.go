package updater_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"promoter/internal/budget"
	"promoter/internal/fault"
	"promoter/internal/updater"
)

// dense returns a file with n references.
func dense(path string, n int) updater.File {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "- image: a/b:%d\n", i)
	}
	return updater.File{Path: path, Read: func() ([]byte, error) { return []byte(text.String()), nil }}
}

// A few kilobytes of a push can be hundreds of files with as many references as fit in:
// the scan stops at the limit, with the files that are to blame.
func TestScan_stopsAtTooManyReferences(t *testing.T) {
	t.Parallel()
	u := updater.New(everything{}, updater.Options{})
	files := []updater.File{dense("small.yaml", 10)}
	for i := range 8 {
		files = append(files, dense(fmt.Sprintf("big%d.yaml", i), 45_000))
	}
	const want = "too many references: more than 200000 in the files of the branch, for example in big"
	_, _, err := u.NewIndex().Next(t.Context(), updater.Difference{Files: files})
	if fault.KindOf(err) != fault.Invalid || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("index: %v", err)
	}
	_, err = u.Scan(t.Context(), func(yield func(updater.File, error) bool) {
		for _, file := range files {
			if !yield(file, nil) {
				return
			}
		}
	})
	if fault.KindOf(err) != fault.Invalid || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("scan: %v", err)
	}
	// The references of commits before count too, and those of removed files do not.
	index := u.NewIndex()
	for i := range 4 {
		if index, _, err = index.Next(t.Context(), updater.Difference{Files: files[1+i : 2+i]}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := index.Next(t.Context(), updater.Difference{Files: files[5:6]}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a fifth file: %v", err)
	}
	if _, _, err := index.Next(t.Context(), updater.Difference{Files: files[5:6], Gone: []string{"big0.yaml"}}); err != nil {
		t.Errorf("a fifth file in place of another: %v", err)
	}
}

func TestScan_isChargedForWhatItParses(t *testing.T) {
	t.Parallel()
	u := updater.New(everything{}, updater.Options{})
	files := []updater.File{dense("a.yaml", 10), dense("b.yaml", 1000)}
	ctx := budget.With(t.Context(), budget.New(budget.Limits{budget.Parsed: {Total: 5000}}))
	_, _, err := u.NewIndex().Next(ctx, updater.Difference{Files: files})
	if !errors.Is(err, budget.ErrExceeded) || !strings.Contains(err.Error(), "more than 5000 bytes of parsed files; most: b.yaml (") {
		t.Errorf("%v", err)
	}
}

func TestScan_stopsWithItsContext(t *testing.T) {
	t.Parallel()
	stopping := errors.New("stopping")
	ctx, cancel := context.WithCancelCause(t.Context())
	u := updater.New(everything{}, updater.Options{Workers: 1})
	file, read := dense("a.yaml", 10), 0
	file.Read = func() ([]byte, error) {
		read++
		cancel(stopping)
		return nil, nil
	}
	if _, _, err := u.NewIndex().Next(ctx, updater.Difference{Files: []updater.File{file, file, file}}); !errors.Is(err, stopping) || read != 1 {
		t.Errorf("%d files were read, %v", read, err)
	}
}
