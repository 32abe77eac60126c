package command

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// openElements are the HTML elements that are open at a place of a comment, of those in which
// text is folded, quoted, struck out, or not displayed. An element can begin in one block and end
// in a later one. When in doubt, an element stays open.
type openElements struct {
	names []string // the innermost last
	lost  bool     // nothing closes what was opened
}

// none reports whether text is displayed as if there were no HTML before it.
func (o *openElements) none() bool { return !o.lost && len(o.names) == 0 }

// read reads the tags of a piece of HTML.
func (o *openElements) read(piece []byte) {
	tokens := html.NewTokenizer(bytes.NewReader(piece))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			o.lost = o.lost || len(tokens.Raw()) > 0 // it ends within a tag
			return
		case html.CommentToken, html.DoctypeToken:
			o.lost = o.lost || !bytes.HasSuffix(tokens.Raw(), []byte(">"))
		case html.StartTagToken, html.SelfClosingTagToken: // only empty elements close themselves
			name, _ := tokens.TagName()
			switch {
			case neverCloses(string(name)):
				o.lost = true
			case hides(string(name)):
				o.names = append(o.names, string(name))
			}
		case html.EndTagToken:
			// A browser ignores some end tags. That of the innermost element is none of them.
			name, _ := tokens.TagName()
			if last := len(o.names) - 1; last >= 0 && o.names[last] == string(name) {
				o.names = o.names[:last]
			}
		case html.TextToken:
		}
	}
}

// hides reports whether what is in an element is not displayed as plain text of the comment.
// https://html.spec.whatwg.org/multipage/indices.html#elements-3
func hides(element string) bool {
	for _, elements := range []string{
		"details summary dialog menu nav",                   // folded, or for navigation
		"blockquote q cite figure aside",                    // of others
		"pre code samp kbd var tt listing",                  // code
		"del s strike ruby rb rp rt rtc bdo sub sup",        // struck out, or out of the line
		"table caption colgroup thead tbody tfoot tr td th", // tables
		"audio video canvas object applet map picture marquee",
		"button datalist fieldset form label legend meter option optgroup output progress",
	} {
		if slices.Contains(strings.Fields(elements), element) {
			return true
		}
	}
	return false
}

// neverCloses reports whether browsers read what is in an element in another way, so that its end
// depends on more than tags.
func neverCloses(element string) bool {
	const elements = "script style template textarea title xmp plaintext iframe noembed noframes noscript select svg math head frameset"
	return slices.Contains(strings.Fields(elements), element)
}
