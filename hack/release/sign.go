package main

import (
	"context"
	"path/filepath"
)

// bundleSuffix ends the names of signatures, the bundles of cosign. Those of the new format are not
// used: cosign cannot verify them offline without a trusted root.
const bundleSuffix = ".bundle"

// signer signs with cosign: with a key, or keyless with the identity of the pipeline.
type signer struct{ key string }

// arguments are those that all signatures share. Signatures with a key are verified offline, so
// they are in no transparency log; keyless ones need it.
func (s signer) arguments(command string) []string {
	args := []string{command, "--yes"}
	if s.key != "" {
		args = append(args, "--key", s.key, "--tlog-upload=false")
	}
	return args
}

// signFiles signs the checksums and the provenance of a release. Both cover all files.
func (s signer) signFiles(ctx context.Context, folder string) error {
	cosign, err := tool(ctx, "cosign")
	if err != nil {
		return err
	}
	sums := filepath.Join(folder, checksumFile)
	args := append(s.arguments("sign-blob"), "--bundle", sums+bundleSuffix, sums)
	if err := execute(ctx, nil, cosign, args...); err != nil {
		return err
	}
	provenance := filepath.Join(folder, provenanceFile)
	args = append(s.arguments("attest-blob"), "--bundle", provenance+bundleSuffix, "--statement", provenance)
	return execute(ctx, nil, cosign, args...)
}

// signImage signs an image or chart in a registry, and attaches the provenance of the release.
func (s signer) signImage(ctx context.Context, folder, reference string) error {
	cosign, err := tool(ctx, "cosign")
	if err != nil {
		return err
	}
	if err := execute(ctx, nil, cosign, append(s.arguments("sign"), reference)...); err != nil {
		return err
	}
	args := append(s.arguments("attest"), "--type", slsaType, "--predicate", filepath.Join(folder, predicateFile), reference)
	return execute(ctx, nil, cosign, args...)
}
