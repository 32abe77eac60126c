// Package docscheck holds the documents against the tree: links and anchors
// resolve, commands in code blocks exist, every dependency has its line, every
// decision stands in the list. It has nothing to run but its tests.
package docscheck
