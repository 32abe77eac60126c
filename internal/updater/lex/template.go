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

// Mask stands for each character of an action in masked text. It is for private use, so that no text has it.
const Mask = '\uE000'

// MaskActions returns the text of a template in which each character of an action is Mask. Lines that
// consist of actions are empty. Lines and columns stay. It returns false if an action does not end,
// or if the text has the mask.
func MaskActions(data []byte) ([]byte, bool) {
	if bytes.ContainsRune(data, Mask) {
		return nil, false
	}
	var masked bytes.Buffer
	comments := TemplateComments(data)
	start := 0
	for {
		open := bytes.Index(data[start:], []byte("{{"))
		if open < 0 {
			break
		}
		open += start
		for len(comments) > 0 && comments[0].Start < open {
			comments = comments[1:]
		}
		end, found := actionEnd(data, open+len("{{"))
		if len(comments) > 0 && comments[0].Start == open {
			end, found = comments[0].End, true
		}
		if !found {
			return nil, false
		}
		masked.Write(data[start:open])
		for _, r := range string(data[open:end]) {
			if r != '\n' && r != '\r' {
				r = Mask
			}
			masked.WriteRune(r)
		}
		start = end
	}
	masked.Write(data[start:])
	return withoutActionLines(masked.Bytes()), true
}

// withoutActionLines empties the lines that have nothing but masks.
func withoutActionLines(masked []byte) []byte {
	var kept bytes.Buffer
	if rest, marked := bytes.CutPrefix(masked, []byte("\ufeff")); marked {
		kept.Write(masked[:len(masked)-len(rest)])
		masked = rest
	}
	for line := range bytes.Lines(masked) {
		rest := bytes.TrimSpace(bytes.ReplaceAll(line, []byte(string(Mask)), nil))
		if len(rest) == 0 {
			line = line[len(bytes.TrimRight(line, "\r\n")):]
		}
		kept.Write(line)
	}
	return kept.Bytes()
}
