package updater

// Write is a configured place where the default writer is not enough: a scalar by
// its path, or the one group of a regular expression over the file's text.
type Write struct {
	Path      string // YAML path; empty: Regex
	Regex     string // with one group
	Component string
	Value     string // with the placeholders {component}, {version}, {tag} and {digest}
	Create    bool   // make a key that is missing
}
