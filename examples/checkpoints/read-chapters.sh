# Reads the chapters one after the other, and saves after each how far it came: the state is a number.
IFS= read -r done
done=${done:-0}
echo "begins after chapter $done" >&2
for chapter in 1 2 3 4 5 6; do
  [ "$chapter" -gt "$done" ] || continue
  # The work of a chapter would be here.
  echo "$SALLYPORT_CHECKPOINTS micro $chapter" >&2
  read -r answer reason
  [ "$answer" = saved ] || { echo "not saved: $reason" >&2; exit 1; }
  [ "$chapter" != "$1" ] || { echo "the power fails" >&2; exit 9; }
done
echo "read to the end"
