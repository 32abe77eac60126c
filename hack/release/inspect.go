package main

import (
	"debug/buildinfo"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"fmt"
	"strings"
)

// inspect checks a program that this machine cannot run: that it is for the platform, without
// debugging information, and built without cgo and paths of the machine.
func inspect(program, wanted string) error {
	system, processor, _ := strings.Cut(wanted, "/")
	got, sections, err := header(program, system)
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	if got != processor {
		return fmt.Errorf("%s is for the processor %s, want %s", program, got, processor)
	}
	for _, section := range sections {
		if strings.Contains(section, "debug_info") || strings.Contains(section, "zdebug") {
			return fmt.Errorf("%s has debugging information: section %s", program, section)
		}
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	settings := map[string]string{}
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
	}
	for key, value := range map[string]string{"GOOS": system, "GOARCH": processor, "CGO_ENABLED": "0", "-trimpath": "true"} {
		if settings[key] != value {
			return fmt.Errorf("%s was built with %s=%s, want %s", program, key, settings[key], value)
		}
	}
	if settings["vcs.revision"] == "" {
		return fmt.Errorf("%s does not record its commit", program)
	}
	return nil
}

// header returns the processor that a program is for, and the names of its sections.
func header(program, system string) (processor string, sections []string, err error) {
	switch system {
	case "darwin":
		file, err := macho.Open(program)
		if err != nil {
			return "", nil, err
		}
		defer file.Close() //nolint:errcheck // it is only read
		for _, section := range file.Sections {
			sections = append(sections, section.Name)
		}
		return map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}[file.Cpu], sections, nil
	case "windows":
		file, err := pe.Open(program)
		if err != nil {
			return "", nil, err
		}
		defer file.Close() //nolint:errcheck // it is only read
		for _, section := range file.Sections {
			sections = append(sections, section.Name)
		}
		return map[uint16]string{pe.IMAGE_FILE_MACHINE_AMD64: "amd64", pe.IMAGE_FILE_MACHINE_ARM64: "arm64"}[file.Machine], sections, nil
	case "linux":
		file, err := elf.Open(program)
		if err != nil {
			return "", nil, err
		}
		defer file.Close() //nolint:errcheck // it is only read
		for _, section := range file.Sections {
			sections = append(sections, section.Name)
		}
		return map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[file.Machine], sections, nil
	}
	return "", nil, fmt.Errorf("the system %s is unknown", system)
}
