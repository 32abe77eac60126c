// Package version stands for the parser of the versions of clusters.
package version

import "errors"

// Version is the version of a cluster.
type Version struct{ major, minor uint }

// ParseGeneric returns an error: Helm parses the version of a cluster that the user names, and promoter names none.
func ParseGeneric(string) (*Version, error) {
	return nil, errors.New("versions of clusters are not parsed")
}

// Major returns the first number.
func (v *Version) Major() uint { return v.major }

// Minor returns the second number.
func (v *Version) Minor() uint { return v.minor }

// String returns the version; empty: none was parsed.
func (*Version) String() string { return "" }
