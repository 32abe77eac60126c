package comments

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"promoter/internal/command"
	"promoter/internal/identity"
	"promoter/internal/scm"
	"promoter/internal/verb"
)

// longComments are n comments of the longest size, of which each line of a quote seems to be a command.
func longComments(n int) (all []scm.Comment) {
	for i := range n {
		var text strings.Builder
		fmt.Fprintf(&text, "comment %d\n\n```\n", i)
		for text.Len() < 16<<10-200 {
			text.WriteString("/promoter hold *of* [everything](x) `here` <!-- a -->\nand a longer line of **text** with _many_ `spans` of ~~markup~~ " +
				"that a parser reads\n")
		}
		all = append(all, scm.Comment{
			ID: int64(i), Author: identity.User{ID: "1", Login: "ann"}, Body: text.String(), Created: time.Unix(int64(i), 0),
		})
	}
	return all
}

func TestCommandsIn_parsesAFewNewCommentsAndEachOnce(t *testing.T) {
	t.Parallel()
	all := longComments(maxParsed + 20)
	all = append(all, scm.Comment{
		ID: 9999, Author: identity.User{ID: "1", Login: "ann"}, Body: "/promoter hold for now", Created: time.Unix(9999, 0),
	})
	memory, count := NewParsed(4<<20), 0
	memory.read = func(comment string) (command.Command, bool) {
		count++
		return command.Read(comment)
	}
	for i, want := range []struct {
		parsed, commands int
		all              bool
	}{{maxParsed, 0, false}, {21, 1, true}, {0, 1, true}} {
		count = 0
		commands, complete, err := commandsIn(t.Context(), Observed{}, all, parser{memory: memory})
		if err != nil || count != want.parsed || len(commands) != want.commands || complete != want.all {
			t.Errorf("reconciliation %d: %d parsed, %d commands, %v, %v; want %+v", i, count, len(commands), complete, err, want)
		}
		if len(commands) > 0 && (commands[0].command.Verb != verb.Hold || commands[0].command.Reason != "for now") {
			t.Errorf("reconciliation %d: %+v", i, commands[0].command)
		}
	}
	all[0].Body += "edited"
	if _, _, err := commandsIn(t.Context(), Observed{}, all, parser{memory: memory}); err != nil || count != 1 {
		t.Errorf("an edited comment: %d parsed, %v", count, err)
	}
}

func TestCommandsIn_endsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := commandsIn(ctx, Observed{}, longComments(1), parser{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// What a reconciliation costs whose pull requests have 300 long comments, none of which is a command.
func BenchmarkCommandsIn(b *testing.B) {
	all := longComments(300)
	for name, memory := range map[string]*Parsed{"parsed": nil, "remembered": NewParsed(4 << 20)} {
		b.Run(name, func(b *testing.B) {
			for complete := false; memory != nil && !complete; {
				var err error
				if _, complete, err = commandsIn(b.Context(), Observed{}, all, parser{memory: memory}); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				if _, _, err := commandsIn(b.Context(), Observed{}, all, parser{memory: memory}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
