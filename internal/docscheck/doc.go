// Package docscheck checks the documents against the tree: links and anchors resolve,
// commands in code blocks exist, every dependency has its line, every decision is in the
// list, and no comment or message uses a phrase that readers of this field do not know.
package docscheck
