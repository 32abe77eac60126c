package rest

import (
	"strings"

	"promoter/internal/identity"
)

// teamPrefix marks a team in a list of reviewers: team:GROUP/NAME.
const teamPrefix = "team:"

// Reviewers removes our own account, which forges reject as the author, and teams of
// other owners.
func Reviewers(names []string, owner, self string) []string {
	var kept []string
	for _, name := range names {
		team, isTeam := strings.CutPrefix(name, teamPrefix)
		group, _, _ := strings.Cut(team, "/")
		foreign := isTeam && !identity.SameLogin(group, owner)
		if !foreign && !identity.SameLogin(name, self) {
			kept = append(kept, name)
		}
	}
	return kept
}

// PeopleAndTeams separates users from teams, and returns team names without the
// prefix.
func PeopleAndTeams(names []string) (people, teams []string) {
	for _, name := range names {
		if team, ok := strings.CutPrefix(name, teamPrefix); ok {
			_, short, _ := strings.Cut(team, "/")
			teams = append(teams, short)
		} else {
			people = append(people, name)
		}
	}
	return people, teams
}

// ForAll requests all names at once. If the forge rejects the request because of one
// name, each name is requested separately, and rejected names are omitted.
func ForAll(names []string, ask func([]string) error, refused func(error) bool) error {
	if len(names) == 0 {
		return nil
	}
	err := ask(names)
	if refused(err) && len(names) > 1 {
		for _, one := range names {
			if err = ask([]string{one}); err != nil && !refused(err) {
				break
			}
		}
	}
	if refused(err) {
		return nil
	}
	return err
}
