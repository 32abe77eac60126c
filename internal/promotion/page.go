package promotion

import "promoter/internal/scm"

// Page is what a pull request tells people. It holds no present time: the same
// state makes the same words, so that nothing is edited without need.
type Page struct {
	Proposal
	// Commits are those between two versions, where they may be shown.
	Commits map[Span]scm.Comparison
}

// Span is the way of a component from one source commit to another.
type Span struct {
	Component string
	From, To  string // revisions
}

// SpanOf returns the span of a move; false where a revision is not known or both
// are one.
func SpanOf(m Move) (Span, bool) {
	span := Span{Component: m.Component, From: m.From.Revision, To: m.To.Revision}
	return span, span.From != "" && span.To != "" && span.From != span.To
}
