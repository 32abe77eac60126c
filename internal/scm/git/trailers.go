package git

// Trailer is one line of a commit message for programs: "Key: value".
type Trailer struct{ Key, Value string }

// Trailers are the trailers of a commit message, in its order.
type Trailers []Trailer

// maxTrailerMessage is how many bytes of a message are searched for trailers. A
// longer message has none: whoever writes one hides something.
const maxTrailerMessage = 64 << 10

// ParseTrailers reads the trailers of a commit message by Git's rules.
func ParseTrailers(message string) Trailers {
	if len(message) > maxTrailerMessage {
		return nil
	}
	panic("not implemented")
}

// All returns the values of a key, in their order. Like Git, it knows no
// difference between upper and lower case.
func (t Trailers) All(key string) []string {
	panic("not implemented: " + key)
}

// Message returns the message of a commit: the text, a blank line and the
// trailers. A key or value that would not be read back as it is is an Invalid
// fault: a line break could start a trailer of its own.
func (t Trailers) Message(text string) (string, error) {
	panic("not implemented: " + text)
}
