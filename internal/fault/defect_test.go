package fault_test

import (
	"errors"
	"strings"
	"testing"

	"promoter/internal/fault"
)

func survived(do func() error) (err error) {
	defer fault.Survive(&err)
	return do()
}

func TestSurvive(t *testing.T) {
	t.Parallel()
	ours, none := errors.New("ours"), []int{}
	for name, test := range map[string]struct {
		do   func() error
		want string
	}{
		"a panic":            {func() error { panic("broken") }, "a defect of promoter, please report it: panic: broken, in fault_test.TestSurvive."},
		"one of the runtime": {func() error { none[1]++; return nil }, "please report it: panic: runtime error: index out of range [1] with length 0, in fault_test.TestSurvive."},
		"one again": {func() error {
			panic(survived(func() error { panic("inner") }))
		}, "a defect of promoter, please report it: panic: inner, in fault_test.TestSurvive."},
	} {
		err := survived(test.do)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "(defect_test.go:") || fault.KindOf(err) != fault.Internal {
			t.Errorf("%s: %v, %s", name, err, fault.KindOf(err))
		}
	}
	if err := survived(func() error { return ours }); !errors.Is(err, ours) {
		t.Errorf("no panic: %v", err)
	}
	if err := survived(func() error { return nil }); err != nil {
		t.Errorf("nothing: %v", err)
	}
}
