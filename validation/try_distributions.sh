#!/usr/bin/env bash
# Install the wheel and the source archive of a folder, each in an empty environment, and try them from outside of
# the repository; the wheel with the extras, too, that install neither torch nor triton.
#
#     validation/try_distributions.sh FOLDER
set -euo pipefail
dist=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache PIP_DISABLE_PIP_VERSION_CHECK=1 NO_COLOR=1
version=$(basename "$dist"/kprof-*.whl | cut -d- -f2)
for file in "$dist"/kprof-*.whl "$dist"/kprof-*.tar.gz; do
    python3 -m venv --clear "$work/empty"
    "$work/empty/bin/pip" install --quiet "$file"
    cd "$work"
    if ./empty/bin/pip list 2>/dev/null | grep -iE '^(torch|triton) '; then
        echo "a plain install of $(basename "$file") pulled in torch or triton" && exit 1
    fi
    [ "$(./empty/bin/kprof --version | cut -d' ' -f1,2)" = "kprof $version" ]
    ./empty/bin/kprof occupancy --arch gfx942 --vgpr 168 --lds 32768 --num-warps 4
    ./empty/bin/kprof schema server-configs >/dev/null # found by its entry point
    # Without Triton: one clear message and exit code 2.
    rc=0; ./empty/bin/kprof analyze kernel flash_attention --arch gfx942 || rc=$?
    [ "$rc" = 2 ] || { echo "expected exit code 2 without Triton, got $rc"; exit 1; }
done
for extra in mcp view lsp perfetto; do
    ./empty/bin/pip install --quiet --no-deps --force-reinstall "$dist"/kprof-*.whl
    ./empty/bin/pip install --quiet "$(echo "$dist"/kprof-*.whl)[$extra]"
    ./empty/bin/kprof --version
done
