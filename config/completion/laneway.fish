# Fish completion of laneway. Verbs and options come from the program's own help.
function __laneway_help
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    set -l verbs
    for word in $words
        string match -q -- '-*' $word; and break
        test $word = help; and continue
        set -a verbs $word
    end
    $program $verbs --help 2>/dev/null
end

function __laneway_verbs
    __laneway_help | sed -n '/^Verbs:/,/^$/s/^  \([a-z-]\+\) .*/\1/p'
end

function __laneway_options
    __laneway_help | grep '^  -' | grep -o -- '--[a-z][a-z-]*'
end

complete -c laneway -f
complete -c laneway -s c -l config -r -F
complete -c laneway -l set -x
complete -c laneway -n 'not string match -q -- "-*" (commandline -ct)' -a '(__laneway_verbs)'
complete -c laneway -n 'string match -q -- "-*" (commandline -ct)' -a '(__laneway_options)'
