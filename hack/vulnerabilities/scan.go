package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// scan is what govulncheck found.
type scan struct {
	goVersion       string // that built the program
	vulnerabilities []vulnerability
}

// vulnerability is a known one with a symbol in the program.
type vulnerability struct {
	id, summary     string
	module, version string // that has it
	fixed           string // the version that fixes it; empty: none is published
}

// message is one of the JSON values that govulncheck prints.
//
// https://pkg.go.dev/golang.org/x/vuln/internal/govulncheck
type message struct {
	Config *struct {
		ScanLevel string `json:"scan_level"`
	} `json:"config"`
	SBOM *struct {
		GoVersion string `json:"go_version"`
	} `json:"SBOM"`
	OSV *struct {
		ID      string `json:"id"`
		Summary string `json:"summary"`
	} `json:"osv"`
	Finding *struct {
		OSV   string `json:"osv"`
		Fixed string `json:"fixed_version"`
		Trace []struct {
			Module   string `json:"module"`
			Version  string `json:"version"`
			Function string `json:"function"`
		} `json:"trace"`
	} `json:"finding"`
}

// readScan reads the output of govulncheck -format json. What concerns only a module or a package is left
// out: none of the vulnerable symbols is in the program.
func readScan(from io.Reader) (found scan, err error) {
	summaries := map[string]string{}
	bySymbol := false
	decoder := json.NewDecoder(from)
	for {
		var m message
		err := decoder.Decode(&m)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return found, err
		}
		switch {
		case m.Config != nil:
			if m.Config.ScanLevel != "symbol" {
				return found, fmt.Errorf("the scan is one of the level %q, not of symbols", m.Config.ScanLevel)
			}
			bySymbol = true
		case m.SBOM != nil:
			found.goVersion = m.SBOM.GoVersion
		case m.OSV != nil:
			summaries[m.OSV.ID] = m.OSV.Summary
		case m.Finding != nil && len(m.Finding.Trace) > 0 && m.Finding.Trace[0].Function != "":
			at := m.Finding.Trace[0]
			found.vulnerabilities = append(found.vulnerabilities, vulnerability{
				id: m.Finding.OSV, module: at.Module, version: at.Version, fixed: m.Finding.Fixed,
			})
		}
	}
	if !bySymbol || found.goVersion == "" {
		return found, errors.New("it lacks the level of the scan, or the version of Go")
	}
	for i := range found.vulnerabilities {
		found.vulnerabilities[i].summary = summaries[found.vulnerabilities[i].id]
	}
	slices.SortFunc(found.vulnerabilities, func(a, b vulnerability) int {
		return strings.Compare(a.id+a.module+a.version+a.fixed, b.id+b.module+b.version+b.fixed)
	})
	found.vulnerabilities = slices.Compact(found.vulnerabilities) // one for each symbol
	return found, nil
}
