package cli

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// visible returns the text on one line with everything that does not print
// written as Go would: file names, tags and the words of registries are other
// people's, and a terminal obeys control characters. What programs read is not
// touched: JSON escapes by itself, and a diff must keep its bytes.
func visible(text string) string {
	return escape(text, func(r rune) bool { return strconv.IsPrint(r) })
}

// visibleLine does the same for a line of a file, where tabs are common and a
// carriage return at the end belongs to the line end.
func visibleLine(line string) string {
	body := strings.TrimRight(line, "\r\n")
	return escape(body, func(r rune) bool { return r == '\t' || strconv.IsPrint(r) }) + lineEnd(line[len(body):])
}

// lineEnd keeps one line end of what stands there.
func lineEnd(end string) string {
	extra := strings.TrimSuffix(end, "\r\n")
	if extra == end {
		extra = strings.TrimSuffix(end, "\n")
	}
	return escape(extra, strconv.IsPrint) + end[len(extra):]
}

func escape(text string, plain func(rune) bool) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			b.WriteString(`\x` + strconv.FormatUint(uint64(text[i]), 16)) // a byte over 0x7f has two digits
		case plain(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}
