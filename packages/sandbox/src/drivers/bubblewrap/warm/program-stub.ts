import { LAUNCHER_FDS } from '../process/launcher.ts';

/**
 * Program for perl that waits inside a sandbox until it gets a job, and then becomes the job's program. It says `r` when it
 * waits, `+` when the program is about to begin, `c` when the working directory cannot be entered, and `x` when the program
 * cannot be run. It ends when the layer does. For the form of a job see `job.ts`.
 *
 * Perl, since environment values are any bytes and names that a shell would treat as its own. Numbers: fcntl 2 is F_SETFD, 1
 * is FD_CLOEXEC, error 4 is EINTR.
 */
export const PROGRAM_STUB = String.raw`
open(my $job, '+<&=', ${LAUNCHER_FDS.job}) or exit 1;
fcntl($job, 2, 1);
syswrite($job, 'r');
my ($text, $left) = ('');
while (!defined $left || $text =~ tr/\0// < $left) {
  my $read = sysread($job, $text, 65536, length $text);
  if (!defined $read) { next if $! == 4; exit 1 }
  exit 1 if $read == 0;
  $left = $1 + 3 if !defined $left && $text =~ /^(\d+)\0/;
}
my ($count, $folder, $names, @fields) = split /\0/, $text, -1;
exit 1 unless defined $names and @fields == $count + 1;
pop @fields;
chdir $folder or do { syswrite($job, 'c'); exit 1 };
%ENV = ();
for (1 .. $names) {
  my ($name, $value) = split /=/, shift @fields, 2;
  $ENV{$name} = $value;
}
syswrite($job, '+');
{ no warnings; exec { $fields[0] } @fields }
syswrite($job, 'x');
exit 127;
`;
