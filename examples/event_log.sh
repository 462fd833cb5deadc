#!/usr/bin/env bash
# From a table of events to components that can be read: the commands of docs/tables.md, in a folder of their own.
set -euo pipefail
arges=$(realpath "${BUILD:-build/fast}/arges") table=$(realpath examples/data/shop.csv)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$table" "$folder/shop.csv"
cd "$folder"
"$arges" convert shop.csv shop.atns --columns customer,item,time:hour --value amount
"$arges" cpd shop.atns --rank 3 --algorithm nn --tolerance 1e-7 --seed 3 --output shop >/dev/null
"$arges" show shop --top 4
