package rest

import (
	"fmt"
	"strings"
	"testing"

	"promoter/internal/fault"
)

func TestCache_isBounded(t *testing.T) {
	t.Parallel()
	c := newCache(nil)
	put := func(url string, size int) {
		c.kept.Put(question{url: url}, &answer{packed: make([]byte, size)}, int64(size))
	}
	found := func(url string) bool {
		_, kept := c.kept.Get(question{url: url})
		return kept
	}
	for i := range 10 {
		put(fmt.Sprint(i), maxKept/4)
	}
	if !found("6") || !found("9") {
		t.Error("the latest are not kept")
	}
	if found("5") || c.kept.Len() != 4 || c.kept.Size() > maxKept {
		t.Errorf("%d answers with %d bytes are kept", c.kept.Len(), c.kept.Size())
	}
	found("6")
	put("10", maxKept/4)
	if !found("6") || found("7") {
		t.Error("what was asked for last is not kept the longest")
	}
	put("10", maxKept*2)
	if c.kept.Len() != 0 || c.kept.Size() != 0 {
		t.Errorf("an answer that is too large leaves %d answers with %d bytes", c.kept.Len(), c.kept.Size())
	}
}

func TestCache_packs(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(`{"number":7,"title":"Promote web"}`, 1000)
	packed, err := pack([]byte(text))
	if err != nil || len(packed)*20 > len(text) {
		t.Errorf("%d bytes became %d, %v", len(text), len(packed), err)
	}
	if whole, err := unpack(packed); err != nil || string(whole) != text {
		t.Errorf("came back as %d bytes, %v", len(whole), err)
	}
	if _, err := unpack([]byte("no gzip")); fault.KindOf(err) != fault.Internal {
		t.Errorf("got %v", err)
	}
}
