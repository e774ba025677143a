# fairpriv completion bash: fairpriv itself says what may stand next.
_fairpriv() {
  local line=${COMP_LINE:0:COMP_POINT} word typed IFS
  read -ra typed <<<"$line"
  [[ $line == *' ' ]] && typed+=('')
  word=${typed[${#typed[@]}-1]}
  IFS=$'\n'
  COMPREPLY=($("${typed[0]}" completion words "${typed[@]:1}" 2>/dev/null))
  # for readline a word begins behind the last =
  if [[ $word == *=* && $COMP_WORDBREAKS == *=* ]]; then
    local head=${word%"${word##*=}"}
    COMPREPLY=("${COMPREPLY[@]#"$head"}")
  fi
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -o default -F _fairpriv fairpriv
