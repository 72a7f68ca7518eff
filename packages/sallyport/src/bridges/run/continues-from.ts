import { coerce, major, minor } from 'semver';

/**
 * Whether a version of a tool continues from what another one saved. As SemVer promises: those of one major version
 * do, before 1.0.0 those of one minor version.
 */
export function continuesFrom(toolVersion: string, saving: string): boolean {
  const [one, other] = [toolVersion, saving].map((version) => coerce(version) ?? '0.0.0');
  if (one === undefined || other === undefined) return false;
  return major(one) === major(other) && (major(one) > 0 || minor(one) === minor(other));
}
