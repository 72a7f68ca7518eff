/** What is read of a package.json, and what is written of it. */
export interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

/**
 * The manifest that a package is published with: what stands in the clone, with JavaScript and types instead of TypeScript.
 * A face that is for the tests of the clone only is left out.
 * @param isBuilt whether a file is there in the package, by its path
 */
export function publishedManifest(
  { private: _, exports, ...manifest }: Manifest,
  isBuilt: (path: string) => boolean,
): object {
  const faces = Object.entries(exports).flatMap(([name, source]) => {
    const file = source.replace(/\.ts$/, '');
    if (file === source) return [[name, source]];
    return isBuilt(`${file}.js`) ? [[name, { types: `${file}.d.ts`, default: `${file}.js` }]] : [];
  });
  return { ...manifest, exports: Object.fromEntries(faces) };
}
