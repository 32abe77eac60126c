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
	for i := range 10 {
		c.put(&answer{question: question{url: fmt.Sprint(i)}, packed: make([]byte, maxKept/4)})
	}
	if c.find(question{url: "6"}) == nil || c.find(question{url: "9"}) == nil {
		t.Error("the latest are not kept")
	}
	if c.find(question{url: "5"}) != nil || len(c.known) != 4 || c.bytes > maxKept {
		t.Errorf("%d answers with %d bytes are kept", len(c.known), c.bytes)
	}
	c.find(question{url: "6"})
	c.put(&answer{question: question{url: "10"}, packed: make([]byte, maxKept/4)})
	if c.find(question{url: "6"}) == nil || c.find(question{url: "7"}) != nil {
		t.Error("what was asked for last is not kept the longest")
	}
	c.put(&answer{question: question{url: "10"}, packed: make([]byte, maxKept*2)})
	if len(c.known) != 0 || c.bytes != 0 {
		t.Errorf("an answer that is too large leaves %d answers with %d bytes", len(c.known), c.bytes)
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
