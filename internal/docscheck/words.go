package docscheck

import "regexp"

// Phrase is a phrase that documentation of this field does not use, with the
// standard term to write instead.
type Phrase struct {
	Pattern *regexp.Regexp
	Instead string
}

// Phrases are the phrases that the tree must not contain in comments, errors, and log
// messages. The list names what once made the code hard to read for newcomers; it is
// no style guide. docs/concepts.md has the terms to use.
func Phrases() []Phrase {
	var phrases []Phrase
	for _, p := range [][2]string{
		{`says? whether`, "reports whether"},
		{`whoever|whomever`, "a user who, any caller that"},
		{`(some|every|no)body('s)?`, "a user, another process, no caller, …"},
		{`anew`, "again"},
		{`heed(s|ed|ing)?`, "apply"},
		{`(is|are|was|were|be|been) told`, "is notified, receives"},
		{`tells? (it|them|us|that|of|whether|which|how|what|who|why|where|when)`, "reports, returns, logs"},
		{`says? (so|that|which|what|how|who|why|where|when)`, "reports, returns, states"},
		{`(is|are|was|were) said`, "is reported"},
		{`looks? (at|after|through|back)|looked (at|after|through)|a look`, "reads, inspects, reconciles, a reconciliation"},
		{`lets? go of`, "releases"},
		{`stands? (there|here|in|behind|beside|on)`, "is at, is in, exists"},
		{`mends?|mended`, "fixes, repairs"},
		{`h[oe]lds? against|held (against|to)`, "validate against, tested with"},
		{`(is|are|was|were) heard|hears? of`, "receives, reads"},
		{`at first hand|in vain|strikes? out`, "directly; without effect; redacts"},
		{`takes? back|took back|taken back`, "reverts"},
		{`whose is|of whom`, "which belongs to; of which user"},
		{`knows? (of|nothing of)`, "lists, contains"},
		{`troubles?`, "error, partial failure"},
		{`lanes?`, "repository queue, reconciler"},
		{`faster than us|was faster`, "non-fast-forward, lost the race"},
	} {
		phrases = append(phrases, Phrase{regexp.MustCompile(`(?i)\b(?:` + p[0] + `)\b`), p[1]})
	}
	return phrases
}
