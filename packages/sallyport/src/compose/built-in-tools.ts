// Tools of our own executors as manifests that an operator registers; only `compose/` may name the adapters.
export { fileToolManifests } from '../executors/file/file-tools.ts';
export { webToolManifests } from '../executors/web/web-tools.ts';
