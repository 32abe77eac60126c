// Package image holds the types of container images and other artifacts in a registry:
// repositories, references, patterns of repositories, versions, and the policies that
// order the tags of a repository.
//
// Names are compared in a normalized form, in which all spellings of Docker Hub are
// equal and hosts are lower case. References keep the exact text of the file. The
// package does no input or output and bounds everything it parses, because names, tags
// and patterns come from the files and registries of others.
package image
