package state

import "strings"

const suffix = ".json"

// path returns the file of a target: ENVIRONMENT/APPLICATION.json.
func (p Target) path() string { return p.Environment + "/" + p.Application + suffix }

// placeOf returns the target of a file. Other files on the branch, such as a
// README, belong to no target and are left unchanged.
func placeOf(path string) (Target, bool) {
	name, ours := strings.CutSuffix(path, suffix)
	environment, application, two := strings.Cut(name, "/")
	target := Target{environment, application}
	return target, ours && two && target.valid()
}

// valid reports whether both parts are names or All. The repository has no
// applications of its own.
func (p Target) valid() bool {
	return (validName(p.Environment) || p.Environment == All) &&
		(validName(p.Application) && p.Environment != All || p.Application == All)
}

// maxName is the maximum length of an environment or application name, as in
// the config file.
const maxName = 40

func validName(s string) bool {
	if s == "" || len(s) > maxName || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
