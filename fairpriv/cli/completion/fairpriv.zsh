#compdef fairpriv
# fairpriv completion zsh: fairpriv itself says what may stand next.
_fairpriv() {
  local -a found whole open
  found=("${(@f)$("$words[1]" completion words "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=(${found:#})
  whole=(${found:#*=})
  open=(${(M)found:#*=})
  (( $#whole )) && compadd -Q -a whole
  (( $#open )) && compadd -Q -S '' -a open
  (( $#found )) || _files
}
if [[ $funcstack[1] == _fairpriv ]]; then
  _fairpriv "$@"
else
  compdef _fairpriv fairpriv
fi
