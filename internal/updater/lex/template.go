package lex

import "bytes"

// Comment is the range of bytes of a comment.
type Comment struct{ Start, End int }

// TemplateComments returns the comments of the template language. Everything else counts
// as text: a line that is taken for a comment would keep its old version without a
// refusal. So a comment is only what text/template takes for one, and there is none after
// something that it does not accept.
// https://pkg.go.dev/text/template#hdr-Actions
func TemplateComments(data []byte) (comments []Comment) {
	for at := 0; ; {
		open := bytes.Index(data[at:], []byte("{{"))
		if open < 0 {
			return comments
		}
		start := at + open
		inner := start + len("{{")
		if rest := data[inner:]; len(rest) > 1 && rest[0] == '-' && isTemplateSpace(rest[1]) {
			inner += 2
		}
		if !bytes.HasPrefix(data[inner:], []byte("/*")) {
			end, found := actionEnd(data, inner)
			if !found {
				return comments
			}
			at = end
			continue
		}
		inner += len("/*")
		closing := bytes.Index(data[inner:], []byte("*/"))
		if closing < 0 {
			return comments
		}
		end := inner + closing + len("*/")
		if rest := data[end:]; len(rest) > 1 && isTemplateSpace(rest[0]) && rest[1] == '-' {
			end += 2
		}
		if !bytes.HasPrefix(data[end:], []byte("}}")) {
			return comments
		}
		at = end + len("}}")
		comments = append(comments, Comment{Start: start, End: at})
	}
}

// actionEnd returns the offset after the action that contains an offset. Its end is not
// within a quoted text.
func actionEnd(data []byte, at int) (int, bool) {
	for at < len(data) {
		switch c := data[at]; {
		case c == '`':
			closing := bytes.IndexByte(data[at+1:], '`')
			if closing < 0 {
				return 0, false
			}
			at += closing + 2
		case c == '"' || c == '\'':
			for at++; at < len(data) && data[at] != c; at++ {
				switch data[at] {
				case '\\':
					at++
				case '\n':
					return 0, false
				}
			}
			at++
		case bytes.HasPrefix(data[at:], []byte("}}")):
			return at + len("}}"), true
		default:
			at++
		}
	}
	return 0, false
}

func isTemplateSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
