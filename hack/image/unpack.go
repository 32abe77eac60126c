package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/match"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
)

// unpack writes the files of one platform's image to a new folder, with their rights and
// without their owners, and prints its user, its version and its program.
func unpack(from, to, platform string, out io.Writer) error {
	image, err := find(from, platform)
	if err != nil {
		return err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return fmt.Errorf("the config of the image: %w", err)
	}
	if len(config.Config.Entrypoint) != 1 {
		return fmt.Errorf("the image starts %q, want one program", config.Config.Entrypoint)
	}
	if err := os.Mkdir(to, 0o755); err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	defer root.Close() //nolint:errcheck // nothing is written through it
	files := mutate.Extract(image)
	defer files.Close() //nolint:errcheck // it is only read
	if err := extract(root, tar.NewReader(files)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n%s\n%s\n", config.Config.User,
		config.Config.Labels["org.opencontainers.image.version"], config.Config.Entrypoint[0])
	return err
}

// find returns the image of a platform, at any depth of the layout.
func find(folder, platform string) (v1.Image, error) {
	wanted, err := v1.ParsePlatform(platform)
	if err != nil {
		return nil, fmt.Errorf("the platform: %w", err)
	}
	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return nil, fmt.Errorf("read the layout: %w", err)
	}
	indexes, err := partial.FindIndexes(index, func(v1.Descriptor) bool { return true })
	if err != nil {
		return nil, fmt.Errorf("read the layout: %w", err)
	}
	for _, one := range append(indexes, index) {
		images, err := partial.FindImages(one, match.Platforms(*wanted))
		if err != nil {
			return nil, fmt.Errorf("read the layout: %w", err)
		}
		if len(images) > 0 {
			return images[0], nil
		}
	}
	return nil, fmt.Errorf("%s has no image for %s", folder, platform)
}

// extract writes what an archive holds; links would be a surprise.
func extract(root *os.Root, files *tar.Reader) error {
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a layer: %w", err)
		}
		if err := extractOne(root, header, files); err != nil {
			return fmt.Errorf("unpack %s: %w", header.Name, err)
		}
	}
}

func extractOne(root *os.Root, header *tar.Header, content io.Reader) error {
	// ko's names begin at the root of the image; ours, as is usual, do not.
	name, mode := strings.TrimPrefix(path.Clean(header.Name), "/"), header.FileInfo().Mode()
	switch header.Typeflag {
	case tar.TypeDir:
		if err := root.MkdirAll(name, 0o755); err != nil {
			return err
		}
	case tar.TypeReg:
		if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
		if err := write(root, name, content); err != nil {
			return err
		}
	default:
		return fmt.Errorf("it is neither a file nor a folder but %q", header.Typeflag)
	}
	return root.Chmod(name, mode&(fs.ModePerm|fs.ModeSticky))
}

func write(root *os.Root, name string, content io.Reader) error {
	file, err := root.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}
