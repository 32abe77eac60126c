package app

import (
	"slices"

	"promoter/internal/fault"
	"promoter/internal/git"
	"promoter/internal/updater"
)

// difference is how the files of a commit differ from those of another one. The
// config is left out: it says what is followed, and nothing in it is deployed.
type difference struct {
	now  []git.Entry // files that are new or have another content or mode
	gone []string    // paths
	at   func(path string) (git.Entry, error)
}

// maxDifference is how many files are looked up one by one. Of more than that, all
// are listed.
const maxDifference = 1000

// difference compares two commits. The named files belong to it in any case.
func (o gitObjects) difference(before, after string, named []string) (difference, error) {
	paths, err := o.Changed(before, after)
	if err != nil {
		return difference{}, err
	}
	if len(paths) > maxDifference {
		return difference{}, fault.New(fault.Invalid, "%d files differ", len(paths))
	}
	paths = append(paths, named...)
	slices.Sort(paths)
	d := difference{at: o.at(after)}
	for _, path := range slices.Compact(paths) {
		if path == ConfigFile {
			continue
		}
		entry, err := d.at(path)
		switch {
		case fault.KindOf(err) == fault.NotFound:
			d.gone = append(d.gone, path)
		case err != nil:
			return difference{}, err
		default:
			d.now = append(d.now, entry)
		}
	}
	return d, nil
}

// withoutConfig drops the config from a listing.
func withoutConfig(entries []git.Entry) []git.Entry {
	return slices.DeleteFunc(entries, func(entry git.Entry) bool { return entry.Path == ConfigFile })
}

// asFiles shows the difference to the updater.
func (f gitFiles) asFiles(d difference) updater.Difference {
	shown := updater.Difference{Gone: d.gone, Files: make([]updater.File, 0, len(d.now))}
	for _, entry := range d.now {
		shown.Files = append(shown.Files, f.file(entry))
	}
	shown.Open = func(path string) (updater.File, error) {
		entry, err := d.at(path)
		return f.file(entry), err
	}
	return shown
}

// file shows an entry as a file.
func (f gitFiles) file(entry git.Entry) updater.File {
	return updater.File{
		Path: entry.Path, Mode: modeOf(entry.Mode),
		Read: func() ([]byte, error) { return f.objects.content(entry, searchedLimit) },
	}
}
