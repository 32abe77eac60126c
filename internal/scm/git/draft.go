package git

// Draft is a commit to be written: what changes against its parent, by whom and
// why.
type Draft struct {
	Parent    ID                // zero: the commit has no parent and starts from no file
	Write     map[string][]byte // new contents by path; a new file is a regular one, an old one keeps its mode
	Delete    []string          // paths of files; applied before Write
	Author    Signature
	Committer Signature
	Message   string // subject and body
	Trailers  Trailers
}

// Write stores the commit, and the blobs and trees that it needs and that are not
// here yet. A draft that changes nothing returns its parent. Refused as Invalid:
// paths that Git would not check out, that lie below a file or a symbolic link,
// or that are a folder, a link or a submodule now; a draft without a parent or a
// file. A file to be deleted that is not there is a NotFound fault.
func (o *objects) Write(draft Draft) (ID, error) {
	panic("not implemented: " + draft.Message)
}
