// Package field validates values that several keys of the config files have: names, users, commit
// statuses, placeholders, labels, polls, and paths in YAML.
package field

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"promoter/internal/strictyaml"
)

// formatVersion is the only version of both config files.
const formatVersion = 1

// CheckVersion validates the key version of a config file.
func CheckVersion(report *strictyaml.Report, version strictyaml.Located[int], file strictyaml.Origin) {
	switch {
	case !version.IsSet():
		report.Errorf(file.Position, "write version: 1 at the top", "the key version is missing")
	case version.Valid() && version.Value != formatVersion:
		report.Errorf(version.Position, "write version: 1, or use a newer promoter",
			"version %d is not supported by this promoter", version.Value)
	}
}

const (
	// maxName is the longest name of a component, environment, window, or application,
	// in bytes. It keeps the branch names of pull requests, which have three parts, and
	// the contexts of commit statuses short enough for every forge.
	maxName = 40
	// NameRule describes a valid name for hints.
	NameRule = "lower-case letters, digits, and inner dashes, at most 40"
	// hashDigits is how much of a hash a derived name has.
	hashDigits = 6
)

// ValidName reports whether s can be the name of a component, an environment, a
// window, or an application: [a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?.
func ValidName(s string) bool {
	return s != "" && len(s) <= maxName && s[0] != '-' && s[len(s)-1] != '-' && strings.IndexFunc(s, notInName) < 0
}

func notInName(c rune) bool {
	return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-'
}

// ValidNamePattern reports whether a pattern, in which * matches any text, can match a
// name.
func ValidNamePattern(s string) bool {
	bare := strings.ReplaceAll(s, "*", "")
	return bare == s && ValidName(s) || bare != s && len(s) <= 2*maxName && strings.IndexFunc(bare, notInName) < 0
}

// CheckNames validates names that a file defines.
func CheckNames(report *strictyaml.Report, kind string, names []strictyaml.Located[string]) {
	article := "a"
	if strings.IndexByte("aeiou", kind[0]) >= 0 {
		article = "an"
	}
	for _, name := range names {
		report.ErrorIf(!ValidName(name.Value), name.Position, "use "+NameRule, "%q is not a valid name for %s %s", name.Value,
			article, kind)
	}
}

// NameOf turns a captured text into a name: the text itself where it is valid, else its
// slug and part of the hash of a text that identifies it.
func NameOf(text, identity string) string {
	if ValidName(text) {
		return text
	}
	return HashedName(text, identity)
}

// HashedName returns the slug of a text (its ASCII letters and digits in lower case,
// with a dash for everything else) followed by part of a hash, which distinguishes
// texts with the same slug.
func HashedName(text, identity string) string {
	sum := sha256.Sum256([]byte(identity))
	suffix := hex.EncodeToString(sum[:])[:hashDigits]
	var slug strings.Builder
	for _, c := range strings.ToLower(text) {
		if c != '-' && !notInName(c) {
			slug.WriteRune(c)
		} else if slug.Len() > 0 && !strings.HasSuffix(slug.String(), "-") {
			slug.WriteByte('-')
		}
		if slug.Len() >= maxName-hashDigits-1 {
			break
		}
	}
	if head := strings.Trim(slug.String(), "-"); head != "" {
		return head + "-" + suffix
	}
	return suffix
}

// TeamPrefix marks GROUP/NAME as a team.
const TeamPrefix = "team:"

// CheckUsers validates a list of users and teams.
func CheckUsers(report *strictyaml.Report, names strictyaml.List, key string) {
	for _, name := range names.Items {
		user, team := strings.CutPrefix(name.Value, TeamPrefix)
		valid := user != "" && !strings.ContainsAny(user, " \t\n:@,") && strings.Contains(user, "/") == team &&
			!strings.HasPrefix(user, "/") && !strings.HasSuffix(user, "/")
		report.ErrorIf(name.Valid() && !valid, name.Position, "write NAME or team:GROUP/NAME",
			"%s: %q is neither a user nor a team", key, name.Value)
	}
}

// CheckAccounts validates a list of logins.
func CheckAccounts(report *strictyaml.Report, names strictyaml.List, key string) {
	for _, name := range names.Items {
		valid := name.Value != "" && !strings.ContainsAny(name.Value, " \t\n:@,/*")
		report.ErrorIf(name.Valid() && !valid, name.Position, "write the login of an account, as in renovate[bot]",
			"%s: %q is no login", key, name.Value)
	}
}

// ownStatus is the commit status that promoter itself sets. It never counts as a check.
const ownStatus = "promoter"

// CheckStatuses validates patterns of commit statuses.
func CheckStatuses(report *strictyaml.Report, checks strictyaml.List, key string) {
	for _, check := range checks.Items {
		switch {
		case !check.Valid():
		case check.Value == "":
			report.Errorf(check.Position, "name a status, or write * for all", "%s has an empty name", key)
		case check.Value == ownStatus:
			report.Errorf(check.Position, "name another status", "promoter's own status never counts for %s", key)
		}
	}
}

// placeholder is a word in braces. Other braces are literal.
var placeholder = regexp.MustCompile(`\{([A-Za-z][A-Za-z0-9_.-]*)\}`)

// CheckPlaceholders refuses placeholders that nothing replaces.
func CheckPlaceholders(report *strictyaml.Report, value strictyaml.Located[string], key string, allowed ...string) {
	if !value.Valid() {
		return
	}
	for _, m := range placeholder.FindAllStringSubmatch(value.Value, -1) {
		if slices.Contains(allowed, m[1]) {
			continue
		}
		hint := "use {" + strings.Join(allowed, "}, {") + "}"
		if best := strictyaml.Nearest(m[1], allowed); best != "" {
			hint = "did you mean {" + best + "}?"
		}
		report.Errorf(value.Position, hint, "%s has no placeholder {%s}", key, m[1])
	}
}

// Limits of labels: of their number, and of a key and its value, in bytes. The service stores them with each target.
const (
	maxLabels = 20
	maxLabel  = 250
)

// Labels returns labels, which have limits.
func Labels(report *strictyaml.Report, raw strictyaml.Map[strictyaml.Located[string]]) map[string]string {
	if len(raw.Entries) == 0 {
		return nil
	}
	if len(raw.Entries) > maxLabels {
		report.Errorf(raw.Entries[maxLabels].Key.Position, "remove some", "an environment or application has at most %d labels", maxLabels)
	}
	out := make(map[string]string, len(raw.Entries))
	for _, e := range raw.Entries {
		if e.Key.Value == "" || len(e.Key.Value) > maxLabel || len(e.Value.Value) > maxLabel {
			report.Errorf(e.Key.Position, "shorten it", "a label needs a name, and its name and value have at most %d bytes", maxLabel)
		}
		out[e.Key.Value] = e.Value.Value
	}
	return out
}
