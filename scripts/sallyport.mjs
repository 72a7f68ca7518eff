#!/usr/bin/env node
// `npx sallyport` of a clone: scripts/prepare.mjs links it.
process.argv.splice(2, 0, 'sallyport');
await import('./start.mjs');
