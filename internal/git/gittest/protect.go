package gittest

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// preReceive refuses pushes to the branches listed in the file "protected", with the
// message in the file "refusal".
const preReceive = `#!/bin/sh
[ -f protected ] || exit 0
while read -r old new ref; do
  if grep -qxF "${ref#refs/heads/}" protected; then
    sed "s|BRANCH|${ref#refs/heads/}|g" refusal >&2
    exit 1
  fi
done
`

// refuse writes the hook. No process may start meanwhile: it would inherit the open
// file, and Linux does not run a program that is open for writing.
func (r *Repository) refuse(words []string) {
	hooks := filepath.Join(r.dir, "hooks")
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	check(
		os.MkdirAll(hooks, 0o750),
		os.WriteFile(filepath.Join(hooks, "pre-receive"), []byte(preReceive), 0o700), //nolint:gosec // git runs it
		os.WriteFile(filepath.Join(r.dir, "refusal"), []byte(strings.Join(words, "\n")+"\n"), 0o600),
	)
}

// Protect makes Git refuse all pushes to these branches, and to no others.
func (r *Repository) Protect(branches ...string) {
	text := ""
	for _, branch := range branches {
		text += branch + "\n"
	}
	check(os.WriteFile(filepath.Join(r.dir, "protected"), []byte(text), 0o600))
}
