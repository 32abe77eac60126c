// Package registries decodes the webhooks of container registries. Each sender has one file, named
// after its kind.
package registries
