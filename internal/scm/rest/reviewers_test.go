package rest_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/scm/rest"
)

func TestReviewers(t *testing.T) {
	t.Parallel()
	got := rest.Reviewers([]string{"ann", "Bot", "team:ACME/sre", "team:other/sre"}, "acme", "bot")
	if diff := cmp.Diff([]string{"ann", "team:ACME/sre"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	people, teams := rest.PeopleAndTeams(got)
	if !slices.Equal(people, []string{"ann"}) || !slices.Equal(teams, []string{"sre"}) {
		t.Errorf("people %q, teams %q", people, teams)
	}
}

func TestForAll(t *testing.T) {
	t.Parallel()
	errName, errDown := errors.New("no such name"), errors.New("down")
	for _, test := range []struct {
		name  string
		names []string
		fails map[string]error // by name
		want  []string         // accepted ones
		err   error
	}{
		{"nobody", nil, nil, nil, nil},
		{"all at once", []string{"a", "b"}, nil, []string{"a", "b"}, nil},
		{"one is refused", []string{"a", "b", "c"}, map[string]error{"b": errName}, []string{"a", "c"}, nil},
		{"the only one is refused", []string{"b"}, map[string]error{"b": errName}, nil, nil},
		{"another failure", []string{"a", "b"}, map[string]error{"a": errDown}, nil, errDown},
		{"another failure behind a refused one", []string{"a", "b", "c"}, map[string]error{"a": errName, "b": errDown}, nil, errDown},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var taken []string
			err := rest.ForAll(test.names, func(names []string) error {
				for _, name := range names {
					if err := test.fails[name]; err != nil {
						return err
					}
				}
				taken = append(taken, names...)
				return nil
			}, func(err error) bool { return errors.Is(err, errName) })
			if !slices.Equal(taken, test.want) || !errors.Is(err, test.err) {
				t.Errorf("took %q, %v; want %q, %v", taken, err, test.want, test.err)
			}
		})
	}
}
