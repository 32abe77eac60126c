package main

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// tagged matches the tags of releases: semantic versions that begin with v.
var tagged = regexp.MustCompile(`^v(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+)?$`)

// versionFromGit returns the version that a tag gives the checked-out commit. A commit without
// one is a snapshot of the next patch release: newer than the last release, older than the next.
func versionFromGit(ctx context.Context) (string, error) {
	tags, err := newestTags(ctx, "--points-at", "HEAD")
	if err != nil {
		return "", err
	}
	for _, tag := range tags {
		if tagged.MatchString(tag) {
			return strings.TrimPrefix(tag, "v"), nil
		}
	}
	merged, err := newestTags(ctx, "--merged", "HEAD")
	if err != nil {
		return "", err
	}
	count, err := output(ctx, "git", "rev-list", "--count", "HEAD")
	if err != nil {
		return "", err
	}
	commit, err := output(ctx, "git", "rev-parse", "--short=12", "HEAD")
	if err != nil {
		return "", err
	}
	return snapshot(merged, count, commit)
}

// newestTags lists tags, the newest version first. Without the suffix, Git orders v0.1.0-rc.1
// after v0.1.0.
func newestTags(ctx context.Context, selection ...string) ([]string, error) {
	args := append([]string{"-c", "versionsort.suffix=-", "tag", "--sort=-version:refname"}, selection...)
	tags, err := output(ctx, "git", args...)
	return strings.Fields(tags), err
}

// snapshot names a commit that has no tag. The number of commits orders snapshots; plus signs
// are not allowed in the tags of images, so the commit is part of the prerelease.
func snapshot(tags []string, commits, commit string) (string, error) {
	base := "0.0.0"
	for _, tag := range tags {
		found := tagged.FindStringSubmatch(tag)
		if found == nil {
			continue
		}
		patch, err := strconv.Atoi(found[3])
		if err != nil {
			return "", fmt.Errorf("tag %s: %w", tag, err)
		}
		if found[4] == "" {
			patch++
		}
		base = fmt.Sprintf("%s.%s.%d", found[1], found[2], patch)
		break
	}
	return base + snapshotMark + commits + ".g" + commit, nil
}

const snapshotMark = "-snapshot."

func isSnapshot(version string) bool { return strings.Contains(version, snapshotMark) }
