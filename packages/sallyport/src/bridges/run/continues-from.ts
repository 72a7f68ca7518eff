import { major, minor } from 'semver';

/**
 * Whether a version of a tool continues from what another one saved. As SemVer promises: those of one major version
 * do, before 1.0.0 those of one minor version.
 */
export const continuesFrom = (toolVersion: string, saving: string): boolean =>
  major(toolVersion) === major(saving) && (major(toolVersion) > 0 || minor(toolVersion) === minor(saving));
