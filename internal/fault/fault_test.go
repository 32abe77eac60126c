package fault_test

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"promoter/internal/fault"
)

func TestKindOf(t *testing.T) {
	t.Parallel()
	inner := fault.New(fault.NotFound, "tag %s", "v1")
	for _, test := range []struct {
		name string
		err  error
		want fault.Kind
	}{
		{"nil", nil, ""},
		{"an error of others", io.EOF, fault.Internal},
		{"made", inner, fault.NotFound},
		{"wrapped", fmt.Errorf("resolve: %w", inner), fault.NotFound},
		{"the outermost decides", fault.Wrap(fault.Temporary, fmt.Errorf("resolve: %w", inner)), fault.Temporary},
		{"one of several", errors.Join(io.EOF, inner), fault.NotFound},
		{"limited", fault.Limited(time.Time{}, io.EOF), fault.RateLimited},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := fault.KindOf(test.err); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	if err := fault.Wrap(fault.Conflict, nil); err != nil {
		t.Errorf("nil became %v", err)
	}
	err := fault.Wrap(fault.Conflict, io.EOF)
	if err.Error() != "EOF" || !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
}

func TestNew_wrapsItsArguments(t *testing.T) {
	t.Parallel()
	err := fault.New(fault.Invalid, "read %s: %w", "file.yaml", io.ErrUnexpectedEOF)
	if err.Error() != "read file.yaml: unexpected EOF" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
	var e *fault.Error
	if !errors.As(fmt.Errorf("load: %w", err), &e) || e.Kind != fault.Invalid {
		t.Errorf("the chain of %v has no fault", err)
	}
}

func TestRetryAt(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 6, 1, 10, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name string
		err  error
		want time.Time
	}{
		{"the server named a time", fmt.Errorf("list: %w", fault.Limited(at, io.EOF)), at},
		{"the server named none", fault.Limited(time.Time{}, io.EOF), time.Time{}},
		{"another kind", &fault.Error{Kind: fault.Temporary, RetryAt: at, Err: io.EOF}, time.Time{}},
		{"no fault", io.EOF, time.Time{}},
		{"nil", nil, time.Time{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, ok := fault.RetryAt(test.err)
			if ok == test.want.IsZero() || !got.Equal(test.want) {
				t.Errorf("got %v, %v", got, ok)
			}
		})
	}
}

func TestIsPassing_onlyIfAllIs(t *testing.T) {
	t.Parallel()
	passing := fault.Passing("not yet: %w", io.EOF)
	for _, test := range []struct {
		name string
		err  error
		want bool
	}{
		{"none", nil, false},
		{"another", fault.New(fault.Temporary, "x"), false},
		{"it", passing, true},
		{"wrapped", fmt.Errorf("list: %w", fault.Wrap(fault.Temporary, passing)), true},
		{"joined alone", errors.Join(passing, nil), true},
		{"joined with another", fmt.Errorf("list: %w", errors.Join(passing, io.EOF)), false},
		{"inside of another", fmt.Errorf("%w, %w", passing, io.EOF), false},
	} {
		if got := fault.IsPassing(test.err); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
	if kind := fault.KindOf(passing); kind != fault.Temporary {
		t.Errorf("its kind is %s", kind)
	}
}
