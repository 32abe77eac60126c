package github

import "promoter/internal/scm"

var (
	_ scm.Forge    = (*Forge)(nil)
	_ scm.Comparer = (*Forge)(nil)
	_ scm.Releases = (*Forge)(nil)
)
