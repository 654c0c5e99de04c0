# SPDX-License-Identifier: BSL-1.0
# Sourced by the other scripts: goes to the top of the repository and sees to the Debian packages they need.

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# need_packages PACKAGE...: installs what is missing (as root or with sudo without a password), or names it and exits 2.
need_packages() {
    local missing=() package
    for package in "$@"; do
        if [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then
            missing+=("$package")
        fi
    done
    ((${#missing[@]})) || return 0

    local as_root=()
    if ((EUID != 0)); then
        if ! sudo --non-interactive true 2>/dev/null; then
            echo "missing packages; please run: apt-get install ${missing[*]}" >&2
            exit 2
        fi
        as_root=(sudo --non-interactive)
    fi
    echo "installing ${missing[*]}"
    "${as_root[@]}" apt-get update --quiet=2
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install --quiet=2 --yes --no-install-recommends "${missing[@]}"
}

build_packages=(g++ cmake ninja-build pkgconf libboost-dev libhwloc-dev libcli11-dev libfmt-dev nlohmann-json3-dev)
test_packages=(catch2 relacy-dev libbenchmark-dev libboost-context-dev spin)
