# fairpriv completion fish: fairpriv itself says what may stand next.
function __fairpriv_words
    set -l typed (commandline -opc)
    set -l found ($typed[1] completion words $typed[2..-1] (commandline -ct) 2>/dev/null | string match -v '')
    if count $found >/dev/null
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c fairpriv -f -a '(__fairpriv_words)'
