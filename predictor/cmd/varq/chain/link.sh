# A link of chain {{.ID}}, made by varq chain. {{.Folder}} has its story.
left=$1; shift
folder={{.Folder | quote}}
next=$(cut -d';' -f1 "$folder/next.$left" 2> /dev/null)

# This link was requeued. If the next one has begun its work, it goes on with that. Otherwise the next
# one comes anew, when this one has to stop.
if [ -n "$next" ]; then
  grep -q "^start $next " "$folder/links" && exit 0
  scancel "$next"
fi
echo "start $SLURM_JOB_ID $(date +%s)" >> "$folder/links"

# submit submits the next link with some more options.
submit() {
  (
    unset $(env | sed -n 's/^\(SLURM_[A-Za-z0-9_]*\)=.*/\1/p' | grep -v '^SLURM_CONF$')
    sbatch --parsable "$@" {{.Options}} "$folder/link" $((left - 1)) {{.Arguments}} 2>> "$folder/said" > "$folder/next.$left.new"
  ) && mv "$folder/next.$left.new" "$folder/next.$left"
}

if [ "$left" -gt 0 ] && [ ! -e "$folder/stop" ]; then
  end=$(($(date +%s) + {{.Limit}}))
  {{range .Probs}}submit --begin-by=uts$end --prob={{.}} || {{end}}submit --dependency=afterany:"$SLURM_JOB_ID"
fi

# The script may be told to stop, by Slurm at the time limit (TERM) or as its user wishes (--signal=B:).
# If it then ends with exit code 0, it has saved its work, which is not done.
stopped=
{{.Script | quote}} "$@" &
script=$!
trap 'stopped=yes' TERM
for signal in USR1 USR2 INT HUP; do
  trap "stopped=yes; kill -$signal $script" $signal
done
wait $script
code=$?
while kill -0 $script 2> /dev/null; do
  wait $script
  code=$?
done
echo "end $SLURM_JOB_ID $(date +%s) $code $stopped" >> "$folder/links"
if [ $code -eq 0 ] && [ -z "$stopped" ] && [ -s "$folder/next.$left" ]; then
  scancel "$(cut -d';' -f1 "$folder/next.$left")" # the work is done
  touch "$folder/stop"
fi
exit $code
