package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
)

// journal keeps the lines that the service prints while the demo continues.
type journal struct {
	mutex  sync.Mutex
	part   []byte // an incomplete line
	lines  []string
	shown  int
	change chan struct{}
}

func newJournal() *journal { return &journal{change: make(chan struct{}, 1)} }

// Write records output.
func (j *journal) Write(p []byte) (int, error) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.part = append(j.part, p...)
	for {
		line, rest, whole := bytes.Cut(j.part, []byte("\n"))
		if !whole {
			break
		}
		j.lines, j.part = append(j.lines, string(line)), rest
	}
	select {
	case j.change <- struct{}{}:
	default:
	}
	return len(p), nil
}

// errOver means that the service will print nothing more.
var errOver = errors.New("promoter serve ended")

// next waits for a matching line among those not shown yet. It returns the
// lines up to it and the submatches of the pattern.
func (j *journal) next(ctx context.Context, over <-chan struct{}, pattern string) (lines, found []string, err error) {
	wanted := regexp.MustCompile(pattern)
	late := time.NewTimer(maxService)
	defer late.Stop()
	for {
		if lines, found := j.look(wanted); found != nil {
			return lines, found, nil
		}
		select {
		case <-j.change:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-over:
			if lines, found := j.look(wanted); found != nil {
				return lines, found, nil
			}
			return nil, nil, errOver
		case <-late.C:
			return nil, nil, fmt.Errorf("promise broken: promoter serve does not say %q, but\n%s", pattern, j.all())
		}
	}
}

func (j *journal) look(wanted *regexp.Regexp) (lines, found []string) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	for i, line := range j.lines[j.shown:] {
		if found := wanted.FindStringSubmatch(line); found != nil {
			lines := j.lines[j.shown : j.shown+i+1]
			j.shown += i + 1
			return lines, found
		}
	}
	return nil, nil
}

func (j *journal) all() string {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return strings.Join(j.lines, "\n")
}
