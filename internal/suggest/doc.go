// Package suggest writes a first .promoter.yaml for a repository: it guesses
// environments from the paths of files, components from the image references in
// them, and how versions are selected from the tags that stand there. Each guess
// carries its reason into a comment of the file.
//
// It is pure: the caller finds the files and the references. What it returns
// loads without an error, because it is loaded before it is returned.
package suggest
