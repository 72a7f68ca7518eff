/** The tools of the file executor as manifests that an operator registers; only `compose/` may name the adapter. */
export { fileToolManifests } from '../executors/file/file-tools.ts';
