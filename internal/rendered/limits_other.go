//go:build !unix

package rendered

import "promoter/internal/fault"

// limitProcess fails: there are no such limits here, and without them nothing is rendered.
func limitProcess(int64) error {
	return fault.New(fault.Invalid, "manifests are rendered on Linux and macOS only")
}
