package span

import (
	"testing"
)

func TestSplice(t *testing.T) {
	t.Parallel()
	got, err := Splice([]byte("abcdef"), []Replacement{{Span: Span{4, 5}, Text: "XY"}, {Span: Span{1, 2}}, {Span: Span{2, 2}, Text: "-"}})
	if err != nil || string(got) != "a-cdXYf" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := Splice([]byte("abc"), []Replacement{{Span: Span{0, 2}}, {Span: Span{1, 3}}}); err == nil {
		t.Error("two changes in the same bytes were made")
	}
}
