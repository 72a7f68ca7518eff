/** How certainly a word is a command where one could be. */
export const COMMAND = { none: 0, english: 1, plain: 2 } as const;

/** Names of programs that are no words of a natural language. */
const PLAIN =
  'whoami uname ifconfig ipconfig netstat wget curl nc ncat netcat telnet nslookup traceroute tracert systeminfo sysinfo ' +
  'tasklist taskkill passwd chmod chown chgrp mkdir rmdir rm mv cp ln ls ps df du pwd cd awk gawk sed grep egrep fgrep xargs tee ' +
  'python python2 python3 perl ruby php node bash sh zsh ksh csh dash ash powershell pwsh cmd wmic netsh schtasks ' +
  'certutil bitsadmin mshta rundll32 regsvr32 cscript wscript icacls cacls attrib xcopy robocopy fsutil vssadmin ' +
  'bcdedit gpresult getmac arp arping dig nmap masscan ssh scp sftp rsync ftp tftp smbclient socat openssl base64 xxd ' +
  'hexdump gcc cc make apt apt-get yum dnf apk pip npm npx git svn docker kubectl systemctl crontab killall pkill ' +
  'nohup sudo su doas setsid env printenv lsof lsblk lspci lsusb lsmod dmesg iptables ip6tables useradd usermod userdel ' +
  'adduser groupadd ifup ifdown mysql mysqldump psql sqlite3 mongo redis-cli tar gzip gunzip bzip2 unzip tac printf ' +
  'eval pushd popd findstr doskey driverquery hostname chcp ver vol nbtstat pathping qwinsta quser wevtutil ' +
  'sysctl uptime busybox xterm tcpdump strace gdb lua luajit vim nano emacs';

/** Names of programs that are also English words; they need more evidence around them. */
const ENGLISH =
  'id cat dir type net reg echo ping sleep find sort more less head tail cut date time who w which whereis locate last ' +
  'host kill at test read set export copy move del erase ren start shutdown reboot halt mail mount umount touch file ' +
  'finger users groups history route service exec source split join paste nl od strings diff cmp patch watch top free ' +
  'man info jobs bg fg wait exit logout help tree fc ip ss dd vi ed ex uniq tr wc stat assoc path ' +
  'format label print rev call goto title color cls net1 sc at query runas call command invoke-expression iex iwr';

const NAMES: ReadonlyMap<string, number> = new Map([
  ...ENGLISH.split(' ').map((name) => [name, COMMAND.english] as const),
  ...PLAIN.split(' ').map((name) => [name, COMMAND.plain] as const),
]);

/** Longest name of the table, in characters. */
export const COMMAND_LENGTH_MAX = 18;

/** How certainly this word is a command; in lower case. */
export function commandKind(name: string): number {
  return NAMES.get(name) ?? COMMAND.none;
}

/** Bit sets of the lengths of names by their first two letters; with and without a suffix such as `.exe` or `.sh`. */
const LENGTHS = new Int32Array(1 << 10);
for (const { length, 0: first = '', 1: second = '.' } of NAMES.keys()) {
  const key = keyOf(first.charCodeAt(0), second.charCodeAt(0));
  LENGTHS[key] = (LENGTHS[key] ?? 0) | (1 << length) | (1 << (length + 3)) | (1 << (length + 4));
}

/** The low bits are those of the place in the alphabet, in both cases. */
function keyOf(first: number, second: number): number {
  return ((first & 31) << 5) | (second & 31);
}

/** True when a name of this length with these two characters may be in the table; a cheap test before it is cut out. */
export function mayBeCommand(length: number, first: number, second: number): boolean {
  return length === 1 || (((LENGTHS[keyOf(first, second)] ?? 0) >>> length) & 1) !== 0;
}
