import type { InstalledPackage } from '../../../api/schemas/upstream.ts';

/** A package that a command needs and that is not on this machine. */
export interface WantedPackage {
  readonly manager: InstalledPackage['manager'];
  /** As the package manager takes it, with its version where one was named. */
  readonly spec: string;
  readonly name: string;
}
