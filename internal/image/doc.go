// Package image is the vocabulary of container images and other artifacts of a
// registry: repositories, references, patterns over repositories, versions, and
// the policies that order a repository's tags.
//
// Names are compared in one normalized form, in which all spellings of Docker
// Hub are one and hosts are lower case. References keep the exact text that a
// file has. The package does no input or output and bounds everything it reads,
// because names, tags and patterns come from files and registries of others.
package image
