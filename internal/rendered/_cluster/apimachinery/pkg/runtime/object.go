// Package runtime has the interface of objects.
package runtime

// Object is an object of a cluster, which the record of a release names.
type Object any
