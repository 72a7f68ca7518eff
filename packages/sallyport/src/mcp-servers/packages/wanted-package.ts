import type { InstalledPackage } from '../../../api/schemas/upstream.ts';

/** A package that a command needs and that is missing on this machine. */
export interface WantedPackage {
  readonly manager: InstalledPackage['manager'];
  /** In the package manager's notation, with the version when one was named. */
  readonly spec: string;
  readonly name: string;
}
