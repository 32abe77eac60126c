// Package docscheck checks the documents against the tree: links and anchors resolve,
// commands in code blocks exist, every dependency has its line, every decision is in the
// list, the extension guides name files that exist and list the kinds that the code has,
// and no comment or message uses a phrase that readers of this field do not know.
package docscheck
