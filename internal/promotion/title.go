package promotion

// Title returns the title of a pull request, at most 250 runes.
func Title(p Page) string { panic("not written yet") }

// CommitMessage returns the subject and the body of the commit of a page; the
// trailers stand after it.
func CommitMessage(p Page) (subject, body string) { panic("not written yet") }
