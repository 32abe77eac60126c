package signing_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/git/gittest"
	"promoter/internal/git/signing"
	"promoter/internal/secret"
)

// need skips a test without a program.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
}

// run runs a program and returns what it prints.
func run(t *testing.T, env []string, program string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Env = append(os.Environ(), env...)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, output)
	}
	return string(output)
}

const passphrase = "correct horse"

// gpgKey makes a key with GnuPG, and returns its home folder, which git verifies with.
func gpgKey(t *testing.T, algorithm, usage, expires string) (home, private string) {
	t.Helper()
	need(t, "git", "gpg")
	home, err := os.MkdirTemp("", "gpg") // the path of its socket must be short
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"GNUPGHOME=" + home}
	t.Cleanup(func() {
		_ = exec.CommandContext(context.WithoutCancel(t.Context()), "gpgconf", "--homedir", home, "--kill", "all").Run()
		_ = os.RemoveAll(home)
	})
	batch := []string{"--batch", "--pinentry-mode", "loopback", "--passphrase", passphrase}
	run(t, env, "gpg", append(batch, "--quick-generate-key", "Promoter <bot@example.com>", algorithm, usage, expires)...)
	return home, run(t, env, "gpg", append(batch, "--armor", "--export-secret-keys")...)
}

// verify has git verify a commit that the key signed.
func verify(t *testing.T, key signing.Key, env, config []string) {
	t.Helper()
	dir := t.TempDir()
	gittest.Exec(t, dir, "init", "-q", "-b", "main", ".")
	gittest.Exec(t, dir, "commit", "-q", "--allow-empty", "-m", "Promote web")
	payload := gittest.Exec(t, dir, "cat-file", "commit", "HEAD")
	signature, err := key.Sign([]byte(payload), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	signed := strings.Replace(payload, "\n\n", "\ngpgsig "+strings.ReplaceAll(strings.TrimSpace(signature), "\n", "\n ")+"\n\n", 1)
	id := strings.TrimSpace(gittest.ExecWithInput(t, dir, signed, "hash-object", "-t", "commit", "-w", "--stdin"))
	args := append([]string{"-C", dir}, config...)
	run(t, env, "git", append(args, "verify-commit", "-v", id)...)
}

func TestKey_gpgVerifies(t *testing.T) {
	t.Parallel()
	for name, algorithm := range map[string]string{"ed25519": "ed25519", "RSA": "rsa3072", "ECDSA": "nistp256"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, private := gpgKey(t, algorithm, "sign", "0")
			key, err := signing.Parse(secret.New(private), secret.New(passphrase))
			if err != nil {
				t.Fatal(err)
			}
			verify(t, key, []string{"GNUPGHOME=" + home}, nil)
			listed := run(t, []string{"GNUPGHOME=" + home}, "gpg", "--list-keys", "--with-colons")
			if key.Format != signing.GPG || !strings.Contains(listed, ":"+key.Fingerprint+":") {
				t.Errorf("%s is not in\n%s", key, listed)
			}
			if !key.Covers("Bot@example.com") || key.Covers("other@example.com") {
				t.Errorf("the addresses are %q", key.Emails)
			}
			for what, wrong := range map[string]secret.String{"set it too": {}, "does not decrypt": secret.New("wrong")} {
				if _, err := signing.Parse(secret.New(private), wrong); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), what) {
					t.Errorf("passphrase: %v, want %q", err, what)
				}
			}
		})
	}
}

// The primary key is kept offline: the export has the secret key of a subkey alone.
func TestKey_gpgSubkeyVerifies(t *testing.T) {
	t.Parallel()
	home, _ := gpgKey(t, "ed25519", "cert", "0")
	env := []string{"GNUPGHOME=" + home}
	batch := []string{"--batch", "--pinentry-mode", "loopback", "--passphrase", passphrase}
	var fingerprint string
	for line := range strings.SplitSeq(run(t, env, "gpg", "--list-keys", "--with-colons"), "\n") {
		if fields := strings.Split(line, ":"); fields[0] == "fpr" {
			fingerprint = fields[9]
		}
	}
	run(t, env, "gpg", append(batch, "--quick-add-key", fingerprint, "ed25519", "sign", "1y")...)
	private := run(t, env, "gpg", append(batch, "--armor", "--export-secret-subkeys")...)
	key, err := signing.Parse(secret.New(private), secret.New(passphrase))
	if err != nil {
		t.Fatal(err)
	}
	verify(t, key, env, nil)
	if _, err := key.Sign([]byte("x"), time.Now().AddDate(2, 0, 0)); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "it has expired") {
		t.Errorf("an expired key: %v", err)
	}
}

func TestKey_sshVerifies(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"ed25519":    {"-t", "ed25519", "-N", ""},
		"encrypted":  {"-t", "ed25519", "-N", passphrase},
		"RSA in PEM": {"-t", "rsa", "-b", "3072", "-m", "PEM", "-N", ""},
		"ECDSA":      {"-t", "ecdsa", "-b", "384", "-N", passphrase},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			need(t, "git", "ssh-keygen")
			dir := t.TempDir()
			file := filepath.Join(dir, "key")
			run(t, nil, "ssh-keygen", append(args, "-q", "-C", "bot", "-f", file)...)
			private, public := read(t, file), read(t, file+".pub")
			key, err := signing.Parse(secret.New(strings.TrimSpace(private)), secret.New(passphrase))
			if err != nil {
				t.Fatal(err)
			}
			allowed := filepath.Join(dir, "allowed")
			if err := os.WriteFile(allowed, []byte("bot@example.com namespaces=\"git\" "+public), 0o600); err != nil {
				t.Fatal(err)
			}
			verify(t, key, nil, []string{"-c", "gpg.ssh.allowedSignersFile=" + allowed})
			if listed := run(t, nil, "ssh-keygen", "-l", "-f", file); !strings.Contains(listed, " "+key.Fingerprint+" ") || !key.Covers("any@example.com") {
				t.Errorf("%s is not in %s", key, listed)
			}
			if _, err := signing.Parse(secret.New(public), secret.String{}); err == nil || !strings.Contains(err.Error(), "public key") {
				t.Errorf("the public key: %v", err)
			}
		})
	}
}

func TestParse_namesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"canary": "this is no private key",
		"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nx":                                            "this is a public key",
		"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\ncanary\n-----END PGP PRIVATE KEY BLOCK-----": "the GPG key cannot be read",
		"-----BEGIN OPENSSH PRIVATE KEY-----\ncanary\n-----END OPENSSH PRIVATE KEY-----":       "the SSH key cannot be read",
	} {
		_, err := signing.Parse(secret.New(text), secret.String{})
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
