#!/bin/sh
grep -E '^(#|- )' "$1"
