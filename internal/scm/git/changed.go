package git

// SameTree reports whether two commits hold the same files.
func (o *objects) SameTree(a, b ID) (bool, error) {
	first, err := o.Commit(a)
	if err != nil {
		return false, err
	}
	second, err := o.Commit(b)
	return first.Tree == second.Tree, err
}

// Changed returns the paths of the files that differ between two commits, by
// content or by mode, in Git's order. Folders that are equal are not walked. The
// zero id stands for a commit without files.
func (o *objects) Changed(a, b ID) ([]string, error) {
	panic("not implemented: " + a.String() + b.String())
}
