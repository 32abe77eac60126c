package setting

import (
	"promoter/internal/image"
	"promoter/internal/strictyaml"
)

var taggedCondition = condition{
	check: func(report *strictyaml.Report, parent string, raw *RawConditions) {
		tag := raw.Tagged
		switch {
		case !tag.Valid():
		case tag.Value == "":
			report.Errorf(tag.Position, "name a tag, or remove tagged", "after.%s.tagged is empty", parent)
		case !image.ValidTag(tag.Value):
			report.Errorf(tag.Position, "write letters, digits, dots, dashes, and underscores, at most 128",
				"%q is not a valid tag", tag.Value)
		}
	},
	merged: func(*strictyaml.Report, string, *RawConditions, *environment) {},
	isSet:  func(raw *RawConditions) bool { return raw.Tagged.IsSet() },
	load:   func(raw *RawConditions, out *Parent) { out.Tagged = raw.Tagged.Value },
}
