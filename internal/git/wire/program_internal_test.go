package wire

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
)

// closedInput is the input of a program that has ended.
type closedInput struct{ bytes.Buffer }

func (*closedInput) Close() error { return os.ErrClosed }

// A program may send its whole response and exit before its input is closed.
func TestProgram_exitsBeforeItsInputIsClosed(t *testing.T) {
	t.Parallel()
	p := &program{stdin: &closedInput{}, stdout: strings.NewReader("response")}
	answer, err := p.exchange(t.Context(), []byte("request"))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(answer); err != nil || string(text) != "response" {
		t.Errorf("%q, %v", text, err)
	}
}
