package local

import (
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"promoter/internal/checkout"
	"promoter/internal/cli/console"
	"promoter/internal/cli/flag"
	"promoter/internal/cli/render"
	"promoter/internal/config"
	"promoter/internal/fault"
)

// standardOutput as the name of a file means that the text is only printed.
const standardOutput = "-"

// newFile is where init and import write a config.
type newFile struct {
	dir  string // the folder that the config is for
	name string // empty: the config file of the folder
}

func (f *newFile) addFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.dir, "dir", ".", flag.DirUsage)
	flags.StringVarP(&f.name, "output", "o", "", "`FILE` to write, or - for standard output (default: .promoter.yaml in the folder)")
}

// refuseExisting returns an error if the file exists. Commands call it before work that takes long.
func (f *newFile) refuseExisting() error {
	if f.name == "" {
		f.name = filepath.Join(f.dir, config.FileName)
	}
	if _, err := os.Lstat(f.name); err == nil && f.name != standardOutput {
		return fault.New(fault.Conflict, "%s exists and is not overwritten: remove it first, or write to another file with -o", f.name)
	}
	return nil
}

// write writes the config, and prints what it has, what details prints, and the next steps.
func (f *newFile) write(system console.System, text, held string, details func(io.Writer)) error {
	if f.name == standardOutput {
		if err := render.Write(system.Out, text); err != nil {
			return err
		}
		render.PrintMessage(system.Err, "%s; nothing was written", held)
		details(system.Err)
		return nil
	}
	if err := checkout.WriteConfig(f.name, text); err != nil {
		return err
	}
	if root := checkout.RepositoryRoot(f.dir); root != "" && f.name == filepath.Join(f.dir, config.FileName) && !isFolder(f.dir, root) {
		render.PrintMessage(system.Err, "warning: promoter reads %s only from the root of the repository, %s", config.FileName, root)
		render.PrintDetail(system.Err, "  -> remove the file and use --dir %s", root)
	}
	render.PrintMessage(system.Err, "wrote %s: %s", f.name, held)
	details(system.Err)
	at := ""
	if f.dir != "." {
		at = " --dir " + f.dir
	}
	render.PrintDetail(system.Err, "next:")
	render.PrintDetail(system.Err, "  read and adapt %s", f.name)
	render.PrintDetail(system.Err, "  promoter validate%s", at)
	render.PrintDetail(system.Err, "  promoter plan%s", at)
	return nil
}

// isFolder reports whether two paths are the same folder.
func isFolder(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}
