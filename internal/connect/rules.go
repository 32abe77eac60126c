package connect

import (
	"promoter/internal/comments"
	"promoter/internal/connect/rules"
	"promoter/internal/promotion"
)

// Limits returns the limits of the server file for a repository that is open.
func (s *Server) Limits(r *Repository) promotion.Limits { return rules.Limits(s.File, r.name) }

// Permissions returns which users may give commands in a repository that is open.
func (s *Server) Permissions(r *Repository) comments.Permissions {
	return rules.Permissions(s.File, r.SCM)
}

// Bypasses returns who may bypass conditions and gates in a repository that is open.
func (s *Server) Bypasses(r *Repository) comments.Bypasses { return rules.Bypasses(s.File, r.SCM) }
