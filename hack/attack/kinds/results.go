package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// module is the path before each folder in the name of a package.
const module = "promoter/"

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output string
}

// results are the last actions of tests and subtests, by their folder and name.
type results map[string]result

type result struct {
	action string
	output []string
}

func key(folder, test string) string { return folder + " " + test }

func readResults(output []byte) (results, error) {
	all := results{}
	decoder := json.NewDecoder(bytes.NewReader(output))
	for {
		var e event
		if err := decoder.Decode(&e); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the output of go test: %w", err)
		}
		if e.Test == "" {
			continue
		}
		at := key(strings.TrimPrefix(e.Package, module), e.Test)
		one := all[at]
		switch e.Action {
		case "output":
			one.output = append(one.output, e.Output)
		case "pass", "fail", "skip":
			one.action = e.Action
		}
		all[at] = one
	}
}

// counts are how the cases of a kind ended.
type counts struct {
	passed, failed, skipped int
	missing                 string // a test that has no result
}

// count counts the cases of a kind: tests and subtests that have none themselves.
func (r results) count(one kind) (c counts) {
	for _, t := range one.tests {
		for _, name := range t.names {
			if r[key(t.folder, name)].action == "" {
				c.missing = t.folder + " " + name
			}
			top := key(t.folder, name)
			for at, found := range r {
				if at != top && !strings.HasPrefix(at, top+"/") || r.hasParts(at) {
					continue
				}
				switch found.action {
				case "pass":
					c.passed++
				case "skip":
					c.skipped++
				default:
					c.failed++
				}
			}
		}
	}
	return c
}

func (r results) hasParts(at string) bool {
	for other := range r {
		if strings.HasPrefix(other, at+"/") {
			return true
		}
	}
	return false
}

// failures is what the tests that failed print.
func (r results) failures() string {
	var all []string
	for at, one := range r {
		if one.action == "fail" {
			all = append(all, at+"\n"+strings.Join(one.output, ""))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}
