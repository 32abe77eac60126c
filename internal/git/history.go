package git

import "iter"

// History yields the first-parent history of a commit, itself first: what a
// branch pointed at, newest first. It ends at the first commit of all, or at one
// that is Shallow. It stops after the first error.
func (o *objects) History(from ID) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		boundary, err := o.boundary()
		if err != nil {
			yield(Commit{}, err)
			return
		}
		for {
			commit, err := o.commit(from, boundary)
			if !yield(commit, err) || err != nil || commit.Shallow || len(commit.Parents) == 0 {
				return
			}
			from = commit.Parents[0]
		}
	}
}
