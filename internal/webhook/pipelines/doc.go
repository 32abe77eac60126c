// Package pipelines decodes the webhooks of pipelines and of delivery tools: images that were
// built, snapshots, and reports about health. Each sender has one file, named after its kind.
package pipelines
