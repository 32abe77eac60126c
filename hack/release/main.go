// Command release builds everything that a release of promoter consists of, signs it, and pushes
// the image and the chart. The same commit and version give the same bytes.
//
//	release version
//	release build [-version VERSION] [-url URL] [-builder URI] [-out FOLDER]
//	release sign [-key KEY] [-out FOLDER]
//	release push -to REGISTRY [-key KEY] [-out FOLDER]
//	release inspect PROGRAM OS/ARCH
//	release pull REFERENCE LAYOUT
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
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

const (
	outUsage = "the folder of the release"
	keyUsage = "the private key of cosign: a file, env://NAME, or a KMS URI; empty: keyless"
)

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("want version, build, sign, push, inspect, or pull")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	switch args[0] {
	case "version":
		version, err := versionFromGit(ctx)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, version)
		return err
	case "build":
		var r release
		flags.StringVar(&r.version, "version", "", "the version, without v; empty: from the tags of Git")
		flags.StringVar(&r.url, "url", "", "where the files of this release will be downloaded from, for the Homebrew formula and promoter init")
		flags.StringVar(&r.builder, "builder", "urn:promoter:local", "who builds, as the provenance names it")
		flags.StringVar(&r.out, "out", "bin/release", outUsage)
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return r.build(ctx)
	case "sign":
		s := signer{}
		folder := flags.String("out", "bin/release", outUsage)
		flags.StringVar(&s.key, "key", "", keyUsage)
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return s.signFiles(ctx, *folder)
	case "push":
		s := signer{}
		folder := flags.String("out", "bin/release", outUsage)
		to := flags.String("to", "", "the registry, with a namespace if there is one, such as ghcr.io/acme")
		flags.StringVar(&s.key, "key", "", keyUsage)
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return push(ctx, *folder, *to, s, out)
	case "inspect", "pull":
		if len(args) != 3 {
			return fmt.Errorf("%s: want two arguments", args[0])
		}
		if args[0] == "pull" {
			return pull(ctx, args[1], args[2])
		}
		return inspect(args[1], args[2])
	}
	return fmt.Errorf("unknown command %s: want version, build, sign, push, inspect, or pull", args[0])
}
