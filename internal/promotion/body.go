package promotion

// Body returns our part of the text of a pull request, with its markers, at most
// 65,536 runes.
func Body(p Page) string { panic("not written yet") }

// MergeBody returns the text of a pull request with our part replaced. What
// stands outside of the markers is the person's and stays. A text without the
// markers is a person's as a whole.
func MergeBody(existing, ours string) string { panic("not written yet") }
