#!/bin/sh
# A program for laneway's exec handler: it stays, reads a record a line, and answers each with a line.
#
# Copy it and write your work into handle, which finds the record, a line of JSON, in $1 (jq takes it apart). What it prints
# goes to standard error, which is laneway's log: standard output is for answers alone. It must not read standard input,
# where the next records are.

# The work: appends the record to a file, $2.
handle() {
  printf '%s\n' "$1" >>"$2"
}

while IFS= read -r record; do
  if handle "$record" "$@" </dev/null >&2; then
    echo '{"outcome":"done"}'
  else
    echo '{"outcome":"retry","reason":"the work failed with exit status '$?'"}'
  fi
done
