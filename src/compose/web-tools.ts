/** The tool of the web executor as a manifest that an operator registers; only `compose/` may name the adapter. */
export { webToolManifests } from '../executors/web/web-tools.ts';
