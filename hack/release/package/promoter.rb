class Promoter < Formula
  desc "Webhook-driven promotion bot for GitOps repositories"
  homepage "{{.Home}}"
  version "{{.Version}}"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "{{.URL.darwin_arm64}}"
      sha256 "{{.Sum.darwin_arm64}}"
    end
    on_intel do
      url "{{.URL.darwin_amd64}}"
      sha256 "{{.Sum.darwin_amd64}}"
    end
  end

  on_linux do
    on_arm do
      url "{{.URL.linux_arm64}}"
      sha256 "{{.Sum.linux_arm64}}"
    end
    on_intel do
      url "{{.URL.linux_amd64}}"
      sha256 "{{.Sum.linux_amd64}}"
    end
  end

  def install
    bin.install "promoter"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/promoter.bash" => "promoter"
    zsh_completion.install "completions/promoter.zsh" => "_promoter"
    fish_completion.install "completions/promoter.fish"
    pkgshare.install "schemas"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/promoter version")
  end
end
