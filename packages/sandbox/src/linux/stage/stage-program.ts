/**
 * Program for perl that opens what a sandbox may see, and then becomes the sandbox's launcher. In a mount namespace of its own
 * it walks to each file and folder name by name without following links, compares what it finds with what was checked, takes
 * a copy of that very mount by its descriptor, and puts the copies into a folder that nobody else can reach (the stage). What
 * somebody exchanges on the way can only make it fail. It loads no module, since that takes longer than its own start.
 *
 * Arguments: numbers of the calls of `CALLS`; path of the stage; uid and gid to become, -1 to stay who one is; uid to be
 * inside a user namespace of its own, for one who stays who he is; how many mounts, and how many of those, the last, are put over covers; of each: path, identity, `d` or `f`,
 * `ro` or `rw`, index of the mount that it lies in (-1 for none) and the path from there, owner that it shall have instead of
 * the uid to become (`uid:gid`, `-` for nobody); how many covers; of each: index of the mount that it lies in and the path
 * from there, identity, `d` or `f`, folder to make in it for a mount over it (may be empty); then the command.
 *
 * What goes wrong is one line, `stage: KIND INDEX TEXT`, and the exit code 125. Kinds: moved, mount, cover, system.
 *
 * Numbers of Linux: 02000000 O_CLOEXEC, 010000000 O_PATH, 0400000 O_NOFOLLOW (x86-64) or 0100000 (arm64), 0200000
 * O_DIRECTORY or 040000; 0x10000000 CLONE_NEWUSER, 0x20000 CLONE_NEWNS; mount flags 0x84000 MS_REC|MS_SLAVE, 6
 * MS_NOSUID|MS_NODEV; open_tree 0x9001 OPEN_TREE_CLONE|AT_EMPTY_PATH|AT_RECURSIVE; move_mount 4 MOVE_MOUNT_F_EMPTY_PATH, 0x44
 * with MOVE_MOUNT_T_EMPTY_PATH; mount_setattr 0x9000 AT_EMPTY_PATH|AT_RECURSIVE, attributes 1 read-only, 6 no set-uid and
 * no devices, 0x100000 MOUNT_ATTR_IDMAP; -100 AT_FDCWD.
 */
const STAGE = String.raw`
my ($nofollow, $directory, $mount, $setattr, $move, $open_tree, $openat, $setgroups, $setresgid, $setresuid, $unshare);
my ($path_only, $stage, $uid, $gid, %namespaces);
my $none = '';

sub stage {
  ($nofollow, $directory, $mount, $setattr, $move, $open_tree, $openat, $setgroups, $setresgid, $setresuid, $unshare) =
    map { $_ + 0 } splice(@_, 0, 11);
  ($stage, $uid, $gid, my ($inside, $count, $over)) = splice(@_, 0, 6);
  $_ += 0 for $uid, $gid;
  $path_only = 010000000 | 02000000 | $nofollow;
  leave_the_host($inside);
  # All of them before the stage stands, which may hide some.
  my @found = map { [open_mount($_, splice(@_, 0, 7))] } 0 .. $count - 1;
  raise_stage();
  put_mount($_, 0, @{ $found[$_] }) for 0 .. $count - $over - 1;
  my $covers = shift;
  put_cover($_, splice(@_, 0, 5)) for 0 .. $covers - 1;
  put_mount($_, 1, @{ $found[$_] }) for $count - $over .. $count - 1;
  become_tool_owner() if $uid >= 0;
  return @_;
}

sub leave_the_host {
  my ($inside) = @_;
  my ($own_uid, $own_gid) = ($<, $( + 0);
  my $spaces = $uid < 0 ? 0x10020000 : 0x20000;
  syscall($unshare, $spaces) == 0 or fail('system', -1, "no mount namespace: $!");
  if ($uid < 0) {
    put('/proc/self/setgroups', 'deny');
    put('/proc/self/uid_map', "$inside $own_uid 1");
    put('/proc/self/gid_map', "$inside $own_gid 1");
  }
  my $root = '/';
  syscall($mount, $none, $root, 0, 0x84000, 0) == 0 or fail('system', -1, "mounts of the host would be shared: $!");
}

sub raise_stage {
  my ($kind, $options) = ('tmpfs', 'mode=0755,size=1m');
  syscall($mount, $kind, $stage, $kind, 6, $options) == 0 or fail('system', -1, "no stage: $!");
}

sub open_mount {
  my ($index, $path, $identity, $type, $mode, $in, $rest, $owner) = @_;
  my $found = find_in('/', $path, $type, $identity) // fail('moved', $index, $path);
  my $tree = copy_of($found) // fail('mount', $index, "$path cannot be mounted: $!");
  set_up($tree, $mode eq 'ro' ? 7 : 6, $owner) or fail('mount', $index, "$path cannot be mounted so: $!");
  return ($tree, $path, $identity, $type, $in, $rest);
}

sub put_mount {
  my ($index, $over, $tree, $path, $identity, $type, $in, $rest) = @_;
  if ($in < 0) {
    my $place = "$stage/$index";
    $type eq 'd' ? mkdir($place) : open(my $made, '>', $place);
    syscall($move, fileno $tree, $none, -100, $place, 4) == 0 or fail('mount', $index, "$path: $!");
  } else {
    my $place = $over ? find("$stage/$in", $rest, $type) : find_in("$stage/$in", $rest, $type, $identity);
    $place // fail('moved', $index, $path);
    syscall($move, fileno $tree, $none, fileno $place, $none, 0x44) == 0 or fail('mount', $index, "$path: $!");
  }
}

sub put_cover {
  my ($index, $in, $rest, $identity, $type, $made_in) = @_;
  pin_way("$stage/$in", $rest);
  my $place = find_in("$stage/$in", $rest, $type, $identity) // fail('moved', $index, $rest);
  my $empty = "$stage/cover-$index";
  if ($type eq 'd') {
    mkdir($empty);
    my $made = $empty;
    mkdir($made .= "/$_") for split(m{/}, $made_in);
  } else {
    open(my $made, '>', $empty);
    chmod(0, $empty);
  }
  my $tree = copy_of(open_at(-100, $empty, 0)) // fail('cover', $index, $!);
  set_up($tree, 7, '-') or fail('cover', $index, $!);
  syscall($move, fileno $tree, $none, fileno $place, $none, 0x44) == 0 or fail('cover', $index, $!);
}

# A folder that is a mount point cannot be renamed from inside, and with it what lies in it.
sub pin_way {
  my ($from, $rest) = @_;
  my @names = split(m{/}, $rest);
  for my $last (0 .. $#names - 1) {
    my $folder = find($from, join('/', @names[0 .. $last]), 'd') // fail('moved', -1, $rest);
    my $tree = copy_of($folder) // fail('cover', -1, $!);
    syscall($move, fileno $tree, $none, fileno $folder, $none, 0x44) == 0 or fail('cover', -1, $!);
  }
}

sub become_tool_owner {
  syscall($setgroups, 0, 0) == 0 && syscall($setresgid, $gid, $gid, $gid) == 0 && syscall($setresuid, $uid, $uid, $uid) == 0
    or fail('system', -1, "uid $uid cannot be taken: $!");
}

sub run {
  { no warnings; exec { $_[0] } @_ }
  fail('system', -1, "$_[0] cannot be started: $!");
}

sub fail { print STDERR "stage: @_\n"; exit 125 }

sub put {
  my ($file, $text) = @_;
  open(my $to, '>', $file) or fail('system', -1, "$file: $!");
  syswrite($to, $text) or fail('system', -1, "$file: $!");
}

sub handle_of {
  my ($fd) = @_;
  return undef if $fd < 0;
  open(my $handle, '<&=', $fd) or return undef;
  return $handle;
}

sub open_at {
  my ($folder, $name, $flags) = @_;
  return handle_of(syscall($openat, $folder, $name, $path_only | $flags, 0));
}

sub find {
  my ($from, $path, $type) = @_;
  my $found = open_at(-100, $from, 0);
  my @names = grep { $_ ne '' } split(m{/}, $path);
  while ($found && defined(my $name = shift @names)) {
    $found = open_at(fileno $found, $name, @names || $type eq 'd' ? $directory : 0);
  }
  return $found;
}

sub find_in {
  my ($from, $path, $type, $identity) = @_;
  my $found = find($from, $path, $type) // return undef;
  my ($device, $inode) = stat $found;
  return "$device:$inode" eq $identity ? $found : undef;
}

sub copy_of {
  my ($found) = @_;
  return handle_of(syscall($open_tree, fileno $found, $none, 0x9001 | 02000000));
}

sub set_up {
  my ($tree, $attributes, $owner) = @_;
  my $namespace = $owner eq '-' ? 0 : namespace_of($owner);
  $attributes |= 0x100000 if $namespace;
  my $wanted = pack('Q4', $attributes, 0, 0, $namespace ? fileno $namespace : 0);
  return syscall($setattr, fileno $tree, $none, 0x9000, $wanted, 32) == 0;
}

sub namespace_of {
  my ($owner) = @_;
  return $namespaces{$owner} if $namespaces{$owner};
  my ($its_uid, $its_gid) = split(/:/, $owner);
  pipe(my $ready, my $made) && pipe(my $waits, my $go) or fail('system', -1, "no pipe: $!");
  my $pid = fork() // fail('system', -1, "no process: $!");
  if ($pid == 0) {
    close $go;
    syscall($unshare, 0x10000000) == 0 and syswrite($made, '.') and sysread($waits, my $end, 1);
    exit 0;
  }
  close $made;
  sysread($ready, my $word, 1) or fail('system', -1, 'no user namespace can be made');
  put("/proc/$pid/uid_map", "$its_uid $uid 1");
  put("/proc/$pid/gid_map", "$its_gid $gid 1");
  open($namespaces{$owner}, '<', "/proc/$pid/ns/user") or fail('system', -1, "no user namespace: $!");
  close $go;
  waitpid($pid, 0);
  return $namespaces{$owner};
}
`;

/** The program for one launcher: makes the stage, and becomes the command. */
export const STAGE_PROGRAM = `${STAGE}run(stage(@ARGV));`;

/**
 * Defines `await_stage`, for a launcher that was made before anybody knew what for: it waits at its standard input for the number
 * of bytes and a line feed, and then the arguments, with a NUL after each. What follows there is for the command.
 */
export const AWAIT_STAGE = `${STAGE}${String.raw`sub await_stage {
  my ($length, $text) = ('', '');
  while ($length !~ /\n/) { sysread(STDIN, $length, 1, length $length) or exit 125 }
  while (length $text < $length) { sysread(STDIN, $text, $length - length $text, length $text) or exit 125 }
  run(stage(split(/\0/, $text)));
}
`}`;
