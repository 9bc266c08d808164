#!/bin/sh
# A program for laneway's exec handler: keeps running, reads one record per line, and writes one answer per line.
#
# Copy this file and write your work into handle, which gets the record, a line of JSON, as $1 (read it with jq). The output
# of handle goes to standard error, which is laneway's log: standard output is only for answers. handle must not read
# standard input, which has the next records.

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
