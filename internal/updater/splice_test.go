package updater

import (
	"testing"
)

func TestSplice(t *testing.T) {
	t.Parallel()
	got, err := splice([]byte("abcdef"), []replacement{{span: span{4, 5}, text: "XY"}, {span: span{1, 2}}, {span: span{2, 2}, text: "-"}})
	if err != nil || string(got) != "a-cdXYf" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := splice([]byte("abc"), []replacement{{span: span{0, 2}}, {span: span{1, 3}}}); err == nil {
		t.Error("two changes in the same bytes were made")
	}
}
