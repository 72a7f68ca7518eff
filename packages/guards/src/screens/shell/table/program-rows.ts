import { named } from './language-rows.ts';
import type { ProgramRow } from './program-row.ts';

const OPEN: ProgramRow = { operands: ['open'] };
const NETCAT: ProgramRow = {
  commands: 'ec --exec --sh-exec --lua-exec',
  takes: 'pswiIOqTXx --proxy --source --wait',
  flags: '46bCDdFhklNnrStUuvz --ssl --listen',
};
const COMPILER: ProgramRow = {
  wholeWords: true,
  commands: '-wrapper',
  asks: '-fplugin* -B* -specs* --specs* -o -T -Xlinker -Xassembler -Xpreprocessor -load -Wl* -Wp* -Wa* @*',
  takes: '-I* -D* -U* -L* -l* -std* -O* -W* -x -include -isystem -march* -mtune*',
  flags: '-c -S -E -g -v -w -shared -static -fsyntax-only -fPIC -pthread -pipe -s -ansi -pedantic',
  operands: ['open'],
};
const VI: ProgramRow = {
  plus: true,
  code: 'c --cmd',
  asks: 'SsuUiwWt --startuptime --servername',
  flags: 'benNRZmMlLyvEx --clean --not-a-term --noplugin',
  operands: ['open'],
  readsInput: true,
};
const PACKAGES: ProgramRow = {
  code: 'o --option --setopt',
  asks: 'ctC --config-file --target-release --root --installroot --config --repofrompath',
  flags: 'yqfdms --yes --quiet --simulate --installed --upgradable --all-versions --no-install-recommends',
  subcommands: {
    ...named('list show search policy madison depends rdepends info showpkg stats pkgnames provides repolist', {}),
    '*': OPEN,
  },
};
const NODE_PACKAGES: ProgramRow = {
  commands: 'c --call --script-shell --node-options --shell --editor --viewer --git',
  asks: 'Cpw --prefix --package --userconfig --globalconfig --cwd --registry --workspace --dir',
  flags: 's --silent --yes --json --production --save-dev --if-present --no-audit --long',
  subcommands: {
    ...named('ls list view info show outdated search docs repo why root bin owner ping whoami audit', {}),
    ...named('run run-script test t start stop restart', { operands: ['open'] }),
    ...named('exec x dlx create init', { operands: ['program'], commands: 'c --call', asks: 'p --package' }),
    '*': OPEN,
  },
};
const RUNS_PACKAGE: ProgramRow = {
  commands: 'c --call --shell',
  asks: 'pw --package --from --with --registry --python',
  flags: 'yq --yes --no-install --quiet --bun --silent',
  operands: ['program'],
};
const CONTAINERS: ProgramRow = {
  asks: 'Hcl --host --context --config --connection --runtime --root --url',
  flags: 'D --debug',
  subcommands: {
    ...named('ps images image version info logs inspect top port stats events search history diff network volume', {}),
    ...named('stop start restart kill pause unpause rm rmi wait rename tag pull push login logout attach', {}),
    exec: {
      asks: 'uew --user --env --env-file --workdir',
      flags: 'itd --interactive --tty --detach --privileged',
      operands: ['plain', 'program'],
    },
    '*': { operands: ['open', 'program'] },
  },
};

/** Programs that are no languages, and run others or code when their arguments say so. */
export const PROGRAM_ROWS: Readonly<Record<string, ProgramRow>> = {
  find: {
    wholeWords: true,
    ignoresDashes: true,
    exec: '-exec -execdir -ok -okdir',
    asks: '-fprintf -fprint -fprint0 -fls',
    takes:
      '-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -mtime -ctime -atime -mmin -cmin -amin -newer* -anewer -cnewer -maxdepth -mindepth -user -group -uid -gid -perm -links -inum -samefile -fstype -regextype -printf -used -D -files0-from -context',
    flags:
      '-print -print0 -ls -delete -prune -quit -depth -d -empty -executable -readable -writable -follow -mount -xdev -noleaf -true -false -not -a -and -o -or -nouser -nogroup -daystart -H -L -P -O* -ignore_readdir_race -warn -nowarn',
  },
  ...named('fd fdfind', {
    exec: 'xX --exec --exec-batch',
    asks: 'C --base-directory --ignore-file',
    takes: 'deEtSoj --max-depth --extension --exclude --type --size --owner --threads --changed-within --glob',
    flags: 'HIsigalLFp01u --hidden --no-ignore --case-sensitive --ignore-case --absolute-path',
  }),
  ...named('tar gtar bsdtar', {
    bareLetters: true,
    commands:
      'IF --to-command --use-compress-program --rsh-command --rmt-command --info-script --new-volume-script --checkpoint-action',
    asks: 'T --files-from',
    takes:
      'fCbgHKLNVX --file --directory --exclude --exclude-from --strip-components --transform --xform --owner --group --mode --mtime --format --listed-incremental --label --add-file --sort --checkpoint --one-top-level --newer',
    flags:
      'cxtrudAzjJaZvpkmhoOwWSPUBMnsiGlR --create --extract --list --append --update --gzip --bzip2 --xz --zstd --verbose --wildcards --numeric-owner --no-recursion --null --dereference --to-stdout --keep-old-files --absolute-names',
  }),
  cpio: {
    commands: '--rsh-command --rmt-command',
    asks: 'FIODE --file --directory',
    flags: 'itopudmvaA0B',
    takes: 'HCR',
  },
  rsync: {
    commands: 'e --rsh --rsync-path',
    asks: 'M --remote-option --config --files-from --log-file --write-batch --backup-dir --partial-dir --temp-dir',
    takes:
      'fBT --exclude --include --filter --exclude-from --include-from --bwlimit --max-size --min-size --timeout --port --chmod --chown --out-format --password-file --max-delete --compress-level --suffix --info',
    flags:
      'avzrlptgoDnhHAXSuPcbdkKmqxRWLEOJNUiI0468 --archive --delete --verbose --recursive --progress --stats --checksum --dry-run --partial --links --perms --times --update --existing --ignore-existing --compress --no-perms --no-owner --no-group --delete-after --delete-excluded --inplace --protect-args --human-readable',
  },
  ssh: {
    keys: 'connecttimeout port user batchmode stricthostkeychecking serveraliveinterval loglevel',
    code: 'o',
    asks: 'FEISDLRWJ',
    takes: 'plicmbBeOPQw',
    flags: '46AaCfGgKkMNnqsTtVvXxYy',
  },
  ...named('scp sftp', {
    code: 'o',
    commands: 'S',
    asks: 'FDbXs',
    takes: 'ciIlPJBR',
    flags: '346ACOpqrTvafN',
  }),
  ...named('ssh-keygen ssh-add', { asks: 'DwsP', takes: 'tbCNfPE', flags: 'lyqFBRep' }),
  curl: {
    code: '--engine',
    asks: 'KoDc --config --output --output-dir --dump-header --cookie-jar --trace --trace-ascii --stderr --libcurl --etag-save --hsts --alt-svc --krb --quote --netrc-file --unix-socket',
    takes:
      'AbdeEFhHmPQrtTuUwxXyYzC --data --data-raw --data-binary --data-urlencode --json --form --form-string --header --user --user-agent --referer --request --url --max-time --connect-timeout --retry --retry-delay --retry-max-time --range --cookie --upload-file --write-out --proxy --resolve --cert --key --cacert --capath --limit-rate --max-redirs --max-filesize --oauth2-bearer --get --url-query --interface --proto --variable --ciphers --time-cond --connect-to --proxy-user --tls-max --expect100-timeout',
    flags:
      '0123468afgGiIjJklLMnNOpqRsSvZV --silent --show-error --fail --fail-with-body --location --compressed --include --head --insecure --verbose --get --remote-name --remote-header-name --globoff --http1.1 --http2 --no-progress-meter --create-dirs --no-buffer --tlsv1.2 --tlsv1.3 --parallel --disable --ssl-reqd --next --retry-connrefused --ipv4 --ipv6',
  },
  wget: {
    commands: '--use-askpass',
    code: 'e --execute',
    asks: 'OoaPiB --output-document --output-file --append-output --directory-prefix --config --input-file --base --save-cookies --rejected-log --warc-file --hsts-file',
    takes:
      'tTwQlARDUIX --tries --timeout --wait --quota --level --accept --reject --user-agent --header --user --password --post-data --post-file --method --body-data --referer --load-cookies --limit-rate --max-redirect --ca-certificate --certificate --http-user --http-password',
    flags:
      'qvncNSkKrpmHLE4bxd6 --quiet --no-verbose --continue --spider --no-check-certificate --server-response --recursive --no-parent --no-clobber --https-only --mirror',
  },
  aria2c: { commands: '--on-*', asks: 'odij --conf-path --input-file --dir --out --save-session --log', takes: 'xsk' },
  ...named('lftp', { code: 'ec', asks: 'f', operands: ['open'], readsInput: true }),
  sort: {
    commands: '--compress-program',
    asks: 'oT --output --temporary-directory',
    takes: 'ktS --key --field-separator --buffer-size --parallel --sort --batch-size --files0-from --random-source',
    flags:
      'bdfghimnrRVMcCsuz --reverse --numeric-sort --unique --ignore-case --stable --human-numeric-sort --version-sort --zero-terminated --check --general-numeric-sort --random-sort --merge',
  },
  split: {
    commands: '--filter',
    takes: 'blnaCt --bytes --lines --number --suffix-length --line-bytes --separator --additional-suffix',
    flags: 'dxeu --verbose --numeric-suffixes --hex-suffixes --elide-empty-files',
    operands: ['plain', 'open'],
  },
  zip: {
    commands: '-TT --unzip-command',
    asks: 'bO',
    takes: 'nixtPs --exclude --include --password',
    flags: 'rqvjmuf0123456789dgTlXyoFDeS@ --recurse-paths --quiet --junk-paths',
  },
  install: {
    commands: '--strip-program',
    takes: 'mogtST --mode --owner --group --target-directory',
    flags: 'dDcpvsCb',
  },
  sdiff: { commands: '--diff-program', asks: 'o --output', takes: 'wI', flags: 'iEZbWBasltd' },
  diff3: { commands: '--diff-program', takes: 'L', flags: 'AeEim3xXaT' },
  rg: {
    commands: '--pre --hostname-bin',
    asks: '--ignore-file --pre-glob',
    takes:
      'ABCefgjmMrtTEd --regexp --glob --iglob --type --type-not --max-count --context --after-context --before-context --max-depth --replace --encoding --file --color --colors --sort --sortr --max-filesize --engine --threads --max-columns --type-add',
    flags:
      'aFHhiIlLnNopPqsSuUvwxz0cb. --json --hidden --no-ignore --files --count --ignore-case --smart-case --fixed-strings --line-number --no-heading --multiline --files-with-matches --only-matching --word-regexp --invert-match --follow --no-config --column --vimgrep --no-messages --stats --pcre2 --heading --trim',
  },
  ...named('ag ack', {
    commands: '--pager',
    asks: '--ackrc --path-to-ignore',
    takes: 'ABCmGg',
    flags: 'acfhHilLnopQrRsSuUvwz',
  }),
  bat: {
    commands: '--pager',
    asks: '--config-file',
    takes: 'lrHwm --language --line-range --style --theme',
    flags: 'ApnuP --plain --number',
  },
  man: {
    commands: 'PH --pager --html',
    asks: 'C --config-file',
    takes: 'MSsemLErR --manpath --sections',
    flags: 'afkKwWldDtTu7ciI',
  },
  ...named('less more most pg', {
    plus: true,
    asks: 'kopOtT --lesskey-file --lesskey-src --log-file',
    takes: 'jxyzbhPD',
    flags: 'aABcCdeEfFgGiIKmMnNqQrRsSuUVwWXdlpcsu',
  }),
  ...named('vim vi nvim view vimdiff rvim gvim ex', VI),
  ...named('ed red', { operands: ['open'], takes: 'p', flags: 'sGlErv', readsInput: true }),
  ...named('emacs emacsclient', {
    wholeWords: true,
    plus: true,
    code: '--eval -eval --execute -execute -e -f --funcall -funcall',
    asks: '-l --load -load --script -script -L --directory -u --user --chdir -s --socket-name',
    flags: '--batch -batch -Q -q -nw --quick',
    operands: ['open'],
  }),
  nano: { commands: 's --speller', asks: 'f --rcfile C --backupdir o' },
  ...named('gdb lldb', {
    wholeWords: true,
    code: '-ex --ex -iex --iex --eval-command --init-eval-command -o --one-line -O',
    asks: '-x --command -ix --init-command -s -S -cd -d --directory',
    flags: '-batch --batch -q -quiet -nx --args --nx -p',
    operands: ['open'],
    readsInput: true,
  }),
  sqlite: {
    wholeWords: true,
    code: '-cmd --cmd',
    asks: '-init --init -A -ar',
    takes: '-separator -newline -nullvalue -mmap -vfs',
    flags: '-readonly -json -csv -batch -header -noheader -column -line -list -html -markdown -table -bail -echo -safe',
    operands: ['plain', 'open'],
    readsInput: true,
  },
  psql: {
    asks: 'cfoLv --command --file --output --log-file --set --variable',
    takes: 'dhpUFRPT --dbname --host --port --username --field-separator --record-separator --pset',
    flags: 'aAbeEHlnqsStVwWxXz01 --no-psqlrc --csv --tuples-only --no-align --quiet --no-password --single-transaction',
    readsInput: true,
  },
  ...named('mysql mariadb', {
    commands: '--pager --tee',
    asks: 'e --execute --defaults-file --defaults-extra-file --init-command --plugin-dir --default-auth',
    takes: 'uhPDS --user --host --port --database --socket',
    flags: 'ABbcCEfHiLnNoqrstvVwX p --batch --silent --table --skip-column-names',
    readsInput: true,
  }),
  ...named('mongo mongosh', { code: '--eval', asks: 'f --file', operands: ['plain', 'script'], readsInput: true }),
  ...named('make gmake bmake', {
    code: 'E --eval',
    asks: 'fICW --file --makefile --include-dir --directory --what-if',
    takes: 'jlo --jobs --load-average',
    flags: 'BkinpqrRsStwde --silent --dry-run --always-make --no-print-directory --keep-going',
    operands: ['open'],
    readsInput: true,
  }),
  ...named(
    'ninja just task rake cmake ctest meson scons ant sbt bazel cargo dotnet swift mix rebar3 stack cabal',
    OPEN,
  ),
  ...named('mvn mvnw gradle gradlew', {
    asks: 'DfstPplbIcg --file --settings --toolchains --init-script --build-file --project-dir',
    flags: 'qBoUXeVnNa --offline --quiet --batch-mode --no-daemon --stacktrace --info',
    operands: ['open'],
  }),
  go: {
    commands: '-exec -toolexec',
    subcommands: { ...named('version doc list fmt', {}), '*': { ...OPEN, wholeWords: true } },
  },
  ...named('gcc g++ cc c++ clang clang++ gfortran cpp tcc c99 c89', COMPILER),
  ...named('ld ld.gold ld.lld ld.bfd gold lld as', {
    ...COMPILER,
    asks: `${COMPILER.asks} -plugin* --plugin* -dynamic-linker --dynamic-linker -rpath --script -fuse-ld*`,
  }),
  rustc: { asks: 'CoL --codegen --sysroot --out-dir --extern', operands: ['open'] },
  java: {
    wholeWords: true,
    asks: '-agentlib* -agentpath* -javaagent* -XX* -X* -D* -cp -classpath --class-path -p --module-path --patch-module --upgrade-module-path @*',
    gives: '-jar -m --module',
    ends: '-jar -m --module',
    code: '',
    commands: '-jar -m --module',
    takes: '--add-modules --add-opens --add-exports',
    flags: '-version --version -ea -server -da --enable-preview',
    operands: ['script'],
  },
  ...named('npm pnpm yarn', NODE_PACKAGES),
  ...named('npx bunx pnpx uvx pipx', RUNS_PACKAGE),
  ...named('pip gem conda mamba cpan cpanm luarocks composer', {
    asks: 'rcieft --requirement --constraint --index-url --extra-index-url --editable --find-links --target --config-settings --prefix --global-option',
    flags: 'qvU --quiet --upgrade --user --no-deps --json --no-cache-dir --outdated',
    subcommands: { ...named('list show freeze check search info contents outdated environment', {}), '*': OPEN },
  }),
  ...named('apt apt-get aptitude apt-cache yum dnf zypper apk pacman brew port snap flatpak', PACKAGES),
  dpkg: {
    commands: '--pre-invoke --post-invoke',
    asks: 'i --install --unpack --root --admindir --instdir --force',
    takes: 'lLsSpW --list --listfiles --status --search --print-avail --show',
    operands: ['open'],
  },
  rpm: {
    code: 'ED --eval --define',
    asks: 'iUF --root --dbpath --rcfile --pipe',
    flags: 'qalcdRpvh',
    operands: ['plain'],
  },
  ...named('docker podman nerdctl', CONTAINERS),
  kubectl: {
    asks: 'f --kubeconfig --context --cluster --token --server --as -f --filename --kustomize',
    takes: 'nlocL --namespace --selector --output --container --tail --since --field-selector',
    flags: 'Awf --all-namespaces --watch --follow --previous --no-headers --show-labels',
    subcommands: {
      ...named('get describe logs top explain api-resources version cluster-info rollout scale delete label annotate', {
        asks: '--kubeconfig --filename --kustomize',
        takes: 'nlocL --namespace --selector --output --container --tail --since --field-selector --replicas',
        flags: 'Awfp --all-namespaces --watch --follow --previous --no-headers --show-labels',
      }),
      exec: { takes: 'nc --namespace --container', flags: 'it --stdin --tty', operands: ['plain', 'program'] },
      '*': { operands: ['open', 'program'] },
    },
  },
  ...named('helm terraform tofu ansible vagrant puppet chef salt nix nix-shell pulumi', {
    commands: '--run --command --post-renderer',
    code: 'e --execute',
    operands: ['open'],
  }),
  'ansible-playbook': { asks: 'eiMc --extra-vars --inventory --module-path', operands: ['script'] },
  systemctl: {
    asks: 'HMp --root --host --machine',
    subcommands: {
      ...named('status show is-active is-enabled is-failed list-units list-unit-files list-timers cat', {}),
      ...named('start stop restart reload try-restart', {}),
      '*': OPEN,
    },
    flags: 'al --no-pager --user --system --full --all --quiet',
  },
  crontab: { operands: ['open'], readsInput: true },
  ...named('at batch', { asks: 'f', takes: 'tq', readsInput: true }),
  socat: { operands: ['code'], takes: 'bTtl', flags: 'uUdvxsg46' },
  ...named('nc ncat netcat nc.traditional nc.openbsd', NETCAT),
  openssl: {
    wholeWords: true,
    asks: '-engine -provider -provider-path -config -out -keyout -CAfile -extfile -writerand -sess_out',
    takes:
      '-in -inform -outform -connect -servername -days -subj -key -cert -newkey -bits -passin -pass -salt -md -iter -port',
    flags:
      '-text -noout -hex -base64 -d -e -a -A -new -x509 -nodes -pubout -check -verify -sha256 -binary -r -dates -subject -issuer -fingerprint -showcerts -modulus',
  },
  tcpdump: { commands: 'z', asks: 'wrFV', takes: 'icsCGW', flags: 'nevqXxAltDpS' },
  nmap: { asks: 'oNXGAiS --script --script-args --datadir --servicedb', takes: 'p', flags: 'vnFO46' },
  gpg: {
    commands: '--photo-viewer --agent-program --dirmngr-program --pinentry-program --exec-path',
    asks: 'o --output --homedir --options --keyserver-options',
    takes: 'ru --recipient --local-user --keyserver',
    flags: 'abcdeksv --batch --yes --armor --verify --detach-sign --encrypt --decrypt --sign --list-keys',
  },
  ...named('m4', { asks: 'DIFRtU --define --include', operands: ['open'], readsInput: true }),
  ...named('bc dc', { code: 'e --expression', asks: 'f --file', operands: ['open'], readsInput: true, flags: 'lqsiw' }),
  jq: {
    code: 'fL --from-file --library-path',
    takes: '--indent --seq',
    flags: 'rcesnSMCaj --raw-output --compact-output --slurp --null-input --arg --argjson',
  },
  hg: {
    code: '--config',
    commands: 'e --ssh --remotecmd',
    asks: 'R --repository --cwd',
    operands: ['plain'],
    takes: 'mrulbIX',
  },
  svn: {
    code: '--config-option',
    commands: '--diff-cmd --diff3-cmd --editor-cmd --merge-cmd',
    asks: '--config-dir',
    takes: 'mrcFN',
  },
  ...named('xdg-open gnome-open kde-open exo-open open gio see run-mailcap', OPEN),
  ...named('run-parts ldd', { operands: ['program'] }),
  ...named('ld.so ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ld-linux.so.2', {
    operands: ['program'],
    asks: '--preload --library-path',
  }),
  ...named('logrotate convert magick mogrify identify gs ghostscript', OPEN),
  ...named('tex latex pdflatex xelatex lualatex pdftex luatex', OPEN),
  ...named('mail mailx mutt sendmail exim', { code: 'Sebt', asks: 'CFA', operands: ['plain'], takes: 'sabcr' }),
  ...named('tmux screen byobu', { operands: ['open'], asks: 'fScL' }),
  ...named('xterm konsole gnome-terminal', { exec: 'e', commands: '', operands: ['open'] }),
  ...named('concurrently', { operands: ['text'] }),
  ...named('script', { commands: 'c --command', asks: 'TOIBm', takes: 'oE', flags: 'aefqr', operands: ['open'] }),
  ...named('iptables ip6tables', { commands: '--modprobe' }),
  ...named('timeit cProfile profile pdb trace runpy code doctest', { code: 's', operands: ['open'] }),
};
