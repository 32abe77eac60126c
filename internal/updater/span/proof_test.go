package span

import (
	"testing"
)

func TestProof_findsWhatChanged(t *testing.T) {
	t.Parallel()
	const before = "# c\na: &x b\nd: [e, *x]\n---\nf: g\n"
	s, err := Parse([]byte(before))
	if err != nil {
		t.Fatal(err)
	}
	wanted := []Change{Set(Scalar{s, findKey(s.Documents[0], "a")}, "z")}
	if err := Prove(s, wanted, []byte("# c\na: &x z\nd: [e, *x]\n---\nf: g\n")); err != nil {
		t.Errorf("the wanted text: %v", err)
	}
	for _, after := range []string{
		before, "# c\na: &x z\nd: [e, *x]\n", "# c\na: &x z\nd: [h, *x]\n---\nf: g\n", "a: &x z\nd: [e, *x]\n---\nf: g\n",
		"# c\na: &y z\nd: [e, *y]\n---\nf: g\n", "# c\na: &x z\nd: [e, z]\n---\nf: g\n", "# c\na: &x z\nd: [e, *x, i]\n---\nf: g\n",
		"# c\na: &x 'z'\nd: [e, *x]\n---\nf: g\n", "# c\na: &x z\nd: [e, \"*x\"]\n---\nf: g\n", "# c\na: &x z\nf: g\n---\nd: [e]\n",
		"# c\na: &x z\nd:\n- e\n- *x\n---\nf: g\n", "# c\na: &x z\nd: [e, *x\n", "# c\na: &x z\nd: [e, *x]\nj: k\n---\nf: g\n",
	} {
		if err := Prove(s, wanted, []byte(after)); err == nil {
			t.Errorf("%q was taken for the wanted text", after)
		}
	}
}
