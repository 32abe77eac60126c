package rest

import "strings"

// teamPrefix marks a team among reviewers: team:GROUP/NAME.
const teamPrefix = "team:"

// Reviewers leaves out our own account, which forges refuse as the author, and teams
// of other owners.
func Reviewers(names []string, owner, self string) []string {
	var kept []string
	for _, name := range names {
		team, isTeam := strings.CutPrefix(name, teamPrefix)
		group, _, _ := strings.Cut(team, "/")
		foreign := isTeam && !strings.EqualFold(group, owner)
		if !foreign && !strings.EqualFold(name, self) {
			kept = append(kept, name)
		}
	}
	return kept
}

// PeopleAndTeams tells persons from teams, of which it returns the names alone.
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

// ForAll asks for all names at once. A forge that refuses all of them because of one
// is asked for one by one, and those that it refuses are left out.
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
