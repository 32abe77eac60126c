package git

// Limit sets smaller limits than those of every tree.
func (t *Tree) Limit(files, folders int) { t.limit = size{files, folders} }
