package git

import (
	"strings"

	"promoter/internal/fault"
)

// Trailer is one line of a commit message for programs: "Key: value".
type Trailer struct{ Key, Value string }

// Trailers are the trailers of a commit message, in its order.
type Trailers []Trailer

// maxMessage is how many bytes of a message are written, and how many are searched
// for trailers. A longer message has none: whoever writes one hides something.
const maxMessage = 64 << 10

// ParseTrailers reads the trailers of a commit message by Git's rules: they stand
// in the last paragraph, which is not the title, and which holds nothing else but
// where it has a trailer that Git itself makes. A folded value becomes one line.
func ParseTrailers(message string) Trailers {
	message, _, _ = strings.Cut(message, "\x00")
	if len(message) > maxMessage {
		return nil
	}
	var trailers Trailers
	var last *Trailer // the one that an indented line continues
	for _, text := range trailerBlock(messageLines(message)) {
		if last != nil && gitSpace(text[0]) {
			last.Value = trimSpace(last.Value + " " + trimSpace(text))
			continue
		}
		if last = nil; separator(text) > 0 {
			key, value, _ := strings.Cut(text, ":")
			trailers = append(trailers, Trailer{Key: trimSpace(key), Value: trimSpace(value)})
			last = &trailers[len(trailers)-1]
		}
	}
	return trailers
}

// All returns the values of a key, in their order. Like Git, it knows no
// difference between upper and lower case.
func (t Trailers) All(key string) []string {
	var values []string
	for _, trailer := range t {
		if strings.EqualFold(trailer.Key, key) {
			values = append(values, trailer.Value)
		}
	}
	return values
}

// Message returns the message of a commit: the text, a blank line and the
// trailers. What would not be read back as it was given is an Invalid fault: a
// line break in a value, for instance, could start a trailer of its own.
func (t Trailers) Message(text string) (string, error) {
	text = strings.TrimRight(strings.ToValidUTF8(text, "\uFFFD"), " \t\r\n")
	if text == "" || strings.Contains(text, "\x00") {
		return "", fault.New(fault.Invalid, "a commit needs a message of text")
	}
	var message strings.Builder
	message.WriteString(text + "\n")
	if len(t) > 0 {
		message.WriteString("\n")
	}
	for _, trailer := range t {
		message.WriteString(trailer.Key + ": " + trailer.Value + "\n")
	}
	if message.Len() > maxMessage {
		return "", fault.New(fault.Invalid, "a commit message of %d bytes is over the limit of %d", message.Len(), maxMessage)
	}
	if err := t.proveIn(message.String()); err != nil {
		return "", err
	}
	return message.String(), nil
}

// proveIn proves that the message is read back as the trailers; a message without
// trailers may be one of any text.
func (t Trailers) proveIn(message string) error {
	read := ParseTrailers(message)
	for i, trailer := range t {
		if len(read) != len(t) || read[i] != trailer {
			return fault.New(fault.Invalid, "the trailer %.200q of a commit would not be read back as it is", trailer)
		}
	}
	return nil
}
