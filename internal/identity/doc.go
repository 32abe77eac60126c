// Package identity says who is meant: a repository by a key that survives
// renames, and a person of a forge. Two spellings of one thing are equal. No
// value and no error of this package holds a credential.
package identity
