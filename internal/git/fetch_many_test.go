package git_test

import (
	"fmt"
	"strings"
	"testing"
)

// With more branches than a pipe has room for, a server that refuses what is wanted ends before it
// has read all that we have. That is no other answer than none.
func TestFetch_manyBranches(t *testing.T) {
	t.Parallel()
	o, ids := grown(t, 8)
	var stream strings.Builder
	names := []string{"main"}
	for i := range 1500 {
		names = append(names, fmt.Sprintf("b%d", i))
		fmt.Fprintf(&stream, "commit refs/heads/b%d\ncommitter t <t@example.com> %d +0000\ndata 1\nm\nfrom %s\n", i, hour(9).Unix(), ids[7])
		fmt.Fprintf(&stream, "M 100644 inline b.yaml\ndata %d\nb: %d\n", len(fmt.Sprintf("b: %d", i)), i)
	}
	o.run(stream.String(), "fast-import", "--quiet")
	o.run("", "pack-refs", "--all")
	o.repack()
	for _, name := range []string{"file", "http", "ssh"} {
		t.Run(name, func(t *testing.T) {
			m := opened(t, allWays(o)[name])
			fetched(t, m, "main")
			fetched(t, m, names...)
			o.move("main", ids[2])
			defer o.move("main", ids[7])
			fetched(t, m, names...)
			same(t, m, o, ids[2])
			if got := history(t, m, ids[2]); len(got) != 2 || got[1] != ids[1] {
				t.Errorf("history: %v", got)
			}
		})
	}
}
