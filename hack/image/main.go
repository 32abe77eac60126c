// Command image builds promoter's container image with ko, and unpacks it again for
// those who want to see what is in it. Neither needs a Docker engine.
//
//	image build -ko PROGRAM [-base REFERENCE] [-version VERSION] [-url URL] [-out FOLDER]
//	image unpack [-platform linux/amd64] LAYOUT FOLDER
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("say build or unpack")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	switch args[0] {
	case "build":
		var b builder
		flags.StringVar(&b.ko, "ko", "", "the program ko")
		flags.StringVar(&b.base, "base", "", "the image to build upon; empty: one that is made here")
		flags.StringVar(&b.version, "version", "", "the name of a release; empty: none")
		flags.StringVar(&b.url, "url", "", "where the files of the release are downloaded from; empty: not known")
		flags.StringVar(&b.out, "out", "bin/image", "the folder for the OCI layout, in lower case as ko requires; beside it, with -sbom, what is in it")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return b.build(ctx)
	case "unpack":
		platform := flags.String("platform", "linux/amd64", "which of the images")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		if flags.NArg() != 2 {
			return errors.New("name the layout, and the folder to unpack it to")
		}
		return unpack(flags.Arg(0), flags.Arg(1), *platform, out)
	}
	return fmt.Errorf("%s is not known: say build or unpack", args[0])
}
