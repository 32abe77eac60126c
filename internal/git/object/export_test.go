package object

// SetLimits sets lower limits on the files and directories of a tree.
func (t *Tree) SetLimits(files, directories int) { t.maxFiles, t.maxDirectories = files, directories }
