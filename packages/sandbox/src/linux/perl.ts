import { accessSync, constants } from 'node:fs';

/** What runs the programs of the driver, outside sandboxes and where one waits inside. Part of every Debian (`perl-base`). */
export const PERL = '/usr/bin/perl';

/** Whether it can be run on this machine. */
export function hasPerl(program = PERL): boolean {
  try {
    accessSync(program, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
